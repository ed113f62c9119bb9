//! What a row was in the runs of a store, one after the other.
//!
//! A row that is held to another definition by now, or measured on another machine, starts a new table: there is no line from one
//! to the other.

use crate::Style;
use crate::figures;
use crate::past::{Change, Figure, Sign, differs};
use crate::readings::table;
use crate::row::Row;
use crate::text::{NONE, escape, wrap};
use roofline_core::record::Record;

const HEADS: [(&str, bool); 8] = [
    ("finished", false),
    ("revision", false),
    ("median", true),
    ("of limit", true),
    ("beside", false),
    ("since", false),
    ("status", false),
    ("run", false),
];

/// The records of each row in the order of their times. `revision` says at which commit a run, by its id, was measured.
pub fn history(records: &[Record], revision: impl Fn(&str) -> String, style: Style) -> String {
    let mut rows: Vec<(String, Vec<&Record>)> = Vec::new();
    for record in records {
        let name = record.row();
        match rows.iter_mut().find(|(known, _)| *known == name) {
            Some((_, own)) => own.push(record),
            None => rows.push((name, vec![record])),
        }
    }
    let mut parts = Vec::new();
    for (name, own) in &rows {
        let mut before: Option<&Record> = None;
        for part in own.chunk_by(|one, other| differs(one, other).is_none()) {
            let why = before.and_then(|before| differs(before, part[0]));
            let since = why.map_or(String::new(), |why| format!(", {why} since"));
            let lines = (0..part.len()).map(|at| line(part, at, &revision)).collect();
            parts.push(format!("{}{since}\n{}", escape(name), table(&HEADS, lines, style)));
            before = part.last().copied();
        }
    }
    let words = "Medians of two runs cannot be compared: another hour, another load. What was measured side by side in one run \
                 can, within 12 % for a share of a limit of traffic on one thread, 25 % on several, 30 % for the rest; \
                 `since` has what went beyond that since the record before. `roofline ab` decides whether a change made \
                 it slower.";
    parts.push(wrap(words, style, "", ""));
    parts.join("\n")
}

fn line(part: &[&Record], at: usize, revision: &impl Fn(&str) -> String) -> Vec<String> {
    let record = part[at];
    let row = Row::new(record);
    let minute = record.at.get(..16).unwrap_or(&record.at);
    let none = || NONE.to_owned();
    let figures = Figure::of(record);
    let share =
        figures.iter().find_map(|figure| matches!(figure, Figure::Share { .. }).then(|| figure.text()));
    let beside = figures.iter().find_map(|figure| match figure {
        Figure::Speed { hub, .. } => Some(format!("{} {}", figure.text(), escape(hub))),
        _ => None,
    });
    // The one before that has a time: between the two may stand a row that failed.
    let before = part[..at].iter().rev().find(|before| !Figure::of(before).is_empty());
    let change = before.and_then(|before| Change::between(before, record));
    let since = change.and_then(|change| match change.sign() {
        Sign::None => None,
        Sign::Faster => Some(format!("faster, {}?", figures::signed_percent(change.speed))),
        Sign::Slower => Some(format!("slower, {}?", figures::signed_percent(change.speed))),
    });
    let commit = revision(&record.run);
    vec![
        escape(minute),
        if commit.is_empty() { none() } else { escape(&commit) },
        row.median_text(),
        share.unwrap_or_else(none),
        beside.unwrap_or_else(none),
        since.unwrap_or_else(none),
        record.status.to_string(),
        escape(&record.run),
    ]
}
