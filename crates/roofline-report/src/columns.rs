//! The columns of the table, for the terminal and for Markdown alike. To add one is a line here.

use crate::notes::notes;
use crate::row::{Row, provider};
use crate::text::{escape, shorten};

/// A column before the status, which comes last and takes the room that is left.
pub(crate) struct Column {
    pub(crate) header: String,
    /// Numbers align to the right.
    pub(crate) right: bool,
    pub(crate) cell: fn(&Row) -> String,
    /// In little room, the same in fewer words.
    pub(crate) brief_header: String,
    pub(crate) brief: fn(&Row) -> String,
    /// Where there is less room than that, it is left out.
    pub(crate) until: Room,
}

/// How much room the columns take, most first; each step has what the one before has not given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Room {
    /// The case in every row.
    Whole,
    /// The case above its rows.
    BelowCase,
    NoRate,
    NoThreads,
    /// Brief cells.
    Brief,
}

impl Room {
    pub(crate) const ALL: [Room; 5] =
        [Room::Whole, Room::BelowCase, Room::NoRate, Room::NoThreads, Room::Brief];
}

pub(crate) const STATUS: &str = "status";
/// Longest name of a hub in a header.
const LONGEST_HUB: usize = 20;

/// The columns that these rows need, with notes in this form: what no row has takes no room.
pub(crate) fn columns(rows: &[Row], in_notes: fn(&Row) -> String) -> Vec<Column> {
    let column = |header: &str, right, cell| Column {
        header: header.to_owned(),
        brief_header: header.to_owned(),
        right,
        cell,
        brief: cell,
        until: Room::Brief,
    };
    let left = |header: &str, cell| column(header, false, cell);
    let right = |header: &str, cell| column(header, true, cell);
    let mut columns = vec![
        left("case", |row| escape(&row.record.case)),
        Column {
            brief_header: "name".to_owned(),
            ..left("implementation", |row| escape(&row.record.implementation))
        },
        Column { until: Room::NoRate, ..right("threads", |row| row.threads_text()) },
    ];
    if rows.iter().any(|row| row.time(0.5).is_some()) {
        columns.push(right("median", |row| row.median_text()));
        columns.push(Column { until: Room::BelowCase, ..right("rate", |row| row.rate_text()) });
    }
    if rows.iter().any(|row| row.record.rounds.is_some()) {
        columns
            .push(Column { brief: |row| row.share_text(), ..right("of limit", |row| row.of_limit_text()) });
    }
    match hubs(rows).as_slice() {
        [] => {}
        [hub] => columns.push(left(&against(hub), |row| row.against_text())),
        // The fastest of a provider is another one in another case: the cells say which.
        [first, others @ ..] => {
            let same = others.iter().all(|hub| provider(hub) == provider(first));
            columns.push(Column {
                brief: |row| row.against_text(),
                ..left(&against(if same { provider(first) } else { "hub" }), |row| row.against_whom())
            });
        }
    }
    if rows.iter().any(|row| !notes(row).is_empty()) {
        columns.push(left("notes", in_notes));
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
