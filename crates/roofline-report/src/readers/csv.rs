//! The CSV of `roofline export`: rows without their samples.
//!
//! The median stands for a row, and what a record has no field for is a note under the column's name. So it is a claim, as
//! a file of another tool is, and has an id of its own every time that it is read.

use super::{ReadError, Source};
use crate::foreign::{self, Notes, nanoseconds};
use roofline_core::names::is_implementation;
use roofline_core::record::{Record, Sample, Status};
use std::collections::BTreeMap;

const NAME: &str = "csv";
/// What a row cannot do without.
const NEEDED: [&str; 3] = ["case", "implementation", "status"];
/// Columns that are fields of the record, or belong to the record that was written.
const FIXED: [&str; 12] = [
    "run",
    "id",
    "at",
    "case",
    "implementation",
    "status",
    "why",
    "median_seconds",
    "machine",
    "runner",
    "runner_version",
    "reproduce",
];

pub(super) fn is_it(source: &Source) -> bool {
    let bytes = source.bytes().unwrap_or_default();
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let first = first.strip_prefix('\u{feff}').unwrap_or(&first);
    let columns: Vec<&str> = first.trim_end().split(',').collect();
    NEEDED.iter().all(|name| columns.contains(name))
}

pub(super) fn read(source: &Source) -> Result<Vec<Record>, ReadError> {
    let text = std::str::from_utf8(source.bytes()?).map_err(|_| ReadError::new("it is no UTF-8 text"))?;
    let mut lines = fields(text)?.into_iter();
    let names = lines.next().unwrap_or_default();
    if let Some(absent) = NEEDED.iter().find(|name| !names.contains(&(**name).to_owned())) {
        return Err(ReadError::new(format!("it has no column `{absent}`")));
    }
    let numbered = (2..).zip(lines);
    numbered.map(|(number, values)| row(source, &names, values, number)).collect()
}

fn row(source: &Source, names: &[String], values: Vec<String>, number: usize) -> Result<Record, ReadError> {
    if values.len() != names.len() {
        let why = format!("row {number} has {} columns, the first has {}", values.len(), names.len());
        return Err(ReadError::new(why));
    }
    let values: BTreeMap<&str, String> = names.iter().map(String::as_str).zip(values).collect();
    let of = |name: &str| values.get(name).cloned().unwrap_or_default();
    let implementation = of("implementation");
    if !is_implementation(&implementation) {
        let name = implementation.escape_debug();
        return Err(ReadError::new(format!("row {number}: `{name}` is no implementation, `provider/name`")));
    }
    let status = of("status");
    let status = Status::ALL.iter().find(|known| known.name() == status).copied().ok_or_else(|| {
        ReadError::new(format!("row {number}: `{}` is no status of a row", status.escape_debug()))
    })?;
    let mut record = foreign::record(source, NAME, (of("case"), implementation));
    let whose = record.row();
    (record.status, record.why, record.reproduce) = (status, of("why"), of("reproduce"));
    let mut notes = Notes::default();
    let median = of("median_seconds");
    // A row without `ok` has no time.
    if !median.is_empty() && status == Status::Ok {
        let time = foreign::as_number(&median.into(), "median_seconds", &whose)?;
        let nanoseconds = nanoseconds(time, 9, "median_seconds", &whose)?;
        record.samples = vec![Sample { set: 0, visit: 0, batch: 1, nanoseconds }];
        notes.add("aggregate", "median");
    }
    let provenance = &mut record.provenance;
    (provenance.machine, provenance.runner) = (of("machine"), of("runner"));
    provenance.runner_version = of("runner_version");
    for (name, value) in values.iter().filter(|(name, value)| !FIXED.contains(name) && !value.is_empty()) {
        notes.add(name, value);
    }
    record.provenance.notes = notes.into_map();
    Ok(record)
}

/// The fields of each line, quoted as RFC 4180 says; empty lines are none.
fn fields(text: &str) -> Result<Vec<Vec<String>>, ReadError> {
    let (mut lines, mut line, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut was_quoted) = (false, false);
    let mut characters = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            _ if quoted => field.push(character),
            '"' if field.is_empty() && !was_quoted => (quoted, was_quoted) = (true, true),
            '\r' if characters.peek() == Some(&'\n') => {}
            ',' | '\n' => {
                line.push(std::mem::take(&mut field));
                let is_blank = line.len() == 1 && line[0].is_empty() && !was_quoted;
                was_quoted = false;
                if character == '\n' {
                    let whole = std::mem::take(&mut line);
                    lines.extend((!is_blank).then_some(whole));
                }
            }
            _ if was_quoted => {
                let number = lines.len() + 1;
                return Err(ReadError::new(format!("row {number} has text behind a closing quote")));
            }
            _ => field.push(character),
        }
    }
    if quoted {
        return Err(ReadError::new("a quote is not closed: the file ends within a field"));
    }
    if !field.is_empty() || !line.is_empty() || was_quoted {
        line.push(field);
        lines.push(line);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_those_of_rfc_4180() {
        let read = |text: &str| fields(text).map_err(|error| error.why);
        let words = |lines: &[&[&str]]| -> Vec<Vec<String>> {
            lines.iter().map(|line| line.iter().map(|word| (*word).to_owned()).collect()).collect()
        };
        assert_eq!(
            read("a,\"b,\"\"c\"\"\n\",\r\n\n1,2,3").unwrap(),
            words(&[&["a", "b,\"c\"\n", ""], &["1", "2", "3"]])
        );
        assert_eq!(read("").unwrap(), words(&[]));
        assert_eq!(read("a,").unwrap(), words(&[&["a", ""]]));
        assert!(read("\"a").unwrap_err().contains("not closed"));
        assert!(read("\"a\"b").unwrap_err().contains("behind a closing quote"));
    }
}
