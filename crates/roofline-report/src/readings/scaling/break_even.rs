//! From which size on threads pay.

use super::{Family, SpeedUp, fastest, limit_of};
use roofline_core::case::{Cache, Case, Device};
use std::collections::{BTreeMap, BTreeSet};

/// A line for every run of cases that differ in one axis, and for every limit of threads. Cases whose
/// axes change together are one run, ordered by their work.
pub(super) fn lines(families: &[Family]) -> Vec<String> {
    let mut kinds: Vec<(String, Vec<&Family>)> = Vec::new();
    for family in families {
        let kind = kind(&family.case);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, members)) => members.push(family),
            None => kinds.push((kind, vec![family])),
        }
    }
    let mut lines = Vec::new();
    for (kind, families) in &kinds {
        let limits: BTreeSet<u32> = families
            .iter()
            .flat_map(|family| &family.parallel)
            .map(limit_of)
            .filter(|limit| *limit > 1)
            .collect();
        for limit in limits {
            let points = families.iter().filter_map(|family| Point::of(family, limit)).collect::<Vec<_>>();
            let chains = chains(&points);
            lines.extend(
                chains
                    .iter()
                    .map(|chain| format!("{kind}{}, {limit} threads: {}", chain.fixed, chain.words())),
            );
        }
    }
    lines
}

/// What cases of one line have in common beside sizes.
fn kind(case: &Case) -> String {
    let cache = if case.cache == Cache::Cold { ", cold" } else { "" };
    let device = if case.device == Device::Cpu { String::new() } else { format!(", {}", case.device) };
    format!("{}/{}{cache}{device}", case.form(), case.precision)
}

/// One case: the fastest parallel row against the fastest serial one.
struct Point<'a> {
    case: &'a Case,
    speed_up: SpeedUp,
}

impl<'a> Point<'a> {
    fn of(family: &'a Family, limit: u32) -> Option<Point<'a>> {
        let row = fastest(family.parallel.iter().filter(|row| limit_of(row) == limit))?;
        Some(Point { case: &family.case, speed_up: family.speed_up(row)? })
    }

    fn sizes(&self, is_wanted: impl Fn(usize) -> bool) -> String {
        let axes = self.case.operation.axes.iter().zip(&self.case.sizes).enumerate();
        let sizes = axes.filter(|(place, _)| is_wanted(*place));
        sizes.map(|(_, (axis, size))| format!("{}={size}", axis.name)).collect::<Vec<_>>().join(",")
    }
}

/// Cases in the order of their size.
struct Chain<'a> {
    /// The axes that stand still, after a comma.
    fixed: String,
    /// The size in words, and what threads did there.
    points: Vec<(String, &'a Point<'a>)>,
}

fn chains<'a>(points: &'a [Point<'a>]) -> Vec<Chain<'a>> {
    let axes = points.first().map_or(0, |point| point.case.sizes.len());
    let mut chains = Vec::new();
    for axis in 0..axes {
        let mut groups: BTreeMap<Vec<u64>, Vec<&Point>> = BTreeMap::new();
        for point in points {
            let mut others = point.case.sizes.clone();
            others.remove(axis);
            groups.entry(others).or_default().push(point);
        }
        for mut group in groups.into_values().filter(|group| group.len() > 1) {
            group.sort_by_key(|point| point.case.sizes[axis]);
            let fixed = group[0].sizes(|place| place != axis);
            let fixed = if fixed.is_empty() { fixed } else { format!(", {fixed}") };
            let points = group.into_iter().map(|point| (point.sizes(|place| place == axis), point)).collect();
            chains.push(Chain { fixed, points });
        }
    }
    if chains.is_empty() && points.len() > 1 {
        let work = |point: &Point| point.case.sizes.iter().map(|size| *size as f64).product::<f64>();
        let mut all: Vec<&Point> = points.iter().collect();
        all.sort_by(|a, b| work(a).total_cmp(&work(b)));
        let points = all.into_iter().map(|point| (point.sizes(|_| true), point)).collect();
        chains.push(Chain { fixed: String::new(), points });
    }
    chains
}

impl Chain<'_> {
    fn words(&self) -> String {
        let paying = self.points.iter().rev().take_while(|(_, point)| point.speed_up.pays()).count();
        let first = self.points.len() - paying;
        let is_plain = |(_, point): &(String, &Point)| matches!(point.speed_up, SpeedUp::Plain(_));
        let mark = if self.points.iter().any(is_plain) { " (~)" } else { "" };
        match (first, self.points.get(first), self.points.last()) {
            (0, Some((size, _)), _) => format!("parallel pays from {size}, the smallest here{mark}"),
            (_, Some((size, _)), _) => format!("parallel pays from {size}{mark}"),
            (_, None, Some((size, _))) => format!("parallel does not pay up to {size}{mark}"),
            (_, None, None) => String::new(),
        }
    }
}
