//! Which rows are shown, and in which order.

use crate::Report;
use crate::row::Row;
use roofline_core::names::is_limit;
use std::cmp::Ordering;

/// What rows are sorted by. The best come first, rows without the value last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The order of the run.
    #[default]
    Case,
    Median,
    Rate,
    OfLimit,
    Against,
    Implementation,
}

impl Sort {
    pub const ALL: &[Sort] =
        &[Sort::Case, Sort::Median, Sort::Rate, Sort::OfLimit, Sort::Against, Sort::Implementation];

    pub fn name(self) -> &'static str {
        match self {
            Sort::Case => "case",
            Sort::Median => "median",
            Sort::Rate => "rate",
            Sort::OfLimit => "of-limit",
            Sort::Against => "against",
            Sort::Implementation => "implementation",
        }
    }

    pub fn find(name: &str) -> Option<Sort> {
        Sort::ALL.iter().copied().find(|sort| sort.name() == name)
    }

    /// What a row is sorted by, smallest first.
    fn key(self, row: &Row) -> Option<f64> {
        match self {
            Sort::Case | Sort::Implementation => None,
            Sort::Median => row.time(0.5).map(|time| time.0),
            Sort::Rate => row.rate().map(|rate| -rate.value()),
            Sort::OfLimit => row.of_limit().map(|(share, _)| -share.value),
            Sort::Against => row.against().map(|comparison| -comparison.speed.value),
        }
    }
}

/// All rows of a report in its order.
pub(crate) fn sorted<'a>(report: &Report<'a>) -> Vec<Row<'a>> {
    let rows = report.records.iter().map(Row::new);
    let mut keyed: Vec<(Option<f64>, Row)> = rows.map(|row| (report.sort.key(&row), row)).collect();
    match report.sort {
        Sort::Case => {}
        Sort::Implementation => {
            keyed.sort_by(|(_, a), (_, b)| a.record.implementation.cmp(&b.record.implementation));
        }
        _ => keyed.sort_by(|(a, _), (b, _)| match (a, b) {
            (Some(a), Some(b)) => a.total_cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        }),
    }
    keyed.into_iter().map(|(_, row)| row).collect()
}

/// The rows that people asked for. Probes stand behind a row's share of its limit, and are shown when
/// there is nothing else.
pub(crate) fn shown<'a>(report: &Report<'a>) -> Vec<Row<'a>> {
    let mut rows = sorted(report);
    if rows.iter().any(|row| !is_limit(&row.record.implementation)) {
        rows.retain(|row| !is_limit(&row.record.implementation));
    }
    rows
}
