//! One line a row, for spreadsheets and data frames.
//!
//! Quoted as RFC 4180 says, in UTF-8, lines end with a newline. Units are those of SI without prefix
//! and named in the column; shares and ratios are plain numbers; what a row does not have is empty.
//! Probes of limits are rows as any other here.

use crate::order::sorted;
use crate::row::{Row, grade};
use crate::{Report, Style};
use roofline_core::record::Rounds;
use roofline_core::stats;

/// A column: its name, and what a row has in it.
type Column = (&'static str, fn(&Row) -> String);

/// The columns, in order; new ones are added at the end.
const COLUMNS: &[Column] = &[
    ("run", |row| row.record.run.clone()),
    ("id", |row| row.record.id.clone()),
    ("at", |row| row.record.at.clone()),
    ("case", |row| row.record.case.clone()),
    ("implementation", |row| row.record.implementation.clone()),
    ("status", |row| row.record.status.to_string()),
    ("why", |row| row.record.why.clone()),
    // Threads that worked, and the most that the case allows.
    ("threads", |row| optional(row.threads())),
    ("thread_limit", |row| optional(row.thread_limit())),
    // Number of samples, and quantiles over them of the time of one launch.
    ("samples", |row| row.record.samples.len().to_string()),
    ("median_seconds", |row| optional(row.derived().median_seconds)),
    ("lower_quartile_seconds", |row| optional(row.time(0.25).map(|time| time.0))),
    ("upper_quartile_seconds", |row| optional(row.time(0.75).map(|time| time.0))),
    // In `rate_unit`: B/s of compulsory traffic, or FLOP/s.
    ("rate", |row| optional(row.derived().rate)),
    ("rate_unit", |row| optional(row.derived().rate_unit)),
    ("grade", |row| optional(row.time(0.5).map(|_| grade(row.record.evidence.grade)))),
    // What one launch must do: compulsory bytes, operations.
    ("bytes", |row| row.traffic().to_string()),
    ("flops", |row| row.flops().to_string()),
    // Of the gate: launches judged, elements compared, those outside, largest score that passed.
    ("gate_launches", |row| row.record.gate.launches.to_string()),
    ("gate_checked", |row| row.record.gate.checked.to_string()),
    ("gate_failed", |row| row.record.gate.failed.to_string()),
    ("gate_score", |row| row.record.gate.score.to_string()),
    ("deterministic", |row| optional(row.record.gate.deterministic)),
    ("wall_seconds", |row| optional(row.record.evidence.wall_per_launch.map(|time| time.0))),
    ("clock_room", |row| optional(row.record.evidence.room)),
    ("peak_memory_bytes", |row| optional(row.record.evidence.peak_memory.map(|bytes| bytes.0))),
    ("machine", |row| row.record.provenance.machine.clone()),
    ("runner", |row| row.record.provenance.runner.clone()),
    ("runner_version", |row| row.record.provenance.runner_version.clone()),
    ("roofline", |row| row.record.provenance.roofline.clone()),
    ("reproduce", |row| row.record.reproduce.clone()),
    // Share of the measured limit with its interval, what limits, and the probe that showed it.
    ("of_limit", |row| optional(row.derived().of_limit)),
    ("of_limit_low", |row| optional(row.derived().of_limit_low)),
    ("of_limit_high", |row| optional(row.derived().of_limit_high)),
    ("limiter", |row| optional(row.derived().limiter)),
    ("probe", |row| rounds(row, |rounds| rounds.limit.as_ref().map(|limit| limit.probe.clone()))),
    // The hub, how many times as fast as it with the interval, in a word, and the smallest relative
    // difference that the sets could have shown.
    ("against", |row| optional(row.derived().against.clone())),
    ("speed", |row| optional(row.derived().speed)),
    ("speed_low", |row| optional(row.derived().speed_low)),
    ("speed_high", |row| optional(row.derived().speed_high)),
    ("word", |row| optional(row.derived().word)),
    ("smallest_effect", |row| optional(row.derived().smallest_effect)),
    // How it was measured, and why no longer.
    ("sets", |row| rounds(row, |rounds| Some(rounds.to_hub.len()))),
    ("ended", |row| rounds(row, |rounds| Some(rounds.ended.name()))),
    ("kind", |row| rounds(row, |rounds| Some(rounds.course.kind.name()))),
    ("batch", |row| rounds(row, |rounds| Some(rounds.course.batch))),
    ("timer_seconds", |row| rounds(row, |rounds| Some(rounds.course.timer.0))),
    // What the samples look like.
    ("mad_seconds", |row| timed(row, |row| stats::mad(&row.times()))),
    ("median_low_seconds", |row| optional(row.derived().median_low_seconds)),
    ("median_high_seconds", |row| optional(row.derived().median_high_seconds)),
    ("drift", |row| timed(row, |row| row.spread().drift)),
    ("bimodal", |row| timed(row, |row| Some(row.spread().is_bimodal))),
    ("outliers", |row| timed(row, |row| Some(row.spread().outliers))),
    // Of one launch.
    ("allocations", |row| optional(row.record.evidence.allocations.map(|allocations| allocations.count))),
    ("allocated_bytes", |row| optional(row.record.evidence.allocations.map(|allocations| allocations.bytes))),
    // What the system says was going on beside the row.
    ("steal", |row| optional(row.record.evidence.steal)),
    ("switches", |row| optional(row.record.evidence.switches)),
    ("others", |row| optional(row.record.evidence.others)),
];

/// Names of the columns.
pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|(name, _)| *name)
}

pub(super) fn write(report: &Report, _: Style) -> String {
    let mut text = columns().collect::<Vec<_>>().join(",") + "\n";
    for row in sorted(report) {
        let fields: Vec<String> = COLUMNS.iter().map(|(_, field)| quote(&field(&row))).collect();
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn rounds<T: ToString>(row: &Row, field: fn(&Rounds) -> Option<T>) -> String {
    optional(row.record.rounds.as_ref().and_then(field))
}

/// What only a row with a time has.
fn timed<T: ToString>(row: &Row, field: fn(&Row) -> Option<T>) -> String {
    optional(row.time(0.5).and_then(|_| field(row)))
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) || field.starts_with(' ') || field.ends_with(' ') {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
