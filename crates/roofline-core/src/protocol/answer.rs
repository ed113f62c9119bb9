//! What a runner may answer. A line of its making becomes a value in one place, [`parse_answer`], and
//! every number, text and list of that value is bounded there: nobody behind it meets a time of
//! 10³⁰⁸ ns or a million notes.

use super::{
    Allocations, Answer, Ask, Hello, Launched, MAX_LINE, OLDEST, Offer, Prepared, Question, Refusal, VERSION,
    Visited, condition, excerpt,
};
use crate::names::is_implementation;
use crate::operation::own::{Declarer, Own};
use crate::precision::is_id;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Longest visit, all samples together, in nanoseconds: a day, beyond every deadline.
const LONGEST_VISIT: f64 = 86_400e9;
/// Shortest sample, in nanoseconds. No clock tells less, and nothing takes no time.
const SHORTEST_SAMPLE: f64 = 1e-3;
/// More threads than any machine runs.
const MOST_THREADS: u32 = 1 << 16;
/// More memory than any machine has: a pebibyte.
const MOST_BYTES: u64 = 1 << 50;
const MOST_OFFERS: usize = 4096;
const MOST_OPERATIONS: usize = 64;
/// Dtypes and devices of an offer, devices of a runner, notes.
const MOST_ENTRIES: usize = 64;
/// Longest name or version, in bytes.
const LONGEST_NAME: usize = 256;
/// Longest sentence or note, in bytes.
const LONGEST_TEXT: usize = 4096;

/// A line that breaks the protocol, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Breach(pub String);

/// What can stand in `ok`. Only [`parse_answer`] makes one of a runner's line.
pub trait Answerable: DeserializeOwned + Serialize {
    /// Whether every part of it is within what an answer to `ask` may say.
    fn check(&self, ask: &Ask) -> Result<(), Breach>;
}

/// Reads the answer to a question, as `T` or as the runner's refusal.
pub fn parse_answer<T: Answerable>(line: &[u8], question: &Question) -> Result<Result<T, Refusal>, Breach> {
    if line.len() > MAX_LINE {
        return Err(Breach(format!("a line of {} bytes; {MAX_LINE} is the limit", line.len())));
    }
    let not_an_answer =
        |why: &dyn Display| Breach(format!("not an answer: {why}; the line began {}", excerpt(line)));
    let given: Value = serde_json::from_slice(line).map_err(|error| not_an_answer(&error))?;
    if given.is_array() || given.get("error").is_some_and(Value::is_array) {
        return Err(not_an_answer(&NO_OBJECT));
    }
    let answer: Answer = serde_json::from_value(given).map_err(|error| not_an_answer(&in_short(error)))?;
    if answer.id != question.id {
        return Err(Breach(format!("answered question {} when asked question {}", answer.id, question.id)));
    }
    match (answer.ok, answer.error) {
        (Some(value), None) => {
            let answer: T = understand(&value)
                .map_err(|why| Breach(format!("not the answer to this question: {why}")))?;
            answer.check(&question.ask)?;
            Ok(Ok(answer))
        }
        (None, Some(refusal)) => Ok(Err(refusal)),
        _ => Err(Breach("an answer has either `ok` or `error`".to_owned())),
    }
}

const NO_OBJECT: &str = "a list where an object belongs";

/// What serde says of a hostile text may quote all of it.
fn in_short(error: serde_json::Error) -> String {
    error.to_string().chars().take(LONGEST_NAME).collect()
}

/// Reads a value in which every object of `T` is an object: serde would take a list of its fields as well.
fn understand<T: DeserializeOwned + Serialize>(given: &Value) -> Result<T, String> {
    let understood = T::deserialize(given).map_err(in_short)?;
    let again = serde_json::to_value(&understood).map_err(in_short)?;
    match has_objects_of(given, &again) {
        true => Ok(understood),
        false => Err(NO_OBJECT.to_owned()),
    }
}

fn has_objects_of(given: &Value, understood: &Value) -> bool {
    match (given, understood) {
        (Value::Object(given), Value::Object(understood)) => understood
            .iter()
            .all(|(name, part)| given.get(name).is_none_or(|given| has_objects_of(given, part))),
        (_, Value::Object(_)) => false,
        // The numbers of a visit may be ten thousand; none of them holds an object.
        (Value::Array(given), Value::Array(understood))
            if understood.first().is_some_and(Value::is_object) =>
        {
            given.iter().zip(understood).all(|(given, part)| has_objects_of(given, part))
        }
        _ => true,
    }
}

/// The answer to `release` and `bye`: an object in which nothing needs to stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {}

impl Answerable for Done {
    fn check(&self, _: &Ask) -> Result<(), Breach> {
        Ok(())
    }
}

impl Answerable for Hello {
    fn check(&self, _: &Ask) -> Result<(), Breach> {
        if !(OLDEST..=VERSION).contains(&self.protocol) {
            return Err(Breach(format!(
                "the runner speaks protocol {}; this conductor speaks {OLDEST} to {VERSION}",
                self.protocol
            )));
        }
        if self.version.trim().is_empty() {
            return Err(Breach("the runner gives no version; no version, no measurement".to_owned()));
        }
        within("name", &self.runner, LONGEST_NAME)?;
        within("version", &self.version, LONGEST_NAME)?;
        names("devices", &self.devices)?;
        at_most("offers", self.offers.len(), MOST_OFFERS)?;
        self.offers.iter().try_for_each(check_offer)?;
        at_most("operations", self.operations.len(), MOST_OPERATIONS)?;
        for declaration in &self.operations {
            // Whether it can be brought along depends on the others; whether it can be meant does not.
            let parsed = Own::parse(declaration.clone(), Declarer::default(), |_, _, _| Err(String::new()));
            let name = excerpt(declaration.name.as_bytes());
            parsed.map_err(|why| Breach(format!("declares the operation {name}: {why}")))?;
        }
        check_notes(&self.notes)
    }
}

fn check_offer(offer: &Offer) -> Result<(), Breach> {
    if !is_implementation(&offer.implementation) {
        return Err(Breach(format!(
            "offers `{}`, which is not `provider/name` of letters, digits, `-`, `_` and `.`",
            excerpt(offer.implementation.as_bytes())
        )));
    }
    within("operation", &offer.operation, LONGEST_NAME)?;
    at_most("dtypes of an offer", offer.dtypes.len(), MOST_ENTRIES)?;
    if let Some(id) = offer.dtypes.iter().find(|id| !is_id(id)) {
        let (id, implementation) = (excerpt(id.as_bytes()), &offer.implementation);
        return Err(Breach(format!("offers `{implementation}` for the dtype {id}, which is none")));
    }
    names("parameters of an offer", &offer.params)?;
    within("sentence about an offer", &offer.about, LONGEST_TEXT)?;
    within("condition of an offer", &offer.requires, LONGEST_TEXT)?;
    condition(offer)?;
    names("devices of an offer", &offer.devices)
}

impl Answerable for Prepared {
    fn check(&self, _: &Ask) -> Result<(), Breach> {
        at_most("threads", self.threads, MOST_THREADS)?;
        at_most("bytes of workspace", self.workspace_bytes, MOST_BYTES)?;
        check_notes(&self.notes)
    }
}

impl Answerable for Launched {
    fn check(&self, _: &Ask) -> Result<(), Breach> {
        let Allocations { count, bytes } = self.allocations.unwrap_or_default();
        for (what, number) in [("allocations", count), ("allocated bytes", bytes)] {
            number_within(what, number, 0.0..=MOST_BYTES as f64)?;
        }
        Ok(())
    }
}

impl Answerable for Visited {
    /// Bounds what a sample may look like; the runner's claim is weighed elsewhere.
    fn check(&self, ask: &Ask) -> Result<(), Breach> {
        if let Ask::Visit { samples, .. } = ask
            && self.nanoseconds.len() != *samples as usize
        {
            return Err(Breach(format!("{} samples when asked for {samples}", self.nanoseconds.len())));
        }
        for time in &self.nanoseconds {
            number_within("ns a sample", *time, SHORTEST_SAMPLE..=LONGEST_VISIT)?;
        }
        let copy = self.copy_nanoseconds.unwrap_or_default();
        number_within("ns a copy", copy, 0.0..=LONGEST_VISIT)?;
        number_within("ns of the host", self.host_nanoseconds.unwrap_or_default(), 0.0..=LONGEST_VISIT)?;
        let copies = copy * self.nanoseconds.len() as f64;
        number_within("ns a visit", self.nanoseconds.iter().sum::<f64>() + copies, 0.0..=LONGEST_VISIT)
    }
}

fn check_notes(notes: &BTreeMap<String, String>) -> Result<(), Breach> {
    at_most("notes", notes.len(), MOST_ENTRIES)?;
    notes.iter().try_for_each(|(name, note)| {
        within("name of a note", name, LONGEST_NAME)?;
        within("note", note, LONGEST_TEXT)
    })
}

fn names(what: &str, names: &[String]) -> Result<(), Breach> {
    at_most(what, names.len(), MOST_ENTRIES)?;
    names.iter().try_for_each(|name| within("name of a device", name, LONGEST_NAME))
}

fn within(what: &str, text: &str, longest: usize) -> Result<(), Breach> {
    match text.len() {
        length if length > longest => Err(Breach(format!(
            "a {what} of {length} bytes; {longest} is the limit: {}",
            excerpt(text.as_bytes())
        ))),
        _ => Ok(()),
    }
}

fn at_most<N: PartialOrd + Display>(what: &str, number: N, most: N) -> Result<(), Breach> {
    if number > most { Err(Breach(format!("{number} {what}; {most} is the limit"))) } else { Ok(()) }
}

/// NaN is in no range.
fn number_within(what: &str, number: f64, range: RangeInclusive<f64>) -> Result<(), Breach> {
    if range.contains(&number) {
        return Ok(());
    }
    Err(Breach(format!("{number:e} {what}; {:e} to {:e} can be", range.start(), range.end())))
}

#[cfg(test)]
mod tests;
