//! Who wins how often, and by how much.

use super::{Rivals, speed_over, table};
use crate::Style;
use crate::figures;
use crate::row::{Row, is_sane};
use crate::text::{NONE, escape, plural};
use roofline_core::verdict::{Lead, Ratio};

/// How a row stands among those of its case.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Faster than every other, for sure.
    Won,
    /// Nobody is faster for sure.
    Tied,
    /// Somebody is, or nobody was measured beside it.
    Neither,
}

/// Of every implementation: its cases, in how many it wins or nobody beats it, and how it compares with the hub that was
/// asked for, or else the slowest, over all cases that both have. Means of times of different cases would say nothing, so
/// there are none.
pub(super) fn write(cases: &[Rivals], style: Style) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in cases.iter().flat_map(|rivals| &rivals.rows) {
        let name = row.record.implementation.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let reference = hub_of_all(cases).or_else(|| slowest(cases, &names)).unwrap_or_default();
    let beside = format!("speed beside {}", escape(reference));
    let heads =
        [("implementation", false), ("cases", true), ("won", true), ("tied", true), (beside.as_str(), false)];
    let line = |name: &&str| {
        let own: Vec<(&Rivals, &Row)> =
            cases.iter().filter_map(|rivals| Some((rivals, find(rivals, name)?))).collect();
        let places: Vec<Place> = own.iter().map(|(rivals, row)| place(rivals, row)).collect();
        let count = |wanted: Place| places.iter().filter(|place| **place == wanted).count().to_string();
        let mean = if *name == reference { None } else { mean(&own, reference) };
        let speed = mean.map_or(NONE.to_owned(), |(ratio, cases)| {
            format!("{} in {}", figures::speed(ratio), plural(cases as u64, "case"))
        });
        vec![escape(name), own.len().to_string(), count(Place::Won), count(Place::Tied), speed]
    };
    table(&heads, names.iter().map(line).collect(), style)
}

/// The slowest of those with the most cases.
fn slowest<'n>(cases: &[Rivals], names: &[&'n str]) -> Option<&'n str> {
    let weight = |name: &str| {
        let rows = cases.iter().filter_map(|rivals| find(rivals, name));
        let times: Vec<f64> = rows.filter_map(|row| Some(row.time(0.5)?.0.ln())).collect();
        (times.len(), times.iter().sum::<f64>())
    };
    let heavier =
        |one: (usize, f64), other: (usize, f64)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1));
    names.iter().copied().max_by(|one, other| heavier(weight(one), weight(other)))
}

/// What rows were asked to be compared with, where it is the same for all.
fn hub_of_all<'a>(cases: &[Rivals<'a>]) -> Option<&'a str> {
    let rows = cases.iter().flat_map(|rivals| &rivals.rows);
    let mut hubs: Vec<&str> = rows.filter(|row| row.against().is_some()).filter_map(|row| hub(row)).collect();
    hubs.dedup();
    if hubs.len() == 1 { hubs.pop() } else { None }
}

fn hub<'a>(row: &Row<'a>) -> Option<&'a str> {
    row.record.rounds.as_ref().map(|rounds| rounds.hub.as_str())
}

fn find<'r, 'a>(rivals: &'r Rivals<'a>, name: &str) -> Option<&'r Row<'a>> {
    rivals.rows.iter().find(|row| row.record.implementation == name)
}

fn place(rivals: &Rivals, row: &Row) -> Place {
    let others = rivals.rows.iter().filter(|other| !std::ptr::eq(other.record, row.record));
    let ratios: Option<Vec<Ratio>> = others.map(|other| speed_over(row, other)).collect();
    match ratios.filter(|ratios| !ratios.is_empty()) {
        Some(ratios) if ratios.iter().all(|ratio| ratio.low > 1.0) => Place::Won,
        Some(ratios) if ratios.iter().all(|ratio| ratio.high >= 1.0) => Place::Tied,
        _ => Place::Neither,
    }
}

/// The geometric mean of how many times as fast as the reference, and over how many cases.
fn mean(own: &[(&Rivals, &Row)], reference: &str) -> Option<(Ratio, usize)> {
    let lead = |(rivals, row): &(&Rivals, &Row)| row.record.lead_over(find(rivals, reference)?.record);
    let leads: Vec<Lead> = own.iter().filter_map(lead).filter(|lead| lead.ratio().is_some()).collect();
    Some((Lead::mean(&leads)?.ratio().filter(is_sane)?, leads.len()))
}
