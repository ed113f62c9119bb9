//! JSON for github-action-benchmark, in two files because a file has one direction: times for its tool
//! `customSmallerIsBetter`, rates and shares of the limit for `customBiggerIsBetter`.
//!
//! The range is the wider side of the interval. A row without a time is left out: the format has no word for it.

use crate::foreign::{name_of, unique};
use crate::order::shown;
use crate::row::Row;
use crate::{Report, Style};
use serde_json::{Value, json};

const NAME: &str = "github-action-benchmark";

pub(super) fn times(report: &Report, _: Style) -> String {
    entries(report, |row, name| {
        let Some(median) = row.time(0.5).map(|time| 1e9 * time.0) else { return Vec::new() };
        let range = row.median_interval().map(|(low, high)| (1e9 * high - median).max(median - 1e9 * low));
        vec![entry(row, name.to_owned(), median, "ns", range)]
    })
}

pub(super) fn rates(report: &Report, _: Style) -> String {
    entries(report, |row, name| {
        let rate = row.rate().map(|rate| entry(row, name.to_owned(), rate.value(), rate.unit(), None));
        let share = row.of_limit().map(|(share, _)| {
            let range = 100.0 * (share.high - share.value).max(share.value - share.low);
            entry(row, format!("{name} of limit"), 100.0 * share.value, "%", Some(range))
        });
        rate.into_iter().chain(share).collect()
    })
}

fn entries(report: &Report, entries: impl Fn(&Row, &str) -> Vec<Value>) -> String {
    let rows = shown(report);
    let names = unique(rows.iter().map(|row| name_of(row.record, NAME)), usize::MAX, " #");
    let list: Vec<Value> = rows.iter().zip(names).flat_map(|(row, name)| entries(row, &name)).collect();
    format!("{:#}\n", Value::Array(list))
}

fn entry(row: &Row, name: String, value: f64, unit: &str, range: Option<f64>) -> Value {
    let mut entry = json!({ "name": name, "value": value, "unit": unit, "extra": row.notes().join(", ") });
    if let Some(range) = range.filter(|range| range.is_finite()) {
        entry["range"] = format!("± {range}").into();
    }
    entry
}
