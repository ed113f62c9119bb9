//! Targets of a suite, as the rows reached them.

use crate::figures;
use crate::grid::{First, Grid, Head, Line};
use crate::text::{Colour, NONE, escape, plural};
use crate::{Report, Style};
use roofline_core::target::{Metric, Reached, Severity, Standing};

pub(crate) const HEADS: [&str; 5] = ["target", "found", "wanted", "where", "standing"];

/// A target in a line: its id, what was found, what is wanted, in which row, and how it stands.
pub(crate) fn cells(reached: &Reached) -> [String; 5] {
    let Reached { target, standing, found, .. } = reached;
    let ratio = found.as_ref().map_or(NONE.to_owned(), |found| figures::speed(found.ratio));
    let standing = match target.severity {
        Severity::Fail => standing.name().to_owned(),
        Severity::Info => format!("{}, for information", standing.name()),
    };
    let place = match target.metric {
        Metric::Memory if found.is_some() => format!("{}; one reading of each", place(reached)),
        _ => place(reached),
    };
    [target.id.clone(), ratio, target.wants(), place, standing].map(|cell| escape(&cell))
}

/// The row that decides, and among how many.
fn place(reached: &Reached) -> String {
    let cases = plural(reached.cases as u64, "case");
    match reached.found.as_ref().map(|found| &found.rows) {
        None => "no case has a ratio of both sides".to_owned(),
        Some(None) => format!("the mean of {cases}"),
        Some(Some((row, against))) if reached.cases == 1 => format!("{row} beside {against}"),
        Some(Some((row, against))) => format!("{row} beside {against}, the least of {cases}"),
    }
}

/// The targets as a table for a terminal; nothing where there are none.
pub(crate) fn table(report: &Report, style: Style) -> String {
    if report.targets.is_empty() {
        return String::new();
    }
    let line = |reached: &Reached| Line {
        cells: cells(reached).to_vec(),
        colour: Some(match reached.standing {
            Standing::Met => Colour::Green,
            Standing::Missed => Colour::Red,
            Standing::Undecided => Colour::Yellow,
        }),
    };
    let heads = HEADS.map(|name| Head { name: name.to_owned(), right: false }).into();
    let grid = Grid::new(heads, report.targets.iter().map(line).collect(), style);
    if grid.fits(First::Inside) { grid.lines(First::Inside) } else { grid.blocks() }
}
