//! Criterion's folder: for each row what Criterion leaves of a benchmark, as its last result `new` and as
//! the `base` of the next comparison.
//!
//! Samples are kept whole, as launches and nanoseconds. Estimates are those that Criterion would find in
//! them, by percentile bootstrap. The group of a benchmark is the case, its function the implementation.

use crate::Report;
use crate::foreign::{cut, name_of, own_case, unique};
use crate::order::shown;
use crate::row::{Rate, Row};
use roofline_core::philox::Draws;
use roofline_core::record::Sample;
use roofline_core::stats;
use serde_json::{Value, json};

const NAME: &str = "criterion";
const RESAMPLES: usize = 1000;
const CONFIDENCE: f64 = 0.95;
/// Longest part of a folder's name, and longest title.
const LONGEST: usize = 64;
const LONGEST_TITLE: usize = 100;

/// Files of a folder as paths in it and their text.
pub(super) fn write(report: &Report) -> Vec<(String, String)> {
    let rows: Vec<Row> = shown(report).into_iter().filter(|row| !times(row).is_empty()).collect();
    let folders = unique(rows.iter().map(|row| Id::of(row).folder()), usize::MAX, "_");
    let mut files = Vec::new();
    for (row, folder) in rows.iter().zip(folders) {
        let parts = [
            ("benchmark", Id::of(row).document(row, &folder)),
            ("sample", sample(row)),
            ("estimates", estimates(&times(row))),
            ("tukey", fences(&times(row))),
        ];
        for last in ["new", "base"] {
            let file =
                |(name, value): &(&str, Value)| (format!("{folder}/{last}/{name}.json"), value.to_string());
            files.extend(parts.iter().map(file));
        }
    }
    files
}

/// Nanoseconds a launch; only a row that is `ok` has any, and none has such as estimates cannot be made of.
pub(super) fn times(row: &Row) -> Vec<f64> {
    let times: Vec<f64> = row.timed().map(Sample::per_launch).collect();
    let is_time = |time: &f64| *time < 1e100;
    if row.time(0.5).is_some() && times.iter().all(is_time) { times } else { Vec::new() }
}

/// What a benchmark is called.
struct Id {
    group: String,
    function: Option<String>,
}

impl Id {
    fn of(row: &Row) -> Id {
        if own_case(&row.record.case).is_some() {
            Id { group: row.record.case.clone(), function: Some(row.record.implementation.clone()) }
        } else {
            Id { group: name_of(row.record, NAME), function: None }
        }
    }

    fn full(&self) -> String {
        self.function.iter().fold(self.group.clone(), |id, function| format!("{id}/{function}"))
    }

    fn folder(&self) -> String {
        let safe = |part: &str| {
            let safe: String = part
                .chars()
                .map(|c| if "?\"/\\*<>:|^".contains(c) || c.is_control() { '_' } else { c })
                .collect();
            match cut(&safe, LONGEST) {
                "" | "." | ".." => "_".to_owned(),
                part => part.to_owned(),
            }
        };
        let parts: Vec<String> = [Some(&self.group), self.function.as_ref()]
            .into_iter()
            .flatten()
            .map(|part| safe(part))
            .collect();
        parts.join("/")
    }

    fn document(&self, row: &Row, folder: &str) -> Value {
        let full = self.full();
        let title = if full.len() > LONGEST_TITLE {
            format!("{}...", cut(&full, LONGEST_TITLE))
        } else {
            full.clone()
        };
        // Criterion knows no operations: they are counted as elements.
        let throughput = match row.rate() {
            Some(Rate::Bytes(_)) => json!({ "Bytes": row.traffic() as u64 }),
            Some(Rate::Flops(_) | Rate::Ops(_)) => json!({ "Elements": row.flops() as u64 }),
            None => Value::Null,
        };
        json!({
            "group_id": self.group,
            "function_id": self.function,
            "value_str": null,
            "throughput": throughput,
            "full_id": full,
            "directory_name": folder,
            "title": title,
        })
    }
}

fn sample(row: &Row) -> Value {
    let (iters, times): (Vec<f64>, Vec<f64>) =
        row.timed().map(|sample| (f64::from(sample.batch.max(1)), sample.nanoseconds)).unzip();
    json!({ "sampling_mode": "Flat", "iters": iters, "times": times })
}

/// A number that sums up times.
type Figure = fn(&[f64]) -> f64;

fn estimates(times: &[f64]) -> Value {
    let figures: [(&str, Figure); 4] = [
        ("mean", mean),
        ("median", |times| stats::median(times).unwrap_or(0.0)),
        ("median_abs_dev", |times| 1.4826 * stats::mad(times).unwrap_or(0.0)),
        ("std_dev", deviation),
    ];
    let mut draws = Draws::of(0, "criterion");
    let mut resample = || -> Vec<f64> {
        (0..times.len()).map(|_| times[draws.below(times.len() as u64) as usize]).collect()
    };
    let mut found: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLES); figures.len()];
    for _ in 0..RESAMPLES {
        let times = resample();
        for (values, (_, figure)) in found.iter_mut().zip(&figures) {
            values.push(figure(&times));
        }
    }
    let mut document = json!({ "slope": null });
    for ((name, figure), values) in figures.iter().zip(&found) {
        let end = |q| stats::quantile(values, q).unwrap_or(0.0);
        document[*name] = json!({
            "confidence_interval": {
                "confidence_level": CONFIDENCE,
                "lower_bound": end((1.0 - CONFIDENCE) / 2.0),
                "upper_bound": end((1.0 + CONFIDENCE) / 2.0),
            },
            "point_estimate": figure(times),
            "standard_error": deviation(values),
        });
    }
    document
}

/// Beyond these a sample is far out, or out, on either side.
fn fences(times: &[f64]) -> Value {
    let quartile = |q| stats::quantile(times, q).unwrap_or(0.0);
    let (low, high) = (quartile(0.25), quartile(0.75));
    let range = high - low;
    json!([low - 3.0 * range, low - 1.5 * range, high + 1.5 * range, high + 3.0 * range])
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

pub(super) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / values.len().saturating_sub(1).max(1) as f64).sqrt()
}
