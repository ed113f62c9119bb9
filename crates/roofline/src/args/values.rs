//! How values of options are read.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::SignedDuration;
use roofline_core::fill::Fill;
use roofline_core::names::is_parameter;
use roofline_report::Sort;
use std::time::Duration;

/// What `--size` leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    Most(u64),
    Class(String),
}

pub(super) fn sort_keys() -> impl TypedValueParser<Value = Sort> {
    let names = Sort::ALL.iter().map(|sort| sort.name());
    PossibleValuesParser::new(names).map(|name| Sort::find(&name).unwrap_or_default())
}

pub(super) fn fills() -> impl TypedValueParser<Value = Fill> {
    let names = Fill::ALL.iter().map(|fill| fill.name());
    let find = |name: String| Fill::ALL.iter().copied().find(|fill| fill.name() == name);
    PossibleValuesParser::new(names).map(move |name| find(name).unwrap_or(Fill::Uniform))
}

/// A time as people write it: `500ms`, `2s`, `1min 30s`; a number alone is seconds.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0);
    let seconds = seconds.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let written = || Duration::try_from(text.parse::<SignedDuration>().ok()?).ok();
    let time = seconds.or_else(written);
    let time = time.ok_or_else(|| format!("`{text}` is not a time; write `500ms`, `2s` or `1min`"))?;
    if time <= LONGEST { Ok(time) } else { Err("a day, `24h`, is the most".to_owned()) }
}

/// How old something is: as a time, and in days (`30d`) and weeks (`8w`).
pub(super) fn parse_age(text: &str) -> Result<Duration, String> {
    let days = |unit: char, days: u64| {
        text.strip_suffix(unit)?.trim().parse::<u32>().ok().map(|n| days * u64::from(n))
    };
    let whole = days('d', 1).or_else(|| days('w', 7)).map(|days| Duration::from_secs(days * 24 * 3600));
    let written = || Duration::try_from(text.parse::<SignedDuration>().ok()?).ok();
    let age = whole.or_else(written).filter(|age| *age <= OLDEST);
    age.ok_or_else(|| format!("`{text}` is not an age; write `30d`, `8w` or `12h`, a hundred years at most"))
}

const OLDEST: Duration = Duration::from_secs(36_525 * 24 * 3600);

const LONGEST: Duration = Duration::from_secs(24 * 3600);

pub(super) fn parse_timeout(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text)?;
    if time < Duration::from_millis(1) {
        return Err("no launch ends in no time; `1ms` is the least".to_owned());
    }
    Ok(time)
}

pub(super) fn parse_delta(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.parse().ok();
    let percent = percent.filter(|percent| (0.3..=100.0).contains(percent));
    percent.ok_or_else(|| "write a percentage from 0.3 to 100".to_owned())
}

pub(super) fn parse_detect(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let percent = percent.filter(|percent| (0.5..=100.0).contains(percent));
    percent.ok_or_else(|| "write a percentage from 0.5 to 100, such as `1%`".to_owned())
}

pub(super) fn parse_threads(text: &str) -> Result<u32, String> {
    let threads = text.parse().ok().filter(|threads| (1..=4096).contains(threads));
    threads.ok_or_else(|| "write numbers from 1 to 4096, such as `1,2`".to_owned())
}

pub(super) fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("write a whole number up to {}", u64::MAX))
}

pub(super) fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "write a whole number, such as `20`".to_owned())
}

/// A variable of the environment. Those that decide which code runs are not to be had: what is measured would no longer be
/// what the command names.
pub(super) fn parse_variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as `TILE=8`")?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Err(format!("`{name}` is no name of a variable; write letters, digits and `_`, as `TILE=8`"));
    }
    let decides = ["LD_", "PYTHON", "ROOFLINE_"].iter().any(|start| name.starts_with(start));
    if decides || ["PATH", "HOME", "TMPDIR"].contains(&name) {
        return Err(format!("`{name}` decides which code runs, and that is said by files and runners alone"));
    }
    if value.contains('\0') {
        return Err("a value cannot hold a zero byte".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A parameter and the values that are tried, each once.
pub fn parse_parameter(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = text.split_once('=').ok_or("write it as `tile=8,16,32`")?;
    let mut known: Vec<String> = Vec::new();
    for value in values.split(',').map(str::trim) {
        if !is_parameter(&format!("{name}={value}")) {
            return Err(format!(
                "`{name}={value}` cannot stand in a row's name; write letters, digits, `-`, `_` and `.`, as `tile=8,16,32`"
            ));
        }
        if !known.iter().any(|known| known == value) {
            known.push(value.to_owned());
        }
    }
    // It reaches the kernel as a variable of this name.
    parse_variable(&format!("{}={}", roofline_conductor::runners::variable(name), known[0]))?;
    Ok((name.to_owned(), known))
}

/// Implementations as `provider/name`; a provider alone is all that it has.
pub(super) fn parse_implementation(text: &str) -> Result<String, String> {
    let is_provider = !text.is_empty() && !text.contains(['/', '*']);
    Ok(if is_provider { format!("{text}/*") } else { text.to_owned() })
}

pub(super) fn parse_size(text: &str) -> Result<Size, String> {
    let is_class = text.starts_with(|c: char| c.is_ascii_lowercase());
    if is_class { Ok(Size::Class(text.to_owned())) } else { parse_bytes(text).map(Size::Most) }
}

pub(super) fn parse_memory(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text)?;
    if bytes < LEAST_MEMORY {
        return Err("a runner needs `16MiB` to start".to_owned());
    }
    Ok(bytes)
}

const LEAST_MEMORY: u64 = 16 << 20;

fn parse_bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: u64 =
        number.parse().map_err(|_| format!("`{text}` is not an amount of memory; write `64MiB`"))?;
    let shift = match unit.trim() {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return Err(format!("`{unit}` is not a unit of memory; write KiB, MiB or GiB")),
    };
    number.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` is too much"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(parse_duration("1.5min"), Ok(Duration::from_secs(90)));
        assert!(parse_duration("fast").is_err() && parse_duration("-1s").is_err());
        assert_eq!(parse_age("2w"), Ok(Duration::from_secs(14 * 24 * 3600)));
        assert_eq!(parse_age("90min"), Ok(Duration::from_secs(5400)));
        assert!(["d", "-1d", "4000000000d", "old", "30"].iter().all(|text| parse_age(text).is_err()));
        assert_eq!(parse_bytes("64MiB"), Ok(64 << 20));
        assert!(parse_bytes("64MB").is_err() && parse_bytes("99999999999GiB").is_err());
    }

    #[test]
    fn a_provider_is_all_that_it_has() {
        for (text, meant) in [("cpu", "cpu/*"), ("cpu/plain", "cpu/plain"), ("*", "*"), ("c*", "c*")] {
            assert_eq!(parse_implementation(text).as_deref(), Ok(meant));
        }
    }

    #[test]
    fn parameters_have_values() {
        let values = |text: &str| parse_parameter(text).map(|(_, values)| values.join(" "));
        assert_eq!(values("tile=8,16, 8"), Ok("8 16".to_owned()));
        for text in ["tile", "tile=", "tile=8,,16", "=8", "path=x", "8x=1", "tile=a b", "tile=1:2"] {
            assert!(parse_parameter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn variables_are_parameters_and_no_way_to_other_code() {
        assert_eq!(parse_variable("TILE=8"), Ok(("TILE".to_owned(), "8".to_owned())));
        assert_eq!(parse_variable("WORDS=a=b c"), Ok(("WORDS".to_owned(), "a=b c".to_owned())));
        for text in ["TILE", "=8", "8X=1", "PATH=/x", "LD_PRELOAD=x.so", "PYTHONPATH=.", "ROOFLINE_PYTHON=x"]
        {
            assert!(parse_variable(text).is_err(), "{text}");
        }
    }
}
