//! How times grow with one axis, all else the same.

use super::{Rivals, table};
use crate::Style;
use crate::row::Row;
use crate::text::{NONE, escape};
use roofline_core::case::Case;

/// Times of one implementation over the values of the axis.
struct Series<'r, 'a> {
    /// The case with `*` for the axis.
    case: String,
    implementation: &'a str,
    points: Vec<(u64, &'r Row<'a>)>,
}

pub(super) fn write(cases: &[Rivals], axis: &str, style: Style) -> String {
    let series = all_series(cases, axis);
    let mut values: Vec<u64> =
        series.iter().flat_map(|series| series.points.iter().map(|(value, _)| *value)).collect();
    values.sort_unstable();
    values.dedup();
    let columns: Vec<String> = values.iter().map(|value| format!("{axis}={value}")).collect();
    let mut heads = vec![("case", false), ("implementation", false)];
    heads.extend(columns.iter().map(|name| (name.as_str(), true)));
    heads.push(("grows as", true));
    let line = |series: &Series| {
        let at = |value: &u64| series.points.iter().find(|(own, _)| own == value);
        let cell = |value| at(value).map_or(NONE.to_owned(), |(_, row)| row.median_text());
        let mut cells = vec![series.case.clone(), escape(series.implementation)];
        cells.extend(values.iter().map(cell));
        cells.push(growth(&series.points).map_or(NONE.to_owned(), |power| format!("{axis}^{power:.2}")));
        cells
    };
    table(&heads, series.iter().map(line).collect(), style)
}

fn all_series<'r, 'a>(cases: &'r [Rivals<'a>], axis: &str) -> Vec<Series<'r, 'a>> {
    let mut all: Vec<Series> = Vec::new();
    for rivals in cases {
        let Some((value, case)) = without(&rivals.case, axis) else { continue };
        for row in &rivals.rows {
            let implementation = row.record.implementation.as_str();
            let is_own =
                |series: &&mut Series| series.case == case && series.implementation == implementation;
            match all.iter_mut().find(is_own) {
                Some(series) => series.points.push((value, row)),
                None => all.push(Series { case: case.clone(), implementation, points: vec![(value, row)] }),
            }
        }
    }
    all
}

/// The value of an axis in a case, and the case with `*` for it.
fn without(case: &Case, axis: &str) -> Option<(u64, String)> {
    let place = case.operation.axes.iter().position(|known| known.name == axis)?;
    let value = *case.sizes.get(place)?;
    let id = case.to_string();
    let own = format!("{axis}={value}");
    let is_own = |(at, _): &(usize, &str)| {
        let before = id[..*at].chars().next_back();
        let after = id[at + own.len()..].chars().next();
        matches!(before, Some('/' | ',')) && matches!(after, None | Some('/' | ','))
    };
    let (at, _) = id.match_indices(&own).find(is_own)?;
    Some((value, format!("{}{axis}=*{}", &id[..at], &id[at + own.len()..])))
}

/// The power of the axis that times grow with, from its least value to its largest.
fn growth(points: &[(u64, &Row)]) -> Option<f64> {
    let (first, last) =
        (points.iter().min_by_key(|point| point.0)?, points.iter().max_by_key(|point| point.0)?);
    let time = |row: &Row| row.time(0.5).map(|time| time.0.ln());
    let longer = time(last.1)? - time(first.1)?;
    let power = longer / (last.0 as f64 / first.0 as f64).ln();
    power.is_finite().then_some(power)
}
