//! What a row was in the runs of a store, one after the other.
//!
//! Times of two runs say little about each other; what was measured side by side in each does: the share of the limit, and
//! the ratio to whom it was compared with. A row that is held to another definition by now starts a new table.

use crate::Style;
use crate::readings::table;
use crate::row::Row;
use crate::text::{escape, wrap};
use roofline_core::record::Record;

const HEADS: [(&str, bool); 7] = [
    ("finished", false),
    ("median", true),
    ("of limit", true),
    ("compared", false),
    ("version", false),
    ("status", false),
    ("run", false),
];

/// The records of each row in the order they were stored.
pub fn history(records: &[Record], style: Style) -> String {
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
        let defined = |record: &&Record| record.provenance.definition.clone();
        for (number, part) in own.chunk_by(|one, other| defined(one) == defined(other)).enumerate() {
            let since = if number == 0 { "" } else { ", held to another definition since" };
            let lines = part.iter().map(|record| line(record)).collect();
            parts.push(format!("{}{since}\n{}", escape(name), table(&HEADS, lines, style)));
        }
    }
    let words = "Medians of two runs cannot be compared: another hour, another load. What was measured side by side in one \
                 run can, and `roofline ab` decides whether a change made it slower.";
    parts.push(wrap(words, style, "", ""));
    parts.join("\n")
}

fn line(record: &Record) -> Vec<String> {
    let row = Row::new(record);
    let minute = record.at.get(..16).unwrap_or(&record.at);
    vec![
        escape(minute),
        row.median_text(),
        row.of_limit_text(),
        row.against_whom(),
        escape(&record.provenance.runner_version),
        record.status.to_string(),
        escape(&record.run),
    ]
}
