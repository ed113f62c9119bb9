//! Aligned columns for the terminal.
//!
//! One line a row where the width allows it, long notes below their row where need be; else the rows
//! of a case below its id, then all notes below their rows; else, on a narrow terminal, a block a row. Ids and numbers are broken in
//! blocks only; a reason without room stands below, as does every failed row with its reason, its
//! worst element and the command that reproduces it. Last, how many rows have which status. Those
//! commands alone may pass the width, so that they can be copied.

use crate::columns::{NOTES, STATUS, columns};
use crate::grid::{Grid, Head, Line, Overflow, Shape};
use crate::order::shown;
use crate::row::{LEAST_REASON, LONGEST_STATUS, Row, summary, worst};
use crate::text::{escape, paint, wrap};
use crate::{Report, Style, targets};

/// How wide notes may be to stand in their row, tried in turn; the least is that of a usual row.
const NOTES_IN_ROW: [usize; 4] = [usize::MAX, 40, 30, 22];

pub(super) fn write(report: &Report, style: Style) -> String {
    let rows = shown(report);
    if rows.is_empty() {
        return summary(&rows) + "\n";
    }
    let (mut text, room) = layout(&rows, style);
    text.push('\n');
    for row in rows.iter().filter(|row| row.has_details(room)) {
        text += &details(row, style);
        text.push('\n');
    }
    text += &wrap(&summary(&rows), style.width, "", "  ");
    let targets = targets::table(report, style);
    if targets.is_empty() { text } else { format!("{text}\n{targets}") }
}

/// The rows in the first way that fits, and the room that a status has in it.
fn layout(rows: &[Row], style: Style) -> (String, usize) {
    let columns = columns(rows);
    let mut heads: Vec<Head> =
        columns.iter().map(|column| Head { name: column.header.clone(), right: column.right }).collect();
    heads.push(Head { name: STATUS.to_owned(), right: false });
    let line = |row: &Row| Line {
        cells: columns
            .iter()
            .map(|column| (column.cell)(row))
            .chain([row.status_text(LONGEST_STATUS)])
            .collect(),
        colour: Some(row.colour()),
    };
    let mut grid = Grid { heads, lines: rows.iter().map(line).collect() };

    let notes = columns.iter().position(|column| column.header == NOTES);
    let shape = |first_above, most| {
        let overflow = notes.map(|column| Overflow { column, most });
        Shape { first_above, overflow }
    };
    let longest_word = rows.iter().map(|row| row.record.status.name().len()).fold(STATUS.len(), usize::max);
    let reason = LEAST_REASON.min(grid.last());
    let one_line = NOTES_IN_ROW.map(|most| (shape(false, most), reason));
    let below_case = NOTES_IN_ROW.map(|most| (shape(true, most), longest_word));
    let ways = one_line.into_iter().chain(below_case).chain([(shape(true, 0), longest_word)]);
    let most = style.width.map_or(usize::MAX, usize::from);
    let mut rooms = ways.map(|(shape, least)| (shape, least, most.saturating_sub(grid.before_last(shape))));
    let Some((shape, _, room)) = rooms.find(|(_, least, room)| room >= least) else {
        return (grid.blocks(style), LONGEST_STATUS);
    };
    for (line, row) in grid.lines.iter_mut().zip(rows) {
        line.cells.pop();
        line.cells.push(row.status_text(room));
    }
    (grid.lines(shape, style), room)
}

/// Why a row failed, and how to see it again.
pub(crate) fn details(row: &Row, style: Style) -> String {
    let record = row.record;
    let head = format!("{}: {}", record.status, escape(&record.row()));
    let mut text = String::new();
    for line in wrap(&head, style.width, "", "  ").lines() {
        text += &paint(line, row.colour(), style.colour);
        text.push('\n');
    }
    text + &reasons(row, style)
}

/// The reason, the worst element, the pattern, the command; indented.
fn reasons(row: &Row, style: Style) -> String {
    let record = row.record;
    let mut text = String::new();
    let mut say = |words: String| text += &wrap(&escape(&words), style.width, "  ", "    ");
    if !record.why.is_empty() {
        say(record.why.clone());
    }
    if let Some(fault) = &record.gate.fault {
        say(format!("worst: {}", worst(fault)));
        if let Some(pattern) = &fault.pattern {
            say(format!("pattern: {pattern}"));
        }
    }
    if !record.gate.seen_in.is_empty() {
        say(format!("seen in: {}", record.gate.seen_in));
    }
    if !record.reproduce.is_empty() {
        text += &format!("  reproduce: {}\n", escape(&record.reproduce));
    }
    text
}
