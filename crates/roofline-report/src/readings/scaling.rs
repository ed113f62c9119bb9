//! What threads are worth: serial implementations against parallel ones, and from which size on.
//!
//! `threads` of a case is an upper limit, so serial implementations take part in the cases of parallel
//! ones and are visited beside the same hub: a speed-up is a paired ratio there. Where the two never
//! met it is one of medians, and marked `~`.

mod break_even;
mod candidates;

use super::{speed_over, tell_untimed};
use crate::figures;
use crate::grid::{First, Grid, Head, Line};
use crate::order::shown;
use crate::row::Row;
use crate::text::{NONE, escape, wrap};
use crate::{Report, Style};
use roofline_core::case::Case;
use roofline_core::verdict::Ratio;
use std::collections::BTreeSet;

/// Times, speed-up over the fastest serial implementation and efficiency, a case after the other;
/// then the sizes from which threads pay, whether they pay where one would think so, and rows that failed.
pub fn scaling(report: &Report, style: Style) -> String {
    let rows = shown(report);
    let (timed, others): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.time(0.5).is_some() && row.case.is_some());
    let families = families(timed);
    let mut parts = Vec::new();
    if !families.is_empty() {
        parts.push(table(&families, style));
    }
    for lines in [break_even::lines(&families), candidates::lines(&families)] {
        let lines: Vec<String> = lines.iter().map(|line| wrap(line, style, "", "  ")).collect();
        if !lines.is_empty() {
            parts.push(lines.concat());
        }
    }
    parts.extend(tell_untimed(&others, style));
    if parts.is_empty() {
        return "without a time: no rows\n".to_owned();
    }
    parts.join("\n")
}

/// The rows of a case at all its limits of threads.
struct Family<'a> {
    /// With one thread.
    case: Case,
    serial: Vec<Row<'a>>,
    parallel: Vec<Row<'a>>,
}

/// How many times as fast.
#[derive(Clone, Copy)]
enum SpeedUp {
    Paired(Ratio),
    /// Of medians that were not taken beside each other.
    Plain(f64),
}

impl SpeedUp {
    /// Whether more threads were faster, for all that is known.
    fn pays(self) -> bool {
        match self {
            SpeedUp::Paired(ratio) => ratio.low > 1.0,
            SpeedUp::Plain(ratio) => ratio > 1.0,
        }
    }

    fn text(self) -> String {
        match self {
            SpeedUp::Paired(ratio) => figures::speed(ratio),
            SpeedUp::Plain(ratio) => format!("~{}", figures::times(ratio)),
        }
    }

    fn efficiency(self, threads: u32) -> String {
        let part = 1.0 / f64::from(threads.max(1));
        match self {
            SpeedUp::Paired(Ratio { value, low, high }) => {
                figures::share(Ratio { value: value * part, low: low * part, high: high * part })
            }
            SpeedUp::Plain(ratio) => format!("~{}", figures::percent(ratio * part)),
        }
    }
}

impl<'a> Family<'a> {
    /// What a row at this limit of threads is held against: the fastest serial row of the same case,
    /// or else of the lowest limit. Where no implementation is serial, those on one thread stand in.
    fn base(&self, limit: u32) -> Option<&Row<'a>> {
        let one_thread = || self.parallel.iter().filter(|row| limit_of(row) == 1).collect();
        let bases: Vec<&Row> =
            if self.serial.is_empty() { one_thread() } else { self.serial.iter().collect() };
        let lowest = bases.iter().map(|row| limit_of(row)).min()?;
        let of = |limit| fastest(bases.iter().copied().filter(move |row| limit_of(row) == limit));
        of(limit).or_else(|| of(lowest))
    }

    /// How many times as fast as its base a row is; `None` for the base itself.
    fn speed_up(&self, row: &Row) -> Option<SpeedUp> {
        let base = self.base(limit_of(row)).filter(|base| !std::ptr::eq(base.record, row.record))?;
        let paired = speed_over(row, base);
        let plain = base.time(0.5)?.0 / row.time(0.5)?.0;
        paired.map(SpeedUp::Paired).or(plain.is_finite().then_some(SpeedUp::Plain(plain)))
    }

    /// The rows to show, by limit of threads: the serial ones in full once, then the one that parallel
    /// rows of the limit are held against, so that what a speed-up divides is in sight.
    fn shown(&self) -> Vec<(&Row<'a>, bool)> {
        let limits: BTreeSet<u32> = self.serial.iter().chain(&self.parallel).map(limit_of).collect();
        let mut rows = Vec::new();
        for (place, limit) in limits.into_iter().enumerate() {
            let base = self.base(limit).map(|base| base.record);
            let is_shown = |row: &Row| place == 0 || base.is_some_and(|base| std::ptr::eq(base, row.record));
            let serial = self.serial.iter().filter(|row| limit_of(row) == limit && is_shown(row));
            rows.extend(serial.map(|row| (row, true)));
            rows.extend(self.parallel.iter().filter(|row| limit_of(row) == limit).map(|row| (row, false)));
        }
        rows
    }

    fn line(&self, row: &Row, is_serial: bool) -> Line {
        let speed_up = self.speed_up(row);
        let threads = row.threads().unwrap_or(1);
        let efficiency = match speed_up {
            _ if is_serial => "serial".to_owned(),
            Some(speed_up) => speed_up.efficiency(threads),
            None => NONE.to_owned(),
        };
        let cells = vec![
            self.case.to_string(),
            escape(&row.record.implementation),
            row.threads_text(),
            row.median_text(),
            speed_up.map_or(NONE.to_owned(), SpeedUp::text),
            efficiency,
        ];
        Line { cells, colour: None }
    }
}

fn limit_of(row: &Row) -> u32 {
    row.thread_limit().unwrap_or(1)
}

fn fastest<'row, 'a: 'row>(rows: impl Iterator<Item = &'row Row<'a>>) -> Option<&'row Row<'a>> {
    let timed = rows.filter_map(|row| row.time(0.5).map(|time| (time.0, row)));
    timed.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, row)| row)
}

/// Rows with a time, gathered by case whatever its threads, in their order.
fn families(rows: Vec<Row>) -> Vec<Family> {
    // Parallel is who ever used a second thread for the operation: on small cases many do not.
    let name = |row: &Row| Some((row.case.as_ref()?.form(), row.record.implementation.clone()));
    let several = rows.iter().filter(|row| row.threads().is_some_and(|threads| threads > 1));
    let parallel: BTreeSet<(String, String)> = several.filter_map(name).collect();
    let mut families: Vec<Family> = Vec::new();
    for row in rows {
        let Some(case) = row.case.as_ref().map(|case| Case { threads: 1, ..case.clone() }) else { continue };
        let is_parallel = name(&row).is_some_and(|name| parallel.contains(&name));
        let place = families.iter().position(|family| family.case == case).unwrap_or_else(|| {
            families.push(Family { case, serial: Vec::new(), parallel: Vec::new() });
            families.len() - 1
        });
        let family = &mut families[place];
        if is_parallel { family.parallel.push(row) } else { family.serial.push(row) }
    }
    families
}

fn table(families: &[Family], style: Style) -> String {
    const HEADS: [(&str, bool); 6] = [
        ("case", false),
        ("implementation", false),
        ("threads", true),
        ("median", true),
        ("speed-up", false),
        ("efficiency", false),
    ];
    let lines = families
        .iter()
        .flat_map(|family| family.shown().into_iter().map(|(row, is_serial)| family.line(row, is_serial)));
    let heads = HEADS.iter().map(|(name, right)| Head { name: (*name).to_owned(), right: *right }).collect();
    Grid::new(heads, lines.collect(), style).lines_or_blocks(&[First::Above])
}
