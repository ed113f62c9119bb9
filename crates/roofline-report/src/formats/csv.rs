//! One line a row, for spreadsheets and data frames.
//!
//! Quoted as RFC 4180 says, in UTF-8, lines end with a newline. Units are those of SI without prefix
//! and named in the column; what a row does not have is empty.

use crate::row::{Row, grade};
use crate::{Report, Style};

/// The columns, in order; new ones are added at the end.
pub const COLUMNS: &[&str] = &[
    "run",
    "id",
    "at",
    "case",
    "implementation",
    "status",
    "why",
    // Threads that worked, and the most that the case allows.
    "threads",
    "thread_limit",
    // Number of samples, and quantiles over them of the time of one launch.
    "samples",
    "median_seconds",
    "lower_quartile_seconds",
    "upper_quartile_seconds",
    // In `rate_unit`: B/s of compulsory traffic, or FLOP/s.
    "rate",
    "rate_unit",
    "grade",
    // What one launch must do: compulsory bytes, operations.
    "bytes",
    "flops",
    // Of the gate: launches judged, elements compared, those outside, largest score that passed.
    "gate_launches",
    "gate_checked",
    "gate_failed",
    "gate_score",
    "deterministic",
    "wall_seconds",
    "peak_memory_bytes",
    "machine",
    "runner",
    "runner_version",
    "roofline",
    "reproduce",
];

pub(super) fn write(report: &Report, _: Style) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for record in report.records {
        let fields: Vec<String> = fields(&Row::new(record)).iter().map(|field| quote(field)).collect();
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

fn fields(row: &Row) -> Vec<String> {
    let record = row.record;
    let (gate, evidence, provenance) = (&record.gate, &record.evidence, &record.provenance);
    let quantile = |q| row.time(q).map_or(String::new(), |time| time.0.to_string());
    let fields = vec![
        record.run.clone(),
        record.id.clone(),
        record.at.clone(),
        record.case.clone(),
        record.implementation.clone(),
        record.status.to_string(),
        record.why.clone(),
        optional(row.threads()),
        optional(row.thread_limit()),
        record.samples.len().to_string(),
        quantile(0.5),
        quantile(0.25),
        quantile(0.75),
        optional(row.rate().map(|rate| rate.value())),
        optional(row.rate().map(|rate| rate.unit())),
        row.time(0.5).map_or("", |_| grade(evidence.grade)).to_owned(),
        row.traffic().to_string(),
        row.flops().to_string(),
        gate.launches.to_string(),
        gate.checked.to_string(),
        gate.failed.to_string(),
        gate.score.to_string(),
        optional(gate.deterministic),
        optional(evidence.wall_per_launch.map(|time| time.0)),
        optional(evidence.peak_memory.map(|bytes| bytes.0)),
        provenance.machine.clone(),
        provenance.runner.clone(),
        provenance.runner_version.clone(),
        provenance.roofline.clone(),
        record.reproduce.clone(),
    ];
    debug_assert_eq!(fields.len(), COLUMNS.len());
    fields
}

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) || field.starts_with(' ') || field.ends_with(' ') {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
