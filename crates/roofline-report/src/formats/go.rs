//! Go benchmark text, for benchstat: one line a set, so that it sees every fresh start of the processes.
//!
//! A line has the launches of the set, the median of its samples as `ns/op`, what a launch takes from the
//! heap, the rate, the share of the limit, and the work of a launch. A name has the axes as keys, and the
//! limit of threads at its end, where Go has GOMAXPROCS. A row without a time is a comment.

use crate::foreign::{self, name_of, number, own_case, row_of};
use crate::order::shown;
use crate::row::{Rate, Row, Set};
use crate::text::escape;
use crate::{Report, Style};
use roofline_core::case::{Cache, Case, Device};
use roofline_core::names::is_implementation;
use roofline_core::record::{Record, Status};
use std::fmt::Write;

const NAME: &str = "go";
/// Rows whose case is not one of ours.
const FOREIGN: &str = "BenchmarkForeign/row=";
/// What benchstat is told of units that are not Go's. Work follows from the case, so that it is neither better
/// nor worse; none of these names has a part that benchstat would scale.
const UNITS: [(&str, &str); 6] = [
    ("GB/s", "better=higher"),
    ("GFLOP/s", "better=higher"),
    ("GOP/s", "better=higher"),
    ("of-limit", "better=higher"),
    ("flop/op", "assume=exact"),
    ("moved-B/op", "assume=exact"),
];

pub(super) fn write(report: &Report, _: Style) -> String {
    let mut text = String::new();
    for (name, value) in origin(report) {
        let _ = writeln!(text, "# {name} {}", escape(value));
    }
    for (key, value) in configuration(report) {
        let _ = writeln!(text, "{key}: {}", escape(value));
    }
    for (unit, facts) in UNITS {
        let _ = writeln!(text, "Unit {unit} {facts}");
    }
    for row in shown(report) {
        let sets = row.sets();
        if sets.is_empty() {
            let words = foreign::reason(row.record);
            let why = if row.record.status == Status::Ok {
                "ok: not measured"
            } else {
                words.trim_end_matches([':', ' '])
            };
            let _ = writeln!(text, "# {}: {}", escape(&row.record.row()), escape(why));
        }
        for set in sets {
            let _ = write!(text, "{} {}", name(row.record), set.launches);
            for (value, unit) in metrics(&row, &set) {
                let _ = write!(text, " {} {unit}", number(value));
            }
            text.push('\n');
        }
    }
    text
}

/// What a line says of its set, and of every launch alike.
fn metrics(row: &Row, set: &Set) -> Vec<(f64, &'static str)> {
    let mut metrics = vec![(set.nanoseconds, "ns/op")];
    if let Some(allocations) = row.record.evidence.allocations {
        metrics.extend([(allocations.bytes, "B/op"), (allocations.count, "allocs/op")]);
    }
    let rate = row.rate().map(|rate| (row.rate_of(rate, set.nanoseconds), rate));
    metrics.extend(rate.map(|(value, rate)| match rate {
        Rate::Bytes(_) => (value / 1e9, "GB/s"),
        Rate::Flops(_) => (value / 1e9, "GFLOP/s"),
        Rate::Ops(_) => (value / 1e9, "GOP/s"),
    }));
    metrics.extend(set.share.map(|share| (share, "of-limit")));
    // Of another tool's case the work is not known.
    let work = [(row.flops(), "flop/op"), (row.traffic(), "moved-B/op")];
    metrics.extend(work.into_iter().filter(|(value, _)| *value > 0.0));
    metrics.retain(|(value, _)| value.is_finite());
    metrics
}

/// Where the lines are from, as comments: benchstat makes a table of each configuration, and would never
/// hold two runs, or two versions, against each other.
fn origin<'a>(report: &Report<'a>) -> Vec<(&'static str, &'a str)> {
    let first = report.records.first();
    told([
        ("run", first.map(|record| record.run.as_str())),
        ("roofline", first.map(|record| record.provenance.roofline.as_str())),
    ])
}

/// What holds for all lines, and is the same for all runs of one machine.
fn configuration<'a>(report: &Report<'a>) -> Vec<(&'static str, &'a str)> {
    let processor = report.run.and_then(|run| run.machine.pointer("/processor/name")?.as_str());
    let first = report.records.first();
    told([("cpu", processor), ("machine", first.map(|record| record.provenance.machine.as_str()))])
}

/// Those that have a value.
fn told<'a>(lines: [(&'static str, Option<&'a str>); 2]) -> Vec<(&'static str, &'a str)> {
    let told = |(key, value): (_, Option<&'a str>)| Some((key, value.filter(|value| !value.is_empty())?));
    lines.into_iter().filter_map(told).collect()
}

fn name(record: &Record) -> String {
    match own_case(&record.case).filter(|_| is_implementation(&record.implementation)) {
        Some(case) => own_name(&case, &record.implementation),
        None if is_go_name(record) => record.case.clone(),
        None => format!("{FOREIGN}{}", encode(&name_of(record, NAME))),
    }
}

/// Whether a name came from such a file and goes back as it is.
fn is_go_name(record: &Record) -> bool {
    let name = &record.case;
    record.implementation == format!("imported/{NAME}")
        && name.starts_with("Benchmark")
        && !name.contains(char::is_whitespace)
        && own_row(name).is_none()
}

fn own_name(case: &Case, implementation: &str) -> String {
    let form = case.form();
    let (first, rest) = form.split_at(form.len().min(1));
    let (provider, implementation) = implementation.split_once('/').unwrap_or((implementation, ""));
    let precision = case.precision;
    let mut name = format!("Benchmark{}{rest}", first.to_uppercase());
    let _ = write!(name, "/provider={provider}/impl={implementation}/dtype={precision}");
    for (axis, size) in case.operation.axes.iter().zip(&case.sizes) {
        let _ = write!(name, "/{}={size}", axis.name);
    }
    if case.cache == Cache::Cold {
        name += "/cache=cold";
    }
    if case.device != Device::Cpu {
        let _ = write!(name, "/device={}", case.device);
    }
    if case.threads != 1 {
        let _ = write!(name, "-{}", case.threads);
    }
    name
}

/// Case and implementation of a name that this file wrote.
pub(crate) fn own_row(name: &str) -> Option<(String, String)> {
    if let Some(row) = name.strip_prefix(FOREIGN).and_then(decode) {
        return (format!("{FOREIGN}{}", encode(&row)) == name).then(|| row_of(&row, NAME));
    }
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (path, threads) = match name.rsplit_once('-').filter(|(_, digits)| is_number(digits)) {
        Some((path, threads)) => (path, format!("/threads={threads}")),
        None => (name, String::new()),
    };
    let mut parts = path.strip_prefix("Benchmark")?.split('/');
    let form = parts.next()?;
    let (first, rest) = form.split_at_checked(1)?;
    let provider = parts.next()?.strip_prefix("provider=")?;
    let implementation = format!("{provider}/{}", parts.next()?.strip_prefix("impl=")?);
    let dtype = parts.next()?.strip_prefix("dtype=")?;
    let (mut axes, mut conditions) = (Vec::new(), threads);
    for part in parts {
        match part.split_once('=')?.0 {
            "cache" | "device" => conditions += &format!("/{part}"),
            _ => axes.push(part),
        }
    }
    let id = format!("{}{rest}/{dtype}/{}{conditions}", first.to_lowercase(), axes.join(","));
    let case = own_case(&id)?;
    let is_ours = is_implementation(&implementation) && own_name(&case, &implementation) == name;
    is_ours.then_some((id, implementation))
}

/// Text as one word that neither slashes nor a number at its end divide.
fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"._=,:+@".contains(&byte) {
            encoded.push(byte.into());
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn decode(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first == b'%' {
            let (code, tail) = tail.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok()?);
            rest = tail;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}
