//! Aligned columns for the terminal.
//!
//! One line a row where the width allows it; else the rows of a case below its id; else, on a narrow
//! terminal, a block a row. Ids and numbers are never broken in the first two; a reason without room
//! stands below, as does every failed row with its reason, its worst element and the command that
//! reproduces it. Last, how many rows have which status. Those commands alone may pass the width, so
//! that they can be copied.

use crate::row::{LEAST_REASON, LONGEST_STATUS, Row, summary, worst};

use crate::text::{Colour, NONE, escape, paint, width, wrap};
use crate::{Report, Style};
use roofline_core::record::Status;
use std::ops::Range;

pub(super) const HEADER: [&str; 7] =
    ["case", "implementation", "threads", "median", "rate", "grade", "status"];

const STATUS: usize = 6;
/// Columns of numbers, which align to the right.
const NUMBERS: Range<usize> = 2..5;
/// Spaces between columns, and before what stands below a case.
const GAP: usize = 2;

pub(super) fn write(report: &Report, style: Style) -> String {
    let rows: Vec<Row> = report.records.iter().map(Row::new).collect();
    if rows.is_empty() {
        return summary(report.records) + "\n";
    }
    let (mut text, room) = layout(&rows, style);
    text.push('\n');
    for row in rows.iter().filter(|row| row.has_details(room)) {
        text += &details(row, style);
        text.push('\n');
    }
    text + &wrap(&summary(report.records), style.width, "", "  ")
}

/// The row's text in each column, the status in `room` columns.
pub(super) fn cells(row: &Row, room: usize) -> [String; 7] {
    [
        escape(&row.record.case),
        escape(&row.record.implementation),
        row.threads_text(),
        row.median_text(),
        row.rate_text(),
        row.grade().unwrap_or(NONE).to_owned(),
        row.status_text(room),
    ]
}

/// The rows in the first way that fits, and the room that a status has in it.
fn layout(rows: &[Row], style: Style) -> (String, usize) {
    let cells_in = |room| -> Vec<[String; 7]> { rows.iter().map(|row| cells(row, room)).collect() };
    let cells = cells_in(LONGEST_STATUS);
    let widths: [usize; 7] = std::array::from_fn(|column| {
        let cells = cells.iter().map(|cells| width(&cells[column]));
        cells.chain([HEADER[column].len()]).max().unwrap_or(0)
    });
    let most = style.width.map_or(usize::MAX, usize::from);
    let room = |from: usize, indent: usize| {
        most.saturating_sub(widths[from..STATUS].iter().map(|width| width + GAP).sum::<usize>() + indent)
    };
    let longest_word = Status::ALL.iter().map(|status| status.name().len()).max().unwrap_or(0);
    let (wide, below) = (room(0, 0), room(1, GAP));
    if wide >= LEAST_REASON.min(widths[STATUS]) {
        (one_line_a_row(rows, &cells_in(wide), &widths, style), wide)
    } else if below >= longest_word {
        (below_their_case(rows, &cells_in(below), &widths, style), below)
    } else {
        (one_block_a_row(rows, &cells, style), LONGEST_STATUS)
    }
}

fn one_line_a_row(rows: &[Row], cells: &[[String; 7]], widths: &[usize; 7], style: Style) -> String {
    let mut text = line("", 0, &HEADER.map(str::to_owned), widths, Colour::Bold, style);
    for (row, cells) in rows.iter().zip(cells) {
        text += &line("", 0, cells, widths, row.colour(), style);
    }
    text
}

fn below_their_case(rows: &[Row], cells: &[[String; 7]], widths: &[usize; 7], style: Style) -> String {
    let indent = " ".repeat(GAP);
    let mut text = line(&indent, 1, &HEADER.map(str::to_owned), widths, Colour::Bold, style);
    let mut case = None;
    for (row, cells) in rows.iter().zip(cells) {
        if case != Some(&cells[0]) {
            text += &wrap(&cells[0], style.width, "", "");
            case = Some(&cells[0]);
        }
        text += &line(&indent, 1, cells, widths, row.colour(), style);
    }
    text
}

/// One row from column `from` on, its status in a colour.
fn line(
    indent: &str,
    from: usize,
    cells: &[String; 7],
    widths: &[usize; 7],
    colour: Colour,
    style: Style,
) -> String {
    let mut start = indent.to_owned();
    for column in from..STATUS {
        let cell = &cells[column];
        let padding = " ".repeat(widths[column] - width(cell));
        let (before, after) = if NUMBERS.contains(&column) { (&*padding, "") } else { ("", &*padding) };
        start += &format!("{before}{cell}{after}{}", " ".repeat(GAP));
    }
    // A header is of one colour, in a row only the status is.
    match colour {
        Colour::Bold => paint(&(start + &cells[STATUS]), colour, style.colour) + "\n",
        _ => start + &paint(&cells[STATUS], colour, style.colour) + "\n",
    }
}

/// The case, and below it what the columns would say.
fn one_block_a_row(rows: &[Row], cells: &[[String; 7]], style: Style) -> String {
    let mut text = String::new();
    for (row, cells) in rows.iter().zip(cells) {
        text += &wrap(&cells[0], style.width, "", "");
        text += &wrap(&cells[1], style.width, "  ", "  ");
        // A number stays beside its unit.
        let facts = (2..STATUS).map(|column| format!("{} {}", HEADER[column], cells[column]));
        let facts: Vec<String> = facts.map(|fact| fact.replace(' ', "\u{a0}")).collect();
        text += &wrap(&facts.join(", "), style.width, "  ", "  ").replace('\u{a0}', " ");
        for line in wrap(&cells[STATUS], style.width, "  ", "    ").lines() {
            text += &paint(line, row.colour(), style.colour);
            text.push('\n');
        }
    }
    text
}

/// Why a row failed, and how to see it again.
fn details(row: &Row, style: Style) -> String {
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
