//! What each check is for: switch one off, and see which saboteurs get through.

use crate::bench::{Bench, Saboteur};
use crate::page::publish;
use roofline_conductor::checks::{Check, Checks};
use roofline_core::check::{Checked, Standing};
use roofline_core::record::{Record, Status};
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// Time for rounds: six short sets.
pub const BUDGET: Duration = Duration::from_millis(40);

/// A check, and first the others that refuse the same for other reasons, as that clocks leave too much room: what it is for
/// shows when they are off too.
pub fn with_those_behind(check: Check) -> &'static [Check] {
    let behind: &[&[Check]] = &[
        &[Check::WallClock, Check::Unclaimed, Check::WatchedBatch],
        &[Check::WallClock, Check::WatchedBatch, Check::Unclaimed],
        &[Check::WallClock, Check::Copies],
        &[Check::WallClock, Check::Ceiling],
        &[Check::WallClock, Check::Threads],
        &[Check::Threads, Check::Idle],
    ];
    let alone = || Check::ALL.iter().position(|own| *own == check).map_or(&[][..], |at| &Check::ALL[at..=at]);
    behind.iter().find(|off| off.last() == Some(&check)).copied().unwrap_or_else(alone)
}

/// Gate and proof are all that it takes for most; some checks are made in the rounds alone.
pub fn budget_without(check: Check) -> Option<Duration> {
    let in_rounds = [Check::Memos, Check::WatchedBatch, Check::WallClock, Check::Unclaimed, Check::Copies];
    in_rounds.contains(&check).then_some(BUDGET)
}

/// Those whom outputs and clocks both give away: which of the two sees them first is chance.
const EITHER: &[&str] = &[
    "saboteur/last-launch-only",
    "saboteur/scribbles-in-between",
    "saboteur/first-and-last-only",
    "saboteur/last-launch-only-in-sets",
    "saboteur/last-sample-only",
    "saboteur/last-sample-only-fresh",
    "saboteur/puts-work-off",
    "saboteur/remembers-rows",
    "saboteur/remembers-products",
    "saboteur/remembers-without-a-pause",
    "saboteur/writes-while-others-sit",
];

/// Lies about time, and work that nobody times: on a machine that is taken away clocks may say too little to refuse these,
/// and the row says how much.
const ABOUT_TIME: &[&str] = &[
    "saboteur/halves-times",
    "saboteur/tenths-of-times",
    "saboteur/fiftieths-of-times",
    "saboteur/times-one-of-many",
    "saboteur/halves-times-in-sets",
    "saboteur/claims-a-tenth-less",
    "saboteur/claims-a-twentieth-less",
    "saboteur/honest-among-many",
    "saboteur/honest-among-many-fresh",
    "saboteur/lies-now-and-then",
    "saboteur/pads-short-visits",
    "saboteur/pads-and-says-two",
    "saboteur/puts-work-off",
    "saboteur/works-in-the-copy",
];

/// Whether a saboteur got the status that it must get, or one that is as good.
pub fn meets(saboteur: &Saboteur, record: &Record) -> bool {
    let is_of = |names: &[&str]| names.contains(&saboteur.implementation.as_str());
    let either = is_of(EITHER) && matches!(record.status, Status::Wrong | Status::Suspect);
    let is_told = is_of(ABOUT_TIME) && is_suspect_or_says_why_not(record);
    record.status.name() == saboteur.status || either || is_told
}

/// What a saboteur got that it must not; nothing if it got its status.
///
/// What is left to lots and clocks catches most and not all: where one of the statuses that they give is missed at the
/// first seed, it must be met at two of the three that follow. `report` is told of every row.
pub fn misjudged(
    bench: &Bench,
    saboteur: &Saboteur,
    case: &str,
    seed: u64,
    mut report: impl FnMut(&Record),
) -> io::Result<Vec<String>> {
    let mut miss = |seed| -> io::Result<Option<String>> {
        let record = face(bench, saboteur, case, seed, Some(BUDGET), Checks::default())?;
        report(&record);
        let has_no_right_to_one = record.status != Status::Ok && !record.samples.is_empty();
        let has_a_time = if has_no_right_to_one { ", with a time" } else { "" };
        let missed = !meets(saboteur, &record) || has_no_right_to_one;
        Ok(missed.then(|| {
            let (row, status, why) = (record.row(), record.status, &record.why);
            format!("{row}: seed {seed}: {status}{has_a_time} instead of {}: {why}", saboteur.status)
        }))
    };
    let is_by_lot = matches!(saboteur.status.as_str(), "wrong" | "suspect" | "ok");
    let mut misses = Vec::from_iter(miss(seed)?);
    if !misses.is_empty() && is_by_lot {
        for seed in (1..4).map(|more| seed.saturating_add(more)) {
            misses.extend(miss(seed)?);
        }
    }
    let excused = if is_by_lot { 2 } else { 0 };
    Ok(if misses.len() > excused { misses } else { Vec::new() })
}

/// Whether a lie about time has no time. On a machine that is taken away clocks say too little, and the row says how much
/// that is.
pub fn is_suspect_or_says_why_not(record: &Record) -> bool {
    let says_so =
        |checked: &Checked| checked.check == Check::WallClock && checked.standing == Standing::Weaker;
    match record.status {
        Status::Suspect => true,
        Status::Ok => record.evidence.checks.iter().any(says_so),
        _ => false,
    }
}

/// A saboteur's record under some checks.
///
/// Where a check is off an honest implementation runs first and leaves right results in the shared
/// output: what a harness without poison would then take for the saboteur's. With a budget it goes
/// through the rounds as well.
pub fn face(
    bench: &Bench,
    saboteur: &Saboteur,
    case: &str,
    seed: u64,
    budget: Option<Duration>,
    checks: Checks,
) -> io::Result<Record> {
    let case = case.parse().map_err(io::Error::other)?;
    let both = ["saboteur/honest", saboteur.implementation.as_str()];
    let lanes = if checks == Checks::default() { &both[1..] } else { &both[..] };
    let records = bench.run(&case, lanes, seed, budget, checks)?;
    let own = records.into_iter().find(|record| record.implementation == saboteur.implementation);
    own.ok_or_else(|| io::Error::other("a run without a record"))
}

/// For every check, the saboteurs that are not caught when it is off.
#[derive(Debug, Default)]
pub struct Mutations {
    /// Saboteurs with another status than they must have, all checks on.
    pub misjudged: Vec<String>,
    /// By check: who got through.
    pub through: BTreeMap<String, Vec<String>>,
    /// By saboteur: the checks that alone catch it; none where several do.
    pub caught_by: BTreeMap<String, Vec<String>>,
}

/// Saboteurs that no check of the gate decides, only the conversation itself.
fn is_conversational(status: &str) -> bool {
    matches!(status, "protocol" | "timeout" | "out-of-memory" | "ok")
}

/// Runs the study with each of the checks off in turn. `report` is told of every row.
pub fn study(
    bench: &Bench,
    seed: u64,
    checks: &[Check],
    mut report: impl FnMut(&str),
) -> io::Result<Mutations> {
    let saboteurs = bench.saboteurs()?;
    let mut mutations = Mutations::default();
    let rows =
        || saboteurs.iter().flat_map(|saboteur| saboteur.cases.iter().map(move |case| (saboteur, case)));
    for (saboteur, case) in rows() {
        let told = |record: &Record| {
            let (name, status, why) = (&saboteur.implementation, record.status.name(), &record.why);
            report(&format!("{name:<36} {case:<44} {status:<14} {why}"));
        };
        mutations.misjudged.extend(misjudged(bench, saboteur, case, seed, told)?);
    }
    for check in checks {
        let off = with_those_behind(*check);
        let name = off.iter().rev().map(|check| format!("{check:?}")).collect::<Vec<_>>().join(", ");
        report(&format!("\nwithout {name}"));
        let through = mutations.through.entry(name.clone()).or_default();
        for saboteur in saboteurs.iter().filter(|saboteur| !is_conversational(&saboteur.status)) {
            let mut gets_through = false;
            for case in &saboteur.cases {
                let budget = budget_without(*check);
                let (_, behind) = off.split_last().unwrap_or((check, &[]));
                let passes = |off| -> io::Result<bool> {
                    let record = face(bench, saboteur, case, seed, budget, Checks::without(off))?;
                    Ok(record.status == Status::Ok)
                };
                // Who gets through either way, as nothing is timed, says nothing of the check.
                gets_through |= passes(off)? && !passes(behind)?;
            }
            let caught_by = mutations.caught_by.entry(saboteur.implementation.clone()).or_default();
            if gets_through {
                report(&format!("  {} gets through", saboteur.implementation));
                through.push(saboteur.implementation.clone());
                caught_by.push(name.clone());
            }
        }
    }
    Ok(mutations)
}

impl Mutations {
    /// Whether every saboteur got its status, and every check is needed.
    pub fn is_well(&self) -> bool {
        self.misjudged.is_empty() && self.through.values().all(|through| !through.is_empty())
    }

    /// Writes the page under `results/` and returns it.
    pub fn publish(&self, command: &str) -> io::Result<String> {
        publish("gate-mutations", "What each check of the gate is for", command, &describe(self))
    }
}

/// The study as two tables: who gets through without a check, and which checks catch each saboteur.
pub fn describe(mutations: &Mutations) -> String {
    let mut text = String::from("| switched off | who gets through then |\n|---|---|\n");
    for (check, through) in &mutations.through {
        let nobody = || "nobody: this check is not needed".to_owned();
        let who = if through.is_empty() { nobody() } else { through.join(", ") };
        text += &format!("| {check} | {who} |\n");
    }
    text += "\n| saboteur | caught by |\n|---|---|\n";
    for (saboteur, checks) in &mutations.caught_by {
        let several = || "several checks".to_owned();
        let by = if checks.is_empty() { several() } else { format!("{} alone", checks.join(", ")) };
        text += &format!("| {saboteur} | {by} |\n");
    }
    text += &match mutations.misjudged.len() {
        0 => "\nEvery saboteur got the status that it must get.\n".to_owned(),
        _ => format!("\nOf another status than they must have:\n\n- {}\n", mutations.misjudged.join("\n- ")),
    };
    text
}
