//! Criterion's folder: `BENCHMARK/new/sample.json` with what lies beside it, `base` where there is no `new`;
//! or the folder of one benchmark.
//!
//! Every sample comes as it is: iterations and nanoseconds of all of them. Estimates follow from them.

use super::{File, ReadError, Source};
use crate::foreign::{self, as_number, launches, list, not_negative, own_case, row_of};
use roofline_core::names::is_implementation;
use roofline_core::record::{Record, Sample};
use serde_json::Value;
use std::collections::BTreeMap;

const NAME: &str = "criterion";

pub(super) fn is_it(source: &Source) -> bool {
    source.is_folder && !samples(source).is_empty()
}

pub(super) fn read(source: &Source) -> Result<Vec<Record>, ReadError> {
    if !source.is_folder {
        return Err(ReadError::new("it is a file; Criterion leaves a folder, `target/criterion`"));
    }
    let samples = samples(source);
    if samples.is_empty() {
        let why =
            "it holds no `new/sample.json`; name the folder `target/criterion`, or one of a benchmark in it";
        return Err(ReadError::new(why));
    }
    samples.iter().map(|(folder, file)| benchmark(source, folder, file)).collect()
}

/// The last sample of each benchmark, by its folder, which is empty for the one that the source itself is.
fn samples(source: &Source) -> BTreeMap<&str, &File> {
    let mut samples = BTreeMap::new();
    for last in ["base/sample.json", "new/sample.json"] {
        samples.extend(source.files.iter().filter_map(|file| {
            let above = file.path.strip_suffix(last)?;
            let folder = if above.is_empty() { above } else { above.strip_suffix('/')? };
            Some((folder, file))
        }));
    }
    samples
}

/// What a benchmark without an id is called: its folder.
fn called<'a>(source: &'a Source, folder: &'a str) -> &'a str {
    let parts = || source.name.split(['/', '\\']);
    if folder.is_empty() { parts().rfind(|part| !part.is_empty()).unwrap_or(NAME) } else { folder }
}

fn benchmark(source: &Source, folder: &str, file: &File) -> Result<Record, ReadError> {
    let at = |error: ReadError, path: &str| ReadError { why: format!("{path}: {}", error.why), ..error };
    let beside = file.path.trim_end_matches("sample.json").to_owned() + "benchmark.json";
    let id = match source.files.iter().find(|file| file.path == beside) {
        Some(file) => foreign::json(&file.bytes).map_err(|error| at(error, &beside))?,
        None => Value::Null,
    };
    let row = match (id["group_id"].as_str(), id["function_id"].as_str()) {
        (Some(case), Some(name)) if own_case(case).is_some() && is_implementation(name) => {
            (case.to_owned(), name.to_owned())
        }
        _ => row_of(id["full_id"].as_str().unwrap_or_else(|| called(source, folder)), NAME),
    };
    let mut record = foreign::record(source, NAME, row);
    let sample = foreign::json(&file.bytes).map_err(|error| at(error, &file.path))?;
    record.samples = taken(&sample).map_err(|error| at(error, &file.path))?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let notes = [("sampling_mode", &sample["sampling_mode"]), ("throughput", &id["throughput"])];
    let notes = notes.into_iter().filter(|(_, value)| !value.is_null());
    record.provenance.notes = notes.map(|(name, value)| (name.to_owned(), text(value))).collect();
    Ok(record)
}

fn taken(sample: &Value) -> Result<Vec<Sample>, ReadError> {
    let (iters, times) = (list(sample, "iters"), list(sample, "times"));
    if iters.len() != times.len() || iters.is_empty() {
        let (iters, times) = (iters.len(), times.len());
        return Err(ReadError::new(format!(
            "it has {iters} `iters` and {times} `times`, not one for each sample"
        )));
    }
    let sample = |(visit, (iters, time)): (usize, (&Value, &Value))| {
        let iters = launches(as_number(iters, "iters", "sample")?, "iters", "sample")?;
        let time = not_negative(as_number(time, "times", "sample")?, "times", "sample")?;
        let whole = iters <= f64::from(u32::MAX);
        let (batch, nanoseconds) = if whole { (iters as u32, time) } else { (1, time / iters) };
        Ok(Sample { set: 0, visit: visit as u32, batch, nanoseconds })
    };
    iters.iter().zip(times).enumerate().map(sample).collect()
}
