//! Go benchmark text: what `go test -bench` prints and benchstat reads.
//!
//! `key: value` lines configure all results below them, `Unit` lines say what is better, `Benchmark`
//! lines are results; all others are logs. Results of one name under one configuration are sets of one
//! row, in order. Times are `ns/op` or `sec/op`; other metrics become notes under their units.

use super::{ReadError, Source};
use crate::foreign::{self, Notes, launches, nanoseconds, not_negative};
use crate::formats::go::own_row;
use roofline_core::protocol::Allocations;
use roofline_core::record::Record;
use roofline_core::stats::median;
use std::collections::BTreeMap;

const NAME: &str = "go";

pub(super) fn is_it(source: &Source) -> bool {
    let text = source.bytes().map(String::from_utf8_lossy).unwrap_or_default();
    text.lines().any(|line| result(line).is_some())
}

/// One line of a benchmark: its name, iterations, and pairs of value and unit.
struct Line<'a> {
    name: &'a str,
    iterations: f64,
    metrics: Vec<(&'a str, &'a str)>,
}

/// What the lines of one name say together.
#[derive(Default)]
struct Group {
    configuration: BTreeMap<String, String>,
    /// Nanoseconds an operation, and operations.
    times: Vec<(f64, f64)>,
    bytes: Vec<f64>,
    allocations: Vec<f64>,
    notes: Notes,
}

pub(super) fn read(source: &Source) -> Result<Vec<Record>, ReadError> {
    let text = std::str::from_utf8(source.bytes()?)
        .map_err(|error| ReadError::new(format!("it is not UTF-8 after byte {}", error.valid_up_to())))?;
    let mut configuration = BTreeMap::new();
    let mut units = BTreeMap::new();
    let mut groups: Vec<(&str, Group)> = Vec::new();
    let mut places = BTreeMap::new();
    for line in text.lines() {
        if let Some(result) = result(line) {
            let place = *places.entry((result.name, configuration.clone())).or_insert_with(|| {
                groups
                    .push((result.name, Group { configuration: configuration.clone(), ..Group::default() }));
                groups.len() - 1
            });
            groups[place].1.add(&result)?;
        } else if let Some(rest) = line.strip_prefix("Unit").filter(|rest| rest.starts_with([' ', '\t'])) {
            unit(rest, &mut units)?;
        } else if let Some((key, value)) = configured(line) {
            match value {
                "" => configuration.remove(key),
                value => configuration.insert(key.to_owned(), value.to_owned()),
            };
        }
    }
    if groups.is_empty() {
        return Err(ReadError::new("it has no line `BenchmarkNAME ITERATIONS VALUE UNIT`"));
    }
    Ok(groups.into_iter().map(|(name, group)| group.into_record(source, name)).collect())
}

/// A result, if the line is one: a name, iterations, and at least one value with its unit.
fn result(line: &str) -> Option<Line<'_>> {
    let mut fields = line.strip_prefix("Benchmark").map(|_| line.split_whitespace())?;
    let (name, iterations) = (fields.next()?, fields.next()?.parse::<u64>().ok()?);
    let rest: Vec<&str> = fields.collect();
    let is_value = |pair: &[&str]| pair[0].parse::<f64>().is_ok();
    let is_whole = !rest.is_empty() && rest.len().is_multiple_of(2) && rest.chunks(2).all(is_value);
    let metrics = rest.chunks(2).map(|pair| (pair[0], *pair.last().unwrap_or(&""))).collect();
    is_whole.then_some(Line { name, iterations: iterations as f64, metrics })
}

/// A configuration line's key and value.
fn configured(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key =
        key.starts_with(char::is_lowercase) && !key.chars().any(|c| c.is_whitespace() || c.is_uppercase());
    let is_value = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_value).then(|| (key, value.trim()))
}

/// Holds that a unit is not said to be two things.
fn unit(rest: &str, units: &mut BTreeMap<(String, String), String>) -> Result<(), ReadError> {
    let mut words = rest.split_whitespace();
    let Some(unit) = words.next() else { return Ok(()) };
    for (key, value) in words.filter_map(|word| word.split_once('=')) {
        let known = units.entry((unit.to_owned(), key.to_owned())).or_insert_with(|| value.to_owned());
        if known != value {
            let unit = unit.escape_debug();
            return Err(ReadError::new(format!(
                "the unit `{unit}` is said to be {key}={known} and {key}={value}"
            )));
        }
    }
    Ok(())
}

impl Group {
    fn add(&mut self, line: &Line) -> Result<(), ReadError> {
        let iterations = launches(line.iterations, "iterations", line.name)?;
        for (text, unit) in &line.metrics {
            let value = foreign::as_number(&(*text).into(), unit, line.name)?;
            match *unit {
                "ns/op" => self.times.push((not_negative(value, unit, line.name)?, iterations)),
                "sec/op" => self.times.push((nanoseconds(value, 9, unit, line.name)?, iterations)),
                "B/op" => self.bytes.push(value),
                "allocs/op" => self.allocations.push(value),
                unit => self.notes.add(unit, text),
            }
        }
        Ok(())
    }

    fn into_record(mut self, source: &Source, name: &str) -> Record {
        let own = own_row(name);
        let is_foreign = own.is_none();
        let row = own.unwrap_or_else(|| (name.to_owned(), format!("imported/{NAME}")));
        let mut record = foreign::record(source, NAME, row);
        let times = self.times.iter().enumerate();
        record.samples =
            times.map(|(set, (mean, launches))| foreign::sample(set, *mean, *launches)).collect();
        match (median(&self.allocations), median(&self.bytes)) {
            (Some(count), Some(bytes)) => record.evidence.allocations = Some(Allocations { count, bytes }),
            _ => {
                let alone = [("B/op", &self.bytes), ("allocs/op", &self.allocations)];
                for (unit, values) in alone {
                    values.iter().for_each(|value| self.notes.add(unit, value));
                }
            }
        }
        if is_foreign {
            record.evidence.threads = procs(name);
        }
        record.provenance.notes = self.notes.into_map();
        record.provenance.notes.append(&mut self.configuration);
        record
    }
}

/// GOMAXPROCS as the end of a name tells it; it is left out where it is 1.
fn procs(name: &str) -> u32 {
    name.rsplit_once('-').and_then(|(_, procs)| procs.parse().ok()).unwrap_or(1)
}
