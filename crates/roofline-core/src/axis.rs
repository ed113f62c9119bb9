//! The axis grammar of suites and the command line.
//!
//! `rows=1,7,64`, `cols=64:4096:*2`, `k=8:64:+8`, and axes that move together:
//! `zip(m,n,k)=128,256` (one value for all) or `zip(m,n)=64x128,1x4096` (one each).

use crate::names::is_kebab;
use std::fmt;

/// Values of one axis, or of several that vary together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisSpec {
    pub names: Vec<String>,
    /// Each entry has one value a name.
    pub values: Vec<Vec<u64>>,
}

/// Most values that one axis may have.
pub const MAX_VALUES: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("axis `{text}`: {why}")]
pub struct AxisError {
    pub text: String,
    pub why: String,
}

impl AxisSpec {
    /// Reads `names=values`.
    pub fn parse(text: &str) -> Result<AxisSpec, AxisError> {
        let error = |why: String| AxisError { text: text.to_owned(), why };
        let (names, values) = text
            .split_once('=')
            .ok_or_else(|| error("write it as `name=values`, for example `rows=1,64`".to_owned()))?;
        AxisSpec::parse_parts(names, values).map_err(error)
    }

    /// Reads the left and the right side apart, as suites have them.
    pub fn parse_parts(names: &str, values: &str) -> Result<AxisSpec, String> {
        let names = parse_names(names.trim())?;
        let mut list = Vec::new();
        for item in values.split(',').map(str::trim) {
            if item.is_empty() {
                return Err("has no value; give at least one, for example `1,64`".to_owned());
            }
            list.extend(parse_item(item, names.len())?);
            if list.len() > MAX_VALUES {
                return Err(format!("has more than {MAX_VALUES} values"));
            }
        }
        Ok(AxisSpec { names, values: list })
    }
}

impl fmt::Display for AxisSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.names[..] {
            [name] => write!(f, "{name}=")?,
            names => write!(f, "zip({})=", names.join(","))?,
        }
        for (i, value) in self.values.iter().enumerate() {
            let text: Vec<String> = value.iter().map(u64::to_string).collect();
            write!(f, "{}{}", if i > 0 { "," } else { "" }, text.join("x"))?;
        }
        Ok(())
    }
}

fn parse_names(text: &str) -> Result<Vec<String>, String> {
    let inner = match text.strip_prefix("zip(") {
        Some(rest) => rest.strip_suffix(')').ok_or("`zip(` lacks its `)`")?,
        None => text,
    };
    let names: Vec<String> = inner.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().find(|name| !is_kebab(name)) {
        Some(name) => Err(format!("`{name}` is not an axis name")),
        None if names.len() > 1 && inner == text => {
            Err("axes that move together are written `zip(m,n)=...`".to_owned())
        }
        None => Ok(names),
    }
}

fn parse_item(item: &str, names: usize) -> Result<Vec<Vec<u64>>, String> {
    let parts: Vec<&str> = item.split(':').collect();
    let values = match parts[..] {
        [one] if one.contains('x') => {
            let tuple: Vec<u64> = one.split('x').map(parse_number).collect::<Result<_, _>>()?;
            if tuple.len() != names {
                return Err(format!("`{one}` has {} values for {names} axes", tuple.len()));
            }
            return Ok(vec![tuple]);
        }
        [one] => vec![parse_number(one)?],
        [from, to, step] => range(parse_number(from)?, parse_number(to)?, step)?,
        _ => return Err(format!("`{item}` is neither a number nor `from:to:*factor` nor `from:to:+step`")),
    };
    Ok(values.into_iter().map(|value| vec![value; names]).collect())
}

fn range(from: u64, to: u64, step: &str) -> Result<Vec<u64>, String> {
    let (multiplies, by) = match step.split_at_checked(1) {
        Some(("*", factor)) => (true, parse_number(factor)?),
        Some(("+", step)) => (false, parse_number(step)?),
        _ => return Err(format!("step `{step}` is neither `*factor` nor `+step`")),
    };
    let next = |value: u64| if multiplies { value.checked_mul(by) } else { value.checked_add(by) };
    if from > to {
        return Err(format!("`{from}:{to}` holds no value: it runs downwards"));
    }
    if next(from).is_some_and(|second| second <= from) {
        return Err(format!("step `{step}` never gets past {from}"));
    }
    let mut values = vec![from];
    while let Some(value) = next(values[values.len() - 1]).filter(|value| *value <= to) {
        if values.len() >= MAX_VALUES {
            return Err(format!("has more than {MAX_VALUES} values"));
        }
        values.push(value);
    }
    Ok(values)
}

fn parse_number(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse::<u64>()
        .ok()
        .filter(|value| digits && *value <= u64::from(u32::MAX))
        .ok_or_else(|| format!("`{text}` is not a whole number from 0 to {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(text: &str) -> Vec<u64> {
        AxisSpec::parse(text).unwrap().values.into_iter().map(|value| value[0]).collect()
    }

    #[test]
    fn the_grammar() {
        assert_eq!(flat("rows=1,7,64"), [1, 7, 64]);
        assert_eq!(flat("cols=64:512:*2"), [64, 128, 256, 512]);
        assert_eq!(flat("k=8:30:+8"), [8, 16, 24]);
        assert_eq!(flat("k=1,8:16:+8,0"), [1, 8, 16, 0]);
        let zip = AxisSpec::parse("zip(m,n)=64x128,7").unwrap();
        assert_eq!(zip.names, ["m", "n"]);
        assert_eq!(zip.values, [[64, 128], [7, 7]]);
        assert_eq!(zip.to_string(), "zip(m,n)=64x128,7x7");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("rows", "name=values"),
            ("rows=", "no value"),
            ("rows=8:4:*2", "downwards"),
            ("rows=4:8:*1", "never gets past"),
            ("rows=4:8:+0", "never gets past"),
            ("rows=0:8:*2", "never gets past"),
            ("rows=4:8", "neither"),
            ("rows=4:8:2", "neither"),
            ("rows=-1", "whole number"),
            ("rows=+1", "whole number"),
            ("rows=1e3", "whole number"),
            ("m,n=1", "zip"),
            ("zip(m,n=1", "lacks"),
            ("zip(m,n)=1x2x3", "3 values for 2 axes"),
            ("k=1:4000000000:+1", "more than"),
        ] {
            let message = AxisSpec::parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text: String) {
            if let Ok(spec) = AxisSpec::parse(&text) {
                proptest::prop_assert_eq!(AxisSpec::parse(&spec.to_string()).unwrap(), spec);
            }
        }

        #[test]
        fn near_misses_do_not_panic(text in "(zip\\()?[a-z,]{0,4}\\)?=[0-9x:,*+]{0,12}") {
            let _ = AxisSpec::parse(&text);
        }
    }
}
