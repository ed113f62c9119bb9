//! Google Benchmark's JSON.
//!
//! Repetitions of one name and thread count are sets of one row. Aggregates follow from them; where a
//! file has nothing else, the median (or the mean) stands for the row. `real_time` is the time; what
//! an entry counts or says beside it becomes notes under its own name.

use super::{ReadError, Source};
use crate::foreign::{
    self, Notes, as_number, failure, is_not_finite, launches, list, nanoseconds, number_of, row_of,
};
use roofline_core::protocol::Allocations;
use roofline_core::record::{Record, Status};
use roofline_core::stats::median;
use serde_json::Value;
use std::collections::BTreeMap;

const NAME: &str = "google-benchmark";
/// Fields of an entry that are read or follow from others; all others are counters.
const FIXED: [&str; 19] = [
    "name",
    "run_name",
    "run_type",
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "aggregate_name",
    "aggregate_unit",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "label",
];

pub(super) fn is_it(source: &Source) -> bool {
    let document = source.bytes().and_then(foreign::json).unwrap_or_default();
    document["context"].is_object() && document["benchmarks"].is_array()
}

/// The entries of one name.
#[derive(Default)]
struct Group<'a> {
    repetitions: Vec<&'a Value>,
    aggregates: Vec<&'a Value>,
}

pub(super) fn read(source: &Source) -> Result<Vec<Record>, ReadError> {
    let document = foreign::json(source.bytes()?)?;
    if !document["benchmarks"].is_array() {
        return Err(ReadError::new("it has no list `benchmarks`"));
    }
    let mut groups: Vec<(&str, u32, Group)> = Vec::new();
    let mut places = BTreeMap::new();
    for entry in list(&document, "benchmarks") {
        let name = entry["run_name"].as_str().or(entry["name"].as_str()).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| ReadError::new("an entry of `benchmarks` has no name"))?;
        let threads = number_of(entry, "threads", name)?.map_or(0, |threads| threads as u32);
        let place = *places.entry((name, threads)).or_insert_with(|| {
            groups.push((name, threads, Group::default()));
            groups.len() - 1
        });
        let group = &mut groups[place].2;
        match entry["run_type"].as_str() {
            Some("aggregate") => group.aggregates.push(entry),
            _ => group.repetitions.push(entry),
        }
    }
    let notes = context(&document["context"]);
    let record = |(name, threads, group): (&str, u32, Group)| {
        let mut record = group.record(source, name)?;
        record.evidence.threads = threads;
        record.provenance.notes.extend(notes.clone());
        Ok(record)
    };
    groups.into_iter().map(record).collect()
}

/// What the file says of the machine and the build.
fn context(context: &Value) -> BTreeMap<String, String> {
    let fields = context.as_object().into_iter().flatten();
    let text =
        |value: &Value| value.as_str().map(str::to_owned).or(value.as_number().map(ToString::to_string));
    fields.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
}

impl Group<'_> {
    fn record(&self, source: &Source, name: &str) -> Result<Record, ReadError> {
        let mut record = foreign::record(source, NAME, row_of(name, NAME));
        let mut notes = Notes::default();
        let entries = if self.repetitions.is_empty() { self.summary() } else { self.repetitions.clone() };
        if self.repetitions.is_empty() {
            let which = entries.first().and_then(|entry| entry["aggregate_name"].as_str());
            notes.add("aggregate", which.unwrap_or("none that is a time"));
        }
        let (mut shares, mut counts, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for (set, entry) in entries.iter().enumerate() {
            if let Some((status, why)) = refusal(entry) {
                (record.status, record.why) = (status, why);
                continue;
            }
            let places = places(entry, name)?;
            let time = number_of(entry, "real_time", name)?
                .ok_or_else(|| ReadError::new(format!("`{}` has no `real_time`", name.escape_debug())))?;
            let time = nanoseconds(time, places, "real_time", name)?;
            let iterations = number_of(entry, "iterations", name)?.unwrap_or(1.0);
            record.samples.push(foreign::sample(set, time, launches(iterations, "iterations", name)?));
            let cpu = number_of(entry, "cpu_time", name)?.unwrap_or_default();
            let cpu = nanoseconds(cpu, places, "cpu_time", name)?;
            shares.extend(Some(cpu / time).filter(|share| *share > 0.0 && share.is_finite()));
            counts.extend(number_of(entry, "allocs_per_iter", name)?);
            sizes.extend(number_of(entry, "allocated_bytes_per_iter", name)?);
            for (key, value) in entry.as_object().into_iter().flatten() {
                match value {
                    _ if FIXED.contains(&key.as_str()) => {}
                    Value::String(text) if !is_not_finite(value) => notes.add(key, text),
                    Value::Number(_) | Value::String(_) => notes.add(key, as_number(value, key, name)?),
                    _ => {}
                }
            }
            if let Some(label) = entry["label"].as_str() {
                notes.add("label", label);
            }
        }
        record.evidence.cpu_share = median(&shares);
        if let (Some(count), Some(bytes)) = (median(&counts), median(&sizes)) {
            record.evidence.allocations = Some(Allocations { count, bytes });
        }
        record.provenance.notes = notes.into_map();
        Ok(record)
    }

    /// The aggregate that is nearest to a typical time.
    fn summary(&self) -> Vec<&Value> {
        let named =
            |name: &str| self.aggregates.iter().find(|entry| entry["aggregate_name"] == name).copied();
        named("median").or_else(|| named("mean")).into_iter().collect()
    }
}

/// Why an entry has no time.
fn refusal(entry: &Value) -> Option<(Status, String)> {
    let message = |key: &str| entry[key].as_str().unwrap_or_default();
    if entry["error_occurred"] == true {
        Some(failure(message("error_message"), Status::Crashed))
    } else if entry["skipped"] == true {
        Some(failure(message("skip_message"), Status::Unsupported))
    } else {
        None
    }
}

/// How many decimal places a time has to be shifted to be nanoseconds.
fn places(entry: &Value, name: &str) -> Result<i32, ReadError> {
    match entry["time_unit"].as_str().unwrap_or("ns") {
        "ns" => Ok(0),
        "us" => Ok(3),
        "ms" => Ok(6),
        "s" => Ok(9),
        unit => {
            let (name, unit) = (name.escape_debug(), unit.escape_debug());
            Err(ReadError::new(format!("`time_unit` of `{name}` is `{unit}`, not ns, us, ms or s")))
        }
    }
}
