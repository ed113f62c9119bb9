//! Readings: tables that answer one question, where the table of rows answers all.
//!
//! To add one, write `readings/<name>.rs` and add it to [`Reading`].

mod best;
mod by;
mod scaling;
mod wins;

use crate::formats::table::{details, origin};
use crate::grid::{First, Grid, Head, Line};
use crate::order::shown;
use crate::row::{LONGEST_STATUS, Row, is_sane, summary};
use crate::text::wrap;
use crate::{Report, Sort, Style};
use roofline_core::case::Case;
use roofline_core::nearest::nearest;
use roofline_core::target::Choice;
use roofline_core::verdict::Ratio;
pub use scaling::scaling;

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// What are threads worth?
    Scaling,
    /// Which implementation for which case, and why?
    Best(Choice),
    /// Who wins how often, and by how much?
    Wins,
    /// How do times grow with an axis, all else the same?
    By(String),
}

/// No case has an axis of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no case here has the axis `{axis}`")]
pub struct UnknownAxis {
    axis: String,
    known: Vec<String>,
}

impl UnknownAxis {
    pub fn hint(&self) -> String {
        match nearest(&self.axis, self.known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("their axes are {}", self.known.join(", ")),
        }
    }
}

impl Reading {
    /// Whether there is anything to be read in some cases.
    pub fn check<'a>(&self, cases: impl IntoIterator<Item = &'a Case>) -> Result<(), UnknownAxis> {
        let Reading::By(axis) = self else { return Ok(()) };
        let axes = cases.into_iter().flat_map(|case| case.operation.axes).map(|axis| axis.name.to_owned());
        let mut known: Vec<String> = axes.collect();
        known.sort();
        known.dedup();
        if known.contains(axis) { Ok(()) } else { Err(UnknownAxis { axis: axis.clone(), known }) }
    }

    pub fn write(&self, report: &Report, style: Style) -> String {
        let text = match self {
            Reading::Scaling => return scaling(report, style) + &origin(report, style),
            Reading::Best(choice) => best::write(&cases(report), *choice, style),
            Reading::Wins => wins::write(&cases(report), style),
            Reading::By(axis) => by::write(&cases(report), axis, style),
        };
        [vec![text], tell_untimed(&untimed(report), style)].concat().join("\n") + &origin(report, style)
    }
}

/// The rows of one case that have a time, in the order of the run: the simplest of a provider first.
struct Rivals<'a> {
    case: Case,
    rows: Vec<Row<'a>>,
}

impl<'a> Rivals<'a> {
    fn fastest(&self) -> Option<&Row<'a>> {
        let time = |row: &&Row| row.time(0.5).map_or(f64::INFINITY, |time| time.0);
        self.rows.iter().min_by(|one, other| time(one).total_cmp(&time(other)))
    }
}

/// Rows without a time, or of no case.
fn untimed<'a>(report: &Report<'a>) -> Vec<Row<'a>> {
    let is_timed = |row: &Row| row.time(0.5).is_some() && row.case.is_some();
    shown(report).into_iter().filter(|row| !is_timed(row)).collect()
}

/// What failed and why, and how many rows say nothing.
pub(crate) fn tell_untimed(rows: &[Row], style: Style) -> Vec<String> {
    let failed = rows.iter().filter(|row| row.has_details(LONGEST_STATUS));
    let mut parts: Vec<String> = failed.map(|row| details(row, style)).collect();
    if !rows.is_empty() {
        parts.push(wrap(&format!("without a time: {}", summary(rows)), style, "", "  "));
    }
    parts
}

/// Rows with a time, gathered by case, in the order of the run whatever the report's.
fn cases<'a>(report: &Report<'a>) -> Vec<Rivals<'a>> {
    let mut cases: Vec<Rivals> = Vec::new();
    let in_order = Report { sort: Sort::Case, ..*report };
    for row in shown(&in_order).into_iter().filter(|row| row.time(0.5).is_some()) {
        let Some(case) = row.case.clone() else { continue };
        match cases.iter_mut().find(|rivals| rivals.case == case) {
            Some(rivals) => rivals.rows.push(row),
            None => cases.push(Rivals { case, rows: vec![row] }),
        }
    }
    cases
}

/// How many times as fast as another row of its case a row is, where both were measured in the same sets.
pub(crate) fn speed_over(row: &Row, other: &Row) -> Option<Ratio> {
    row.record.lead_over(other.record).and_then(|lead| lead.ratio()).filter(is_sane)
}

/// A table with these columns, numbers to the right; as blocks where it is too wide.
pub(crate) fn table(heads: &[(&str, bool)], lines: Vec<Vec<String>>, style: Style) -> String {
    if lines.is_empty() {
        return "no row has a time\n".to_owned();
    }
    let heads = heads.iter().map(|(name, right)| Head { name: (*name).to_owned(), right: *right }).collect();
    let lines = lines.into_iter().map(|cells| Line { cells, colour: None }).collect();
    Grid::new(heads, lines, style).lines_or_blocks(&[First::Inside, First::Above])
}
