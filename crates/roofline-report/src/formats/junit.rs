//! JUnit's XML, for CI: a suite for each machine, a test for each row.
//!
//! A row that is `wrong` or `suspect` failed, one that could not be brought to its end is an error, one that
//! does not apply is skipped. A row that is slower failed where the run was asked for that: by `--fail-on`, or by
//! a baseline. Only a row that is `ok` has a time: the median of one launch, in seconds.

use crate::figures;
use crate::order::shown;
use crate::regressions::regressions;
use crate::row::{Row, worst};
use crate::{Report, Style, targets};
use roofline_core::case::Cache;
use roofline_core::policy::Finding;
use roofline_core::record::Status;
use roofline_core::target::{Reached, Standing};
use roofline_core::verdict::Word;
use std::fmt::Write;

pub(super) fn write(report: &Report, _: Style) -> String {
    let regressions = regressions(report);
    let regressed = |row: &Row| regressions.iter().any(|record| std::ptr::eq(*record, row.record));
    let test = |row| Test { outcome: outcome(&row, regressed(&row)), row };
    let tests: Vec<Test> = shown(report).into_iter().map(test).collect();
    let mut machines: Vec<&str> = tests.iter().map(Test::machine).collect();
    machines.sort_unstable();
    machines.dedup();
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let others = others(report);
    let apart = others.iter().flat_map(|(_, tests)| tests).map(|test| test.outcome);
    let outcomes = tests.iter().map(|test| test.outcome).chain(apart);
    let _ = writeln!(text, "<testsuites name=\"roofline\"{}>", counts(outcomes, false));
    for machine in machines {
        let tests: Vec<&Test> = tests.iter().filter(|test| test.machine() == machine).collect();
        let name = if machine.is_empty() { "roofline" } else { machine };
        let stamp = report.run.and_then(|run| timestamp(&run.started));
        let stamp = stamp.map_or(String::new(), |stamp| format!(" timestamp=\"{stamp}\""));
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\"{}{stamp}>",
            escape(name),
            counts(tests.iter().map(|test| test.outcome), true)
        );
        if let Some(run) = report.run {
            let property = |name, value: &str| {
                format!("      <property name=\"{name}\" value=\"{}\"/>\n", escape(value))
            };
            let properties = property("run", &run.id) + &property("command", &run.command);
            let _ = write!(text, "    <properties>\n{properties}    </properties>\n");
        }
        for test in tests {
            text += &test.element();
        }
        text += "  </testsuite>\n";
    }
    for (suite, tests) in others.iter().filter(|(_, tests)| !tests.is_empty()) {
        let outcomes = tests.iter().map(|test| test.outcome);
        let _ = writeln!(text, "  <testsuite name=\"{suite}\"{}>", counts(outcomes, true));
        text.extend(tests.iter().map(|test| test.element(suite)));
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

/// What is no row's own, as a test: its name, and how it came out.
struct Other {
    name: String,
    outcome: Outcome,
    said: String,
}

/// Targets, and what a policy found, each in a suite of its own. What is undecided was not tested.
fn others(report: &Report) -> [(&'static str, Vec<Other>); 2] {
    let target = |reached: &Reached| {
        let [name, found, wanted, place, standing] = targets::cells(reached);
        let outcome = match reached.standing {
            _ if reached.fails() => Outcome::Failure,
            Standing::Undecided => Outcome::Skipped,
            _ => Outcome::Passed,
        };
        Other { name, outcome, said: format!("{standing}: {found}, {wanted}: {place}") }
    };
    let finding = |found: &Finding| Other {
        name: found.row.clone(),
        outcome: if found.fails { Outcome::Failure } else { Outcome::Passed },
        said: format!("{}; reproduce: {}", found.what, found.reproduce),
    };
    [
        ("targets", report.targets.iter().map(target).collect()),
        ("policy", report.findings.iter().map(finding).collect()),
    ]
}

impl Other {
    fn element(&self, suite: &str) -> String {
        let (name, said) = (escape(&self.name), escape(&self.said));
        let body = match self.outcome {
            Outcome::Passed => format!("<system-out>{said}</system-out>"),
            Outcome::Skipped => format!("<skipped message=\"{said}\"/>"),
            _ => format!("<failure message=\"{said}\" type=\"{suite}\"/>"),
        };
        format!("    <testcase classname=\"{suite}\" name=\"{name}\">\n      {body}\n    </testcase>\n")
    }
}

/// A row as a test.
struct Test<'a> {
    row: Row<'a>,
    outcome: Outcome,
}

/// How a row counts in a suite.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Passed,
    Failure,
    Regression,
    Error,
    Skipped,
}

fn outcome(row: &Row, regressed: bool) -> Outcome {
    match row.record.status {
        Status::Ok if regressed => Outcome::Regression,
        // What is inconclusive passes: a skipped test reads as one that was not run, and this one was proved and timed.
        Status::Ok => Outcome::Passed,
        Status::Wrong | Status::Suspect => Outcome::Failure,
        Status::Unsupported | Status::Refused if regressed => Outcome::Failure,
        Status::Unsupported | Status::Refused => Outcome::Skipped,
        Status::Crashed | Status::Timeout | Status::OutOfMemory | Status::Protocol => Outcome::Error,
    }
}

/// Attributes of a suite; the outermost element has no count of what was skipped.
fn counts(outcomes: impl Iterator<Item = Outcome>, with_skipped: bool) -> String {
    let outcomes: Vec<Outcome> = outcomes.collect();
    let count = |wanted: Outcome| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    let failures = count(Outcome::Failure) + count(Outcome::Regression);
    let errors = count(Outcome::Error);
    let mut text = format!(" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\"", outcomes.len());
    if with_skipped {
        let _ = write!(text, " skipped=\"{}\"", count(Outcome::Skipped));
    }
    text
}

impl Test<'_> {
    fn machine(&self) -> &str {
        &self.row.record.provenance.machine
    }

    fn element(&self) -> String {
        let Test { row, outcome } = self;
        let class = row.case.as_ref().map_or_else(
            || "foreign".to_owned(),
            |case| case.form() + if case.cache == Cache::Cold { ".cold" } else { "" },
        );
        let (class, name) = (escape(&class), escape(&row.record.row()));
        let time = row.time(0.5).map_or(String::new(), |time| format!(" time=\"{}\"", decimal(time.0)));
        let kind = row.record.status.name();
        let message = escape(&row.record.why);
        let failed = |tag: &str, message: &str, kind: &str| {
            format!("      <{tag} message=\"{message}\" type=\"{kind}\">{}</{tag}>\n", details(row))
        };
        let body = match outcome {
            Outcome::Passed => String::new(),
            Outcome::Failure => failed("failure", &message, kind),
            Outcome::Regression => {
                let told = compared(row).unwrap_or_else(|| "it is not compared".to_owned());
                failed("failure", &escape(&told), "regression")
            }
            Outcome::Error => failed("error", &message, kind),
            Outcome::Skipped => format!("      <skipped message=\"{kind}: {message}\"/>\n"),
        };
        let said = facts(row).map_or(String::new(), |facts| {
            format!("      <system-out>{}</system-out>\n", escape(&facts.join("; ")))
        });
        format!("    <testcase classname=\"{class}\" name=\"{name}\"{time}>\n{body}{said}    </testcase>\n")
    }
}

/// What is known of a row that has a time.
fn facts(row: &Row) -> Option<Vec<String>> {
    row.time(0.5)?;
    let facts = [row.median_text(), row.rate_text(), row.of_limit_text()];
    Some(facts.into_iter().chain(row.notes()).chain(compared(row)).collect())
}

/// The comparison that was asked for, with its word, and why there is none better.
fn compared(row: &Row) -> Option<String> {
    let (comparison, hub) = (row.against()?, row.hub()?);
    let mut text =
        format!("{} as fast as {hub}: {}", figures::speed(comparison.speed), comparison.word.name());
    if comparison.word == Word::Inconclusive {
        let _ = write!(text, ", a difference of {} would have shown", figures::relative(comparison.smallest));
    }
    Some(text)
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
