//! What the formats of other tools have in common: names of rows, numbers, JSON, and the record that
//! a reader makes.
//!
//! Rows go out under `CASE@provider/name` and come back as that; a name that is not ours stays as it is
//! and becomes the case, of the implementation `imported/FORMAT`. A record that was read says so, has
//! the grade `claimed` and no rounds: it is shown, and decides nothing.

use crate::readers::{ReadError, Source};
use roofline_core::case::Case;
use roofline_core::names::is_implementation;
use roofline_core::operation::Work;
use roofline_core::record::{Evidence, Gate, Imported, Provenance, Record, SCHEMA, Sample, Status};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Provider of rows whose names are not ours.
const IMPORTED: &str = "imported";

/// The row that a name of another tool's file stands for: case and implementation.
pub(crate) fn row_of(name: &str, format: &str) -> (String, String) {
    let own = name.rsplit_once('@').filter(|(case, implementation)| {
        let is_foreign = implementation.strip_prefix(IMPORTED).is_some_and(|rest| rest.starts_with('/'));
        is_implementation(implementation) && (is_foreign || own_case(case).is_some())
    });
    match own {
        Some((case, implementation)) => (case.to_owned(), implementation.to_owned()),
        None => (name.to_owned(), format!("{IMPORTED}/{format}")),
    }
}

/// The name of a row in a file of another tool: what was read from such a file keeps its name.
pub(crate) fn name_of(record: &Record, format: &str) -> String {
    let row = (record.case.clone(), record.implementation.clone());
    if row_of(&record.case, format) == row && !row.0.is_empty() { row.0 } else { record.row() }
}

/// A case, if the text is its id to the letter.
pub(crate) fn own_case(id: &str) -> Option<Case> {
    id.parse().ok().filter(|case: &Case| case.to_string() == id)
}

/// Makes each name one of a kind, of at most `longest` bytes: a format may drop or overwrite others.
pub(crate) fn unique(names: impl Iterator<Item = String>, longest: usize, mark: &str) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut unique = Vec::new();
    for name in names {
        let mut own = cut(&name, longest).to_owned();
        let mut number = 1;
        while !taken.insert(own.clone()) {
            number += 1;
            let tail = format!("{mark}{number}");
            own = format!("{}{tail}", cut(&name, longest.saturating_sub(tail.len())));
        }
        unique.push(own);
    }
    unique
}

/// The longest start of `text` of at most `longest` bytes.
pub(crate) fn cut(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}

/// A record of a row that another tool measured; the caller gives it an id, a run and a time.
pub(crate) fn record(source: &Source, format: &str, (case, implementation): (String, String)) -> Record {
    let own = own_case(&case).filter(|case| case.footprint().is_some());
    Record {
        schema: SCHEMA,
        id: String::new(),
        run: String::new(),
        at: String::new(),
        work: own.map_or(Work::default(), |case| (case.operation.work)(&case)),
        case,
        implementation,
        status: Status::Ok,
        why: String::new(),
        reproduce: String::new(),
        place: None,
        against: None,
        gate: Gate::default(),
        samples: Vec::new(),
        rounds: None,
        evidence: Evidence::default(),
        provenance: Provenance {
            roofline: env!("CARGO_PKG_VERSION").to_owned(),
            runner: format.to_owned(),
            imported: Some(Imported { format: format.to_owned(), file: source.name.clone() }),
            ..Provenance::default()
        },
    }
}

/// What a row that has no time says for itself.
pub(crate) fn reason(record: &Record) -> String {
    format!("{}: {}", record.status, record.why)
}

/// The status and the sentence that [`reason`] wrote; of another tool's words, `otherwise`.
pub(crate) fn failure(message: &str, otherwise: Status) -> (Status, String) {
    let told = message.split_once(": ").and_then(|(word, why)| {
        let status = Status::ALL.iter().find(|status| status.name() == word && **status != Status::Ok)?;
        Some((*status, why.to_owned()))
    });
    told.unwrap_or((otherwise, message.to_owned()))
}

/// A sample of `launches` that took `mean` nanoseconds each. More launches than a record can count are
/// given as one of the mean time.
pub(crate) fn sample(set: usize, mean: f64, launches: f64) -> Sample {
    let batch = if launches <= f64::from(u32::MAX) { launches as u32 } else { 1 };
    let total = mean * f64::from(batch);
    let (batch, nanoseconds) = if total.is_finite() { (batch, total) } else { (1, mean) };
    Sample { set: set as u32, visit: 0, batch, nanoseconds }
}

/// `value` · 10^`places`, as if it were written in decimal: a unit is changed without a second rounding.
fn shift(value: f64, places: i32) -> f64 {
    let text = format!("{value:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return value };
    let exponent = exponent.parse::<i32>().unwrap_or(0) + places;
    format!("{digits}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// A number for text formats: short, and the same when it is read.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || (1e-7..1e15).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// Values that a record has no field for, under their own names with their own units.
#[derive(Default)]
pub(crate) struct Notes(BTreeMap<String, Vec<String>>);

impl Notes {
    pub(crate) fn add(&mut self, name: &str, value: impl ToString) {
        self.0.entry(name.to_owned()).or_default().push(value.to_string());
    }

    /// One text a name: the value where all are alike, else all in order.
    pub(crate) fn into_map(self) -> BTreeMap<String, String> {
        let text = |mut values: Vec<String>| {
            if values.windows(2).all(|pair| pair[0] == pair[1]) {
                values.truncate(1);
            }
            values.join(" ")
        };
        self.0.into_iter().map(|(name, values)| (name, text(values))).collect()
    }
}

/// What stands for a number that is none, which JSON has no word for and several tools write all the same.
const NOT_FINITE: &str = "not a finite number: ";

/// Reads JSON in which `NaN` and `Infinity` may stand bare; [`number_of`] refuses them by name.
pub(crate) fn json(bytes: &[u8]) -> Result<Value, ReadError> {
    let (mut text, mut at, mut quoted) = (Vec::with_capacity(bytes.len()), 0, false);
    while let Some(&byte) = bytes.get(at) {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let length = if quoted && byte == b'\\' {
            2
        } else if quoted || !is_word(&byte) {
            quoted ^= byte == b'"';
            1
        } else {
            bytes[at..].iter().take_while(|byte| is_word(byte)).count()
        };
        let word = &bytes[at..bytes.len().min(at + length)];
        at += length;
        if !quoted && is_no_number(word) {
            let name = String::from_utf8_lossy(word);
            text.extend_from_slice(format!("\"{NOT_FINITE}{name}\"").as_bytes());
        } else {
            text.extend_from_slice(word);
        }
    }
    serde_json::from_slice(&text).map_err(|error| ReadError::new(format!("it is no JSON: {error}")))
}

/// Whether a bare `NaN` or `Infinity` stood here.
pub(crate) fn is_not_finite(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.starts_with(NOT_FINITE))
}

fn is_no_number(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    ["nan", "inf", "infinity"].iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// The number under `key` of what is called `whose`; `None` where it is absent or null.
pub(crate) fn number_of(object: &Value, key: &str, whose: &str) -> Result<Option<f64>, ReadError> {
    match &object[key] {
        Value::Null => Ok(None),
        value => as_number(value, key, whose).map(Some),
    }
}

/// A finite number, also one that is written as a string.
pub(crate) fn as_number(value: &Value, key: &str, whose: &str) -> Result<f64, ReadError> {
    let no = |what: &str| ReadError::new(format!("`{key}` of `{}` is {what}", whose.escape_debug()));
    match value {
        Value::Number(number) => {
            number.as_f64().filter(|number| number.is_finite()).ok_or_else(|| no("too large"))
        }
        Value::String(text) => match text.strip_prefix(NOT_FINITE).unwrap_or(text).trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(number) => Err(no(&format!("{number}, which is no measurement"))),
            Err(_) => Err(no("no number")),
        },
        _ => Err(no("no number")),
    }
}

/// A time, or another number that cannot be below zero.
pub(crate) fn not_negative(number: f64, key: &str, whose: &str) -> Result<f64, ReadError> {
    if number >= 0.0 {
        return Ok(number);
    }
    Err(ReadError::new(format!("`{key}` of `{}` is {number}, below zero", whose.escape_debug())))
}

/// A time in units of 10^-`places` nanoseconds as nanoseconds.
pub(crate) fn nanoseconds(time: f64, places: i32, key: &str, whose: &str) -> Result<f64, ReadError> {
    let time = shift(not_negative(time, key, whose)?, places);
    if time.is_finite() {
        return Ok(time);
    }
    Err(ReadError::new(format!("`{key}` of `{}` is longer than any time", whose.escape_debug())))
}

/// A count of launches: whole, at least one.
pub(crate) fn launches(number: f64, key: &str, whose: &str) -> Result<f64, ReadError> {
    if number >= 1.0 && number.fract() == 0.0 {
        return Ok(number);
    }
    let whose = whose.escape_debug();
    Err(ReadError::new(format!("`{key}` of `{whose}` is {number}, no number of launches")))
}

/// The elements of a list.
pub(crate) fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object[key].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_without_a_second_rounding() {
        assert_eq!(shift(0.000540366, 9), 540366.0);
        assert_eq!(shift(0.0010007220000000001, 9), 1000722.0000000001);
        assert_eq!(shift(0.051_411_938_719_971_78, 3), 51.411_938_719_971_78);
        assert_eq!(shift(0.0, 9), 0.0);
        assert!(shift(f64::NAN, 3).is_nan() && shift(f64::MAX, 9).is_infinite());
    }

    #[test]
    fn bare_nan_is_read_and_refused_by_name() {
        let value = json(br#"{"a": NaN, "b": [-Infinity], "c": "NaN \" inf", "nan": 1}"#).unwrap();
        let error = number_of(&value, "a", "x").unwrap_err().to_string();
        assert_eq!(error, "`a` of `x` is NaN, which is no measurement");
        assert!(as_number(&value["b"][0], "b", "x").unwrap_err().to_string().contains("-inf"));
        assert_eq!(value["c"], "NaN \" inf");
        assert_eq!(number_of(&value, "nan", "x").unwrap(), Some(1.0));
        assert!(json(b"{\"a\": 1e999}").is_err() && json(b"\"\\").is_err());
    }

    #[test]
    fn names_that_are_not_ours_stay_as_they_are() {
        let own = ("add/f32/rows=1,cols=2".to_owned(), "cpu/plain".to_owned());
        assert_eq!(row_of("add/f32/rows=1,cols=2@cpu/plain", "go"), own);
        for name in ["BM_sum/64", "user@host/x", "add/f32/cols=2,rows=1@cpu/plain", "@", ""] {
            assert_eq!(row_of(name, "go"), (name.to_owned(), "imported/go".to_owned()));
        }
        assert_eq!(row_of("sleep 1@imported/hyperfine", "go").0, "sleep 1");
        let names = ["long name", "long name", "x"].map(str::to_owned);
        assert_eq!(unique(names.into_iter(), 6, "_"), ["long n", "long_2", "x"]);
    }
}
