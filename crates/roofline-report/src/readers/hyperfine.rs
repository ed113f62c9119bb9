//! hyperfine's JSON: a command with the time of each run, in seconds.
//!
//! Without the runs, the median (or the mean) of the file stands for them. A command of which a run
//! failed has no time, whatever hyperfine was told.

use super::{ReadError, Source};
use crate::foreign::{self, Notes, as_number, list, nanoseconds, number_of, row_of};
use roofline_core::record::{Record, Sample, Status};
use roofline_core::units::Bytes;
use serde_json::Value;

const NAME: &str = "hyperfine";

pub(super) fn is_it(source: &Source) -> bool {
    let document = source.bytes().and_then(foreign::json).unwrap_or_default();
    let is_result = |result: &Value| result["command"].is_string();
    !list(&document, "results").is_empty() && list(&document, "results").iter().all(is_result)
}

pub(super) fn read(source: &Source) -> Result<Vec<Record>, ReadError> {
    let document = foreign::json(source.bytes()?)?;
    if !document["results"].is_array() {
        return Err(ReadError::new("it has no list `results`"));
    }
    list(&document, "results").iter().map(|result| command(source, result)).collect()
}

fn command(source: &Source, result: &Value) -> Result<Record, ReadError> {
    let name = result["command"].as_str().ok_or_else(|| ReadError::new("a result has no `command`"))?;
    let mut record = foreign::record(source, NAME, row_of(name, NAME));
    let mut notes = Notes::default();
    let mut times = Vec::new();
    for time in list(result, "times") {
        times.push(nanoseconds(as_number(time, "times", name)?, 9, "times", name)?);
    }
    if times.is_empty() {
        let median = number_of(result, "median", name)?.map(|time| (time, "median"));
        let mean = number_of(result, "mean", name)?.map(|time| (time, "mean"));
        if let Some((time, which)) = median.or(mean) {
            times.push(nanoseconds(time, 9, which, name)?);
            notes.add("aggregate", which);
        }
    }
    let sample =
        |(visit, nanoseconds): (usize, f64)| Sample { set: 0, visit: visit as u32, batch: 1, nanoseconds };
    record.samples = times.into_iter().enumerate().map(sample).collect();
    let failed = list(result, "exit_codes").iter().filter(|code| **code != 0).count();
    if failed > 0 {
        let runs = list(result, "exit_codes").len();
        record.status = Status::Crashed;
        record.why = format!("{failed} of {runs} runs did not end with the exit code 0");
    }
    let (user, system) = (number_of(result, "user", name)?, number_of(result, "system", name)?);
    if let (Some(user), Some(system), Some(mean)) = (user, system, number_of(result, "mean", name)?) {
        record.evidence.cpu_share = Some((user + system) / mean).filter(|share| share.is_finite());
    }
    let memory = list(result, "memory_usage_byte").iter().filter_map(Value::as_u64).max();
    record.evidence.peak_memory = memory.map(Bytes);
    for (name, value) in result["parameters"].as_object().into_iter().flatten() {
        notes.add(
            &format!("parameter {name}"),
            value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        );
    }
    record.provenance.notes = notes.into_map();
    Ok(record)
}
