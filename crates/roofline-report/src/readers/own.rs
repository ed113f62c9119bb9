//! What `roofline export` writes whole: JSON with its run, and JSONL.
//!
//! Such records are ours to the letter: they keep their ids, their runs and their samples, so that whoever reads a file
//! twice has its rows once. What follows from a record (`derived`) is computed anew.

use super::{Content, ReadError, Source};
use roofline_core::record::{Record, Run, SCHEMA};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// As much of a file as tells it from others.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only whether they are there matters")]
struct Head {
    schema: u64,
    run: IgnoredAny,
    records: Vec<IgnoredAny>,
}

/// As much of a line as tells it from others.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only whether they are there matters")]
struct Line {
    schema: u64,
    id: String,
    run: String,
    case: String,
    implementation: String,
}

pub(super) fn is_json(source: &Source) -> bool {
    source.bytes().is_ok_and(|bytes| serde_json::from_slice::<Head>(bytes).is_ok())
}

pub(super) fn is_jsonl(source: &Source) -> bool {
    let first =
        |bytes: &[u8]| serde_json::from_slice::<Line>(lines(bytes).next().unwrap_or_default().1).is_ok();
    source.bytes().is_ok_and(first)
}

pub(super) fn json(source: &Source) -> Result<Content, ReadError> {
    let mut document: Value = serde_json::from_slice(source.bytes()?)
        .map_err(|error| ReadError::new(format!("it is no JSON: {error}")))?;
    let schema = document["schema"].as_u64().ok_or_else(|| ReadError::new("it has no number `schema`"))?;
    is_known(schema, "it")?;
    let Value::Array(records) = document["records"].take() else {
        return Err(ReadError::new("it has no list `records`"));
    };
    let runs = match document["run"].take() {
        Value::Null => Vec::new(),
        run => vec![self::run(run)?],
    };
    let numbered = (1..).zip(records);
    let records = numbered.map(|(number, value)| record(value, &format!("record {number}")));
    Content { runs, records: records.collect::<Result<_, _>>()? }.checked()
}

pub(super) fn jsonl(source: &Source) -> Result<Content, ReadError> {
    let mut records = Vec::new();
    for (number, line) in lines(source.bytes()?) {
        let whose = format!("line {number}");
        let value = serde_json::from_slice(line)
            .map_err(|error| ReadError::new(format!("{whose} is no JSON: {error}")))?;
        records.push(record(value, &whose)?);
    }
    Content { runs: Vec::new(), records }.checked()
}

/// Lines that hold anything, by their numbers.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = (1..).zip(bytes.split(|byte| *byte == b'\n'));
    numbered.filter(|(_, line)| !line.trim_ascii().is_empty())
}

fn record(value: Value, whose: &str) -> Result<Record, ReadError> {
    is_known(value["schema"].as_u64().unwrap_or(0), whose)?;
    serde_json::from_value(value).map_err(|error| ReadError::new(format!("{whose} is no record: {error}")))
}

fn run(value: Value) -> Result<Run, ReadError> {
    is_known(value["schema"].as_u64().unwrap_or(0), "its run")?;
    serde_json::from_value(value).map_err(|error| ReadError::new(format!("its run cannot be read: {error}")))
}

fn is_known(schema: u64, whose: &str) -> Result<(), ReadError> {
    if schema <= u64::from(SCHEMA) {
        return Ok(());
    }
    let why = format!("{whose} has schema {schema}, this Roofline reads schemas up to {SCHEMA}");
    let hint = "nothing was stored; use the newer Roofline that wrote it".to_owned();
    Err(ReadError { why, hint })
}

impl Content {
    /// Refuses records that no store would take: those without an id or a run, and two of one id.
    fn checked(self) -> Result<Content, ReadError> {
        let mut ids = std::collections::BTreeSet::new();
        for record in &self.records {
            let row = record.row();
            let whose = format!("the record of `{}`", row.escape_debug());
            if record.id.is_empty() || record.run.is_empty() {
                return Err(ReadError::new(format!("{whose} has no id or no run")));
            }
            if !ids.insert(&record.id) {
                return Err(ReadError::new(format!("{whose} has an id that another one has")));
            }
        }
        match self.runs.iter().any(|run| run.id.is_empty()) {
            true => Err(ReadError::new("its run has no id")),
            false => Ok(self),
        }
    }
}
