//! Bencher Metric Format: measures by name of the row.
//!
//! `latency` is the median in nanoseconds with the interval of this run's median; rates and the share of the
//! limit are measures of their own. The format has no word for a row without a time: it is left out.

use crate::foreign::{name_of, unique};
use crate::order::shown;
use crate::row::{Rate, Row};
use crate::{Report, Style};
use serde_json::{Map, Value, json};

const NAME: &str = "bencher";
/// Longest name, in bytes.
const LONGEST: usize = 1024;

pub(super) fn write(report: &Report, _: Style) -> String {
    let rows: Vec<Row> = shown(report).into_iter().filter(|row| row.time(0.5).is_some()).collect();
    let names = unique(rows.iter().map(|row| name_of(row.record, NAME)), LONGEST, " #");
    let named = rows.iter().zip(names).filter(|(_, name)| !name.trim().is_empty());
    let benchmarks: Map<String, Value> = named.map(|(row, name)| (name, measures(row))).collect();
    format!("{:#}\n", Value::Object(benchmarks))
}

fn measures(row: &Row) -> Value {
    let mut measures = json!({});
    let metric = |value: f64, ends: Option<(f64, f64)>| match ends {
        Some((low, high)) => json!({ "value": value, "lower_value": low, "upper_value": high }),
        None => json!({ "value": value }),
    };
    if let Some(median) = row.time(0.5) {
        let ends = row.median_interval().map(|(low, high)| (1e9 * low, 1e9 * high));
        measures["latency"] = metric(1e9 * median.0, ends);
    }
    if let Some(rate) = row.rate() {
        let name = match rate {
            Rate::Bytes(_) => "bytes-per-second",
            Rate::Flops(_) => "flops-per-second",
            Rate::Ops(_) => "ops-per-second",
        };
        measures[name] = metric(rate.value(), None);
    }
    if let Some((share, _)) = row.of_limit() {
        measures["share-of-limit"] = metric(share.value, Some((share.low, share.high)));
    }
    measures
}
