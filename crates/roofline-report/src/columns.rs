//! The columns of the table, for the terminal and for Markdown alike. To add one is a line here.

use crate::row::{Row, provider};
use crate::text::{escape, shorten};

/// A column before the status, which comes last and takes the room that is left.
pub(crate) struct Column {
    pub(crate) header: String,
    /// Numbers align to the right.
    pub(crate) right: bool,
    pub(crate) cell: fn(&Row) -> String,
}

pub(crate) const NOTES: &str = "notes";
pub(crate) const STATUS: &str = "status";
/// Longest name of a hub in a header.
const LONGEST_HUB: usize = 24;

/// The columns that these rows need: what none of them has takes no room.
pub(crate) fn columns(rows: &[Row]) -> Vec<Column> {
    let left = |header: &str, cell| Column { header: header.to_owned(), right: false, cell };
    let right = |header: &str, cell| Column { header: header.to_owned(), right: true, cell };
    let mut columns = vec![
        left("case", |row| escape(&row.record.case)),
        left("implementation", |row| escape(&row.record.implementation)),
        right("threads", |row| row.threads_text()),
        right("median", |row| row.median_text()),
        right("rate", |row| row.rate_text()),
    ];
    if rows.iter().any(|row| row.record.rounds.is_some()) {
        columns.push(right("of limit", |row| row.of_limit_text()));
    }
    match hubs(rows).as_slice() {
        [] => {}
        [hub] => columns.push(left(&against(hub), |row| row.against_text())),
        // The fastest of a provider is another one in another case: the cells say which.
        [first, others @ ..] => {
            let same = others.iter().all(|hub| provider(hub) == provider(first));
            columns
                .push(left(&against(if same { provider(first) } else { "hub" }), |row| row.against_whom()));
        }
    }
    if rows.iter().any(|row| !row.notes().is_empty()) {
        columns.push(left(NOTES, |row| row.notes_text()));
    }
    columns
}

/// What the rows were compared with, each once.
fn hubs<'a>(rows: &[Row<'a>]) -> Vec<&'a str> {
    let mut hubs: Vec<&str> = Vec::new();
    for hub in rows.iter().filter_map(Row::hub) {
        if !hubs.contains(&hub) {
            hubs.push(hub);
        }
    }
    hubs
}

fn against(hub: &str) -> String {
    format!("vs {}", shorten(&escape(hub), LONGEST_HUB))
}
