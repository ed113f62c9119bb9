//! nvbench's JSON: a state of a benchmark with its summaries, times in seconds.
//!
//! The time is the GPU's, each launch on its own (`nv/cold`), else the CPU's (`nv/cpu_only`). The raw samples
//! of `--jsonbin` are taken where their files are there; else the mean and the number of samples make one.
//! All summaries become notes under their tags. Values may be numbers or strings.

use super::{ReadError, Source};
use crate::foreign::{self, Notes, as_number, launches, list, nanoseconds, row_of};
use roofline_core::record::{Record, Sample, Status};
use serde_json::Value;

const NAME: &str = "nvbench";
/// Where a time is looked for, with the number of its samples.
const TIMES: [(&str, &str); 3] = [
    ("nv/cold/time/gpu/mean", "nv/cold/sample_size"),
    ("nv/cpu_only/time/cpu/mean", "nv/cpu_only/sample_size"),
    ("nv/cold/time/cpu/mean", "nv/cold/sample_size"),
];

pub(super) fn is_it(source: &Source) -> bool {
    let document = source.bytes().and_then(foreign::json).unwrap_or_default();
    document["devices"].is_array() && document["benchmarks"].is_array() && document["meta"].is_object()
}

pub(super) fn read(source: &Source) -> Result<Vec<Record>, ReadError> {
    let document = foreign::json(source.bytes()?)?;
    if !document["benchmarks"].is_array() {
        return Err(ReadError::new("it has no list `benchmarks`"));
    }
    let mut records = Vec::new();
    for benchmark in list(&document, "benchmarks") {
        let name = benchmark["name"].as_str().ok_or_else(|| ReadError::new("a benchmark has no `name`"))?;
        for state in list(benchmark, "states") {
            records.push(read_state(source, &document, name, state)?);
        }
    }
    Ok(records)
}

fn read_state(
    source: &Source,
    document: &Value,
    benchmark: &str,
    state: &Value,
) -> Result<Record, ReadError> {
    let name = format!("{benchmark} {}", state["name"].as_str().unwrap_or_default());
    let name = name.trim_end();
    let mut record = foreign::record(source, NAME, row_of(name, NAME));
    let mut notes = Notes::default();
    let device = list(document, "devices").iter().find(|device| device["id"] == state["device"]);
    if let Some(device) = device.and_then(|device| device["name"].as_str()) {
        notes.add("device", device);
    }
    for summary in list(state, "summaries") {
        let Some(tag) = summary["tag"].as_str() else { continue };
        for datum in list(summary, "data") {
            let key = match datum["name"].as_str() {
                Some("value") | None => tag.to_owned(),
                Some(part) => format!("{tag} {part}"),
            };
            match &datum["value"] {
                Value::Null => {}
                Value::String(text) => notes.add(&key, text),
                value => notes.add(&key, value),
            }
        }
    }
    record.provenance.notes = notes.into_map();
    if state["is_skipped"] == true {
        record.status = Status::Unsupported;
        record.why = state["skip_reason"].as_str().unwrap_or("skipped").to_owned();
        return Ok(record);
    }
    record.samples = match raw(source, state, name)? {
        Some(samples) => samples,
        None => mean(state, name)?.into_iter().collect(),
    };
    Ok(record)
}

fn value<'a>(state: &'a Value, tag: &str) -> Option<&'a Value> {
    datum(list(state, "summaries").iter().find(|summary| summary["tag"] == tag)?, "value")
}

fn datum<'a>(summary: &'a Value, name: &str) -> Option<&'a Value> {
    let datum = list(summary, "data").iter().find(|datum| datum["name"] == name)?;
    Some(&datum["value"]).filter(|value| !value.is_null())
}

/// The mean time of all samples as one.
fn mean(state: &Value, name: &str) -> Result<Option<Sample>, ReadError> {
    let found = TIMES.iter().find_map(|(tag, size)| Some((tag, size, value(state, tag)?)));
    let Some((tag, size_tag, time)) = found else { return Ok(None) };
    let time = nanoseconds(as_number(time, tag, name)?, 9, tag, name)?;
    let size = value(state, size_tag).map_or(Ok(1.0), |size| as_number(size, size_tag, name))?;
    Ok(Some(foreign::sample(0, time, launches(size, size_tag, name)?)))
}

/// The samples of `--jsonbin`, as little-endian f32 in a file beside the JSON.
fn raw(source: &Source, state: &Value, name: &str) -> Result<Option<Vec<Sample>>, ReadError> {
    let summaries = list(state, "summaries");
    let Some(summary) = summaries.iter().find(|summary| summary["hint"] == "file/sample_times") else {
        return Ok(None);
    };
    let path = datum(summary, "filename").and_then(Value::as_str).unwrap_or_default();
    let Some(file) = source.files.iter().skip(1).find(|file| is_same(&file.path, path)) else {
        return Ok(None);
    };
    let (numbers, rest) = file.bytes.as_chunks::<4>();
    let size = datum(summary, "size").map(|size| as_number(size, "size", name)).transpose()?;
    if !rest.is_empty() || size.is_some_and(|size| size != numbers.len() as f64) {
        let (bytes, size) = (file.bytes.len(), size.unwrap_or_default());
        return Err(ReadError::new(format!("`{}` has {bytes} bytes for {size} samples of four", file.path)));
    }
    let sample = |(visit, bytes): (usize, &[u8; 4])| {
        let seconds = f64::from(f32::from_le_bytes(*bytes));
        let whose = &file.path;
        let seconds = as_number(&seconds.to_string().into(), "sample", whose)?;
        let nanoseconds = nanoseconds(seconds, 9, "sample", whose)?;
        Ok(Sample { set: 0, visit: visit as u32, batch: 1, nanoseconds })
    };
    numbers.iter().enumerate().map(sample).collect::<Result<_, _>>().map(Some)
}

/// Whether a path that a file names is the one that was found: folder and file must agree.
fn is_same(found: &str, named: &str) -> bool {
    let last_two =
        |path: &str| -> Vec<String> { path.rsplit(['/', '\\']).take(2).map(str::to_owned).collect() };
    last_two(found) == last_two(named)
}
