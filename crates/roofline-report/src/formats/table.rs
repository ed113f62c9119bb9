//! Aligned columns for the terminal, one line a row.
//!
//! Where lines do not fit, the case stands above its rows, then columns that say least are left out, then names are cut
//! in their middle. On a terminal that is too narrow for that, a block a row. Below: every failed row with its reason, its
//! worst element and the command that reproduces it; what the letters in `notes` mean; how many rows are not offered; how
//! many have which status; the run. Commands alone may pass the width, so that they can be copied.

use crate::columns::{Column, Room, STATUS, columns};
use crate::grid::{First, Grid, Head, Line};
use crate::notes::{legend, load};
use crate::order::shown;
use crate::row::{LEAST_REASON, LONGEST_STATUS, Row, not_offered, summary, worst};
use crate::text::{escape, paint, spelled, wrap};
use crate::{Report, Style, targets};

/// From this width on a row has one line, whatever it says.
const ONE_LINE: u16 = 80;

/// So many rows that are not offered are listed, with their reasons, where there is nothing else to see.
const FEW: usize = 4;

pub(super) fn write(report: &Report, style: Style) -> String {
    let rows = shown(report);
    let (mut counted, mut listed): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| !report.all && row.is_not_offered());
    if listed.is_empty() && counted.len() <= FEW {
        std::mem::swap(&mut counted, &mut listed);
    }
    let mut text = String::new();
    if !listed.is_empty() {
        let (lines, room) = layout(&listed, style);
        text += &lines;
        text.push('\n');
        for row in listed.iter().filter(|row| row.has_details(room)) {
            text += &details(row, style);
            text.push('\n');
        }
        let mut label = "notes";
        for (mark, meaning) in legend(&listed) {
            text += &wrap(&meaning, style, &format!("{label:5}  {mark}  "), "          ");
            label = "";
        }
    }
    if let Some(line) = not_offered(&counted) {
        text += &wrap(&line, style, "", "  ");
    }
    let load = load(&listed);
    let all: Vec<Row> = listed.into_iter().chain(counted).collect();
    text += &wrap(&summary(&all), style, "", "  ");
    if let Some(load) = load {
        text += &wrap(&load, style, "", "  ");
    }
    let targets = targets::table(report, style);
    if !targets.is_empty() {
        text += &format!("\n{targets}");
    }
    text + &origin(report, style)
}

/// The run that a report is of, for whoever wants to come back to it.
pub(crate) fn origin(report: &Report, style: Style) -> String {
    report.run.map_or_else(String::new, |run| wrap(&format!("run {}", escape(&run.id)), style, "", "  "))
}

/// The rows in the first way that fits, and the room that a status has in it.
fn layout(rows: &[Row], style: Style) -> (String, usize) {
    let columns = columns(rows, |row| row.marks());
    let longest_word = rows.iter().map(|row| row.record.status.name().len()).fold(STATUS.len(), usize::max);
    let most = style.width.map_or(usize::MAX, usize::from);
    for room in Room::ALL {
        let mut grid = grid(rows, &columns, room, LONGEST_STATUS, style);
        let (first, least) = match room {
            Room::Whole => (First::Inside, LEAST_REASON.min(grid.last())),
            _ => (First::Above, longest_word),
        };
        let left = most.saturating_sub(grid.before_last(first));
        if left >= least {
            grid.replace_last(rows.iter().map(|row| row.status_text(left, style)));
            return (grid.lines(first), left);
        }
    }
    let mut brief = grid(rows, &columns, Room::Brief, 0, style);
    if !brief.shorten_names(1) {
        if style.width.is_some_and(|width| width < ONE_LINE) {
            return (grid(rows, &columns, Room::Whole, LONGEST_STATUS, style).blocks(), LONGEST_STATUS);
        }
        brief.squeeze();
    }
    (brief.lines(First::Above), 0)
}

/// The cells of the rows, in so much room, with so much for the status.
fn grid(rows: &[Row], columns: &[Column], room: Room, status: usize, style: Style) -> Grid {
    let columns: Vec<&Column> = columns.iter().filter(|column| room <= column.until).collect();
    let head = |column: &&Column| {
        let name = if room == Room::Brief { &column.brief_header } else { &column.header };
        Head { name: name.clone(), right: column.right }
    };
    let heads = columns.iter().map(head).chain([Head { name: STATUS.to_owned(), right: false }]);
    let cell = |column: &&Column, row: &Row| {
        if room == Room::Brief { (column.brief)(row) } else { (column.cell)(row) }
    };
    let line = |row: &Row| Line {
        cells: columns
            .iter()
            .map(|column| cell(column, row))
            .chain([row.status_text(status, style)])
            .collect(),
        colour: Some(row.colour()),
    };
    Grid::new(heads.collect(), rows.iter().map(line).collect(), style)
}

/// Why a row failed, and how to see it again.
pub(crate) fn details(row: &Row, style: Style) -> String {
    let record = row.record;
    let head = format!("{}: {}", record.status, escape(&record.row()));
    let mut text = String::new();
    for line in wrap(&head, style, "", "  ").lines() {
        text += &paint(line, row.colour(), style.colour);
        text.push('\n');
    }
    text + &reasons(row, style)
}

/// The reason, the worst element, the pattern, the command; indented.
fn reasons(row: &Row, style: Style) -> String {
    let record = row.record;
    let mut text = String::new();
    let mut say = |words: String| text += &wrap(&escape(&words), style, "  ", "    ");
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
        text += &format!("  reproduce: {}\n", spelled(&escape(&record.reproduce), style));
    }
    text
}
