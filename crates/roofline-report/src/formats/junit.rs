//! JUnit's XML, for CI: a suite for each machine, a test for each row.
//!
//! A row that is `wrong` or `suspect` failed, one that could not be brought to its end is an error, one that
//! does not apply is skipped. Only a row that is `ok` has a time: the median of one launch, in seconds.

use crate::order::shown;
use crate::row::{Row, worst};
use crate::{Report, Style};
use roofline_core::case::Cache;
use roofline_core::record::Status;
use std::fmt::Write;

pub(super) fn write(report: &Report, _: Style) -> String {
    let rows = shown(report);
    let mut machines: Vec<&str> = rows.iter().map(|row| row.record.provenance.machine.as_str()).collect();
    machines.sort_unstable();
    machines.dedup();
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all: Vec<&Row> = rows.iter().collect();
    let _ = writeln!(text, "<testsuites name=\"roofline\"{}>", counts(&all, false));
    for machine in machines {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.record.provenance.machine == machine).collect();
        let name = if machine.is_empty() { "roofline" } else { machine };
        let stamp = report.run.and_then(|run| timestamp(&run.started));
        let stamp = stamp.map_or(String::new(), |stamp| format!(" timestamp=\"{stamp}\""));
        let _ = writeln!(text, "  <testsuite name=\"{}\"{}{stamp}>", escape(name), counts(&rows, true));
        if let Some(run) = report.run {
            let property = |name, value: &str| {
                format!("      <property name=\"{name}\" value=\"{}\"/>\n", escape(value))
            };
            let properties = property("run", &run.id) + &property("command", &run.command);
            let _ = write!(text, "    <properties>\n{properties}    </properties>\n");
        }
        for row in rows {
            text += &test(row);
        }
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

/// How a row counts in a suite.
#[derive(PartialEq)]
enum Outcome {
    Passed,
    Failure,
    Error,
    Skipped,
}

fn outcome(row: &Row) -> Outcome {
    match row.record.status {
        Status::Ok => Outcome::Passed,
        Status::Wrong | Status::Suspect => Outcome::Failure,
        Status::Unsupported | Status::Refused => Outcome::Skipped,
        Status::Crashed | Status::Timeout | Status::OutOfMemory | Status::Protocol => Outcome::Error,
    }
}

/// Attributes of a suite; the outermost element has no count of what was skipped.
fn counts(rows: &[&Row], with_skipped: bool) -> String {
    let count = |wanted: Outcome| rows.iter().filter(|row| outcome(row) == wanted).count();
    let (failures, errors) = (count(Outcome::Failure), count(Outcome::Error));
    let mut text = format!(" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", rows.len());
    if with_skipped {
        let _ = write!(text, " skipped=\"{}\"", count(Outcome::Skipped));
    }
    text
}

fn test(row: &Row) -> String {
    let record = row.record;
    let class = row.case.as_ref().map_or_else(
        || "foreign".to_owned(),
        |case| case.form() + if case.cache == Cache::Cold { ".cold" } else { "" },
    );
    let time = row.time(0.5).map_or(String::new(), |time| format!(" time=\"{}\"", decimal(time.0)));
    let head =
        format!("    <testcase classname=\"{}\" name=\"{}\"{time}>\n", escape(&class), escape(&record.row()));
    let kind = record.status.name();
    let message = escape(&record.why);
    let body = match outcome(row) {
        Outcome::Passed => String::new(),
        Outcome::Failure => {
            format!("      <failure message=\"{message}\" type=\"{kind}\">{}</failure>\n", details(row))
        }
        Outcome::Error => {
            format!("      <error message=\"{message}\" type=\"{kind}\">{}</error>\n", details(row))
        }
        Outcome::Skipped => format!("      <skipped message=\"{kind}: {message}\"/>\n"),
    };
    let said = match row.time(0.5) {
        Some(_) => {
            let facts = [row.median_text(), row.rate_text(), row.of_limit_text(), row.notes_text()];
            format!("      <system-out>{}</system-out>\n", escape(&facts.join("; ")))
        }
        None => String::new(),
    };
    format!("{head}{body}{said}    </testcase>\n")
}

/// The worst element, and how to see it again.
fn details(row: &Row) -> String {
    let record = row.record;
    let mut lines = Vec::new();
    lines.extend(record.gate.fault.as_ref().map(worst));
    lines.extend(Some(record.gate.seen_in.clone()).filter(|place| !place.is_empty()));
    lines.extend(Some(format!("reproduce: {}", record.reproduce)).filter(|_| !record.reproduce.is_empty()));
    escape(&lines.join("\n"))
}

/// A number without an exponent, which is what the schema calls decimal.
fn decimal(value: f64) -> String {
    format!("{value}")
}

/// ISO 8601 without a zone, if the text begins with it.
fn timestamp(text: &str) -> Option<&str> {
    let shape = |(index, byte): (usize, u8)| match index {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    };
    let stamp = text.get(..19)?;
    stamp.bytes().enumerate().all(shape).then_some(stamp)
}

/// Text for an attribute or an element; what XML has no way to say is written as an escape.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            '\t' => escaped += "&#9;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    escaped
}
