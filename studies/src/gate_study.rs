//! A kernel that is right at the declared precision is never called wrong, and one precision lower always is.
//!
//! A round is one random case of every form and precision of every operation, taken by every built-in implementation through
//! all families; it is a line of the study's journal. Fewer rounds than were asked for show too little, and the study says so.

use crate::bench::Bench;
use crate::facts::now;
use crate::journal::{self, Journal};
use roofline_conductor::checks::Checks;
use roofline_conductor::stage::available_cores;
use roofline_core::case::Case;
use roofline_core::mutants::{calibrate, forms, policed};
use roofline_core::operation::{Operation, Param};
use roofline_core::ops::OPERATIONS;
use roofline_core::philox::Draws;
use roofline_core::protocol::Offer;
use roofline_core::record::Status;
use serde::{Deserialize, Serialize};
use std::io;
use std::time::{Duration, Instant};

/// What a round depends on: operations, kernels and the gate.
const JUDGED: &[&str] =
    &["crates/roofline-core", "crates/roofline-lanes", "crates/roofline-cpu", "crates/roofline-conductor"];

/// What is asked for on the command line.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Settings {
    /// So many cases of every form and precision: the study fails while the journal has fewer
    #[arg(long, default_value_t = 200)]
    pub rounds: u64,
    /// Begin with this round instead of the one after the last of the journal
    #[arg(long)]
    pub first: Option<u64>,
    /// End after so long: what is found adds up
    #[arg(long, default_value_t = 60)]
    pub minutes: u32,
}

/// One case of every form and precision: a line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    pub revision: String,
    pub finished: String,
    pub number: u64,
    pub cases: usize,
    /// Rows of built-in implementations, and those that were not `ok`.
    pub rows: usize,
    pub false_alarms: Vec<String>,
}

impl journal::Line for Round {
    fn revision(&self) -> &str {
        &self.revision
    }
}

/// Rows with the accumulation one precision lower, on policed cases, and those that passed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lower {
    pub rows: usize,
    pub missed: Vec<String>,
}

/// Takes rounds until there are enough or the time is over; answers with the page and whether all is as it must be.
pub fn run(settings: &Settings, command: &str, mut report: impl FnMut(&str)) -> io::Result<(String, bool)> {
    let journal = Journal::<Round>::open("gate-study", JUDGED)?;
    let bench = Bench::new()?;
    let offers = bench.offers()?;
    let deadline = Instant::now() + Duration::from_secs(60) * settings.minutes;
    let next = journal.lines()?.iter().map(|round| round.number + 1).max().unwrap_or(0);
    let first = settings.first.unwrap_or(next);
    for number in first.. {
        if Instant::now() > deadline || journal.lines()?.len() as u64 >= settings.rounds {
            break;
        }
        let cases = cases(number);
        let (rows, false_alarms) = take(&bench, &offers, &cases, number)?;
        false_alarms.iter().for_each(|alarm| report(alarm));
        report(&format!("round {number}: {} cases, {rows} rows", cases.len()));
        let (revision, finished) = (journal.revision.clone(), now());
        journal.add(&Round { revision, finished, number, cases: cases.len(), rows, false_alarms })?;
    }
    let (mut lower, emulated) = (lower(&bench, first)?, emulated_lower(first));
    lower.rows += emulated.rows;
    lower.missed.extend(emulated.missed);
    let rounds = journal.lines()?;
    let is_enough = rounds.len() as u64 >= settings.rounds;
    let raised_none = rounds.iter().all(|round| round.false_alarms.is_empty());
    let is_well = is_enough && lower.missed.is_empty() && raised_none;
    let page = journal.publish(
        "False alarms of the gate, and what it misses",
        command,
        &describe(&rounds, settings.rounds, &lower),
    )?;
    Ok((page, is_well))
}

/// Takes every built-in implementation through the gate; answers with the number of rows and those that were not `ok`.
pub fn take(bench: &Bench, offers: &[Offer], cases: &[Case], seed: u64) -> io::Result<(usize, Vec<String>)> {
    // One run for all of them: its processes start once.
    let planned = cases.iter().map(|case| {
        let takes = |offer: &&Offer| offer.operation == case.form() && case.is_taken_by(offer).is_ok();
        bench.plan_offers(case, offers.iter().filter(takes))
    });
    let mut records =
        bench.conduct(planned.collect(), Draws::new(seed, 3).bits(), None, Checks::default())?;
    // Sizes outside of what a kernel requires.
    records.retain(|record| record.status != Status::Unsupported);
    let alarms = records.iter().filter(|record| record.status != Status::Ok);
    let false_alarms = alarms.map(|record| format!("{}: {}: {}", record.row(), record.status, record.why));
    Ok((records.len(), false_alarms.collect()))
}

/// The cases of a round.
pub fn cases(round: u64) -> Vec<Case> {
    let mut draws = Draws::new(round, 4);
    let mut cases = Vec::new();
    for operation in OPERATIONS {
        cases.extend(forms(operation).map(|form| draw_case(operation, &form, &mut draws)));
    }
    cases
}

/// A case of small primes, ones, tile sizes and their neighbours, or of anything up to a few hundred. The last axes are
/// drawn first: the others are shorter where there would be too many elements for a study of hundreds of rounds.
fn draw_case(operation: &'static Operation, form: &Case, draws: &mut Draws) -> Case {
    const NASTY: [u64; 16] = [1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 257];
    let mut room = 1 << 15;
    let sizes = operation.axes.iter().rev().map(|_| {
        let size = match draws.below(3) {
            0 => 1 + draws.below(700),
            _ => NASTY[draws.below(NASTY.len() as u64) as usize],
        };
        let size = size.min(room);
        room /= size;
        size
    });
    let mut sizes: Vec<u64> = sizes.collect();
    sizes.reverse();
    // A machine of one core has rows of one thread.
    let threads = (1 + draws.below(2) as u32).min(available_cores().len() as u32);
    let case = operation.near(form, &sizes, draws);
    Case { threads, params: operation.params.iter().map(|param| draw_param(param, draws)).collect(), ..case }
}

/// The default as often as not, else an end of what is legal, or whole steps and halves from the low one.
fn draw_param(param: &Param, draws: &mut Draws) -> f64 {
    let (low, high) = param.range;
    if !param.words.is_empty() {
        return draws.below(param.words.len() as u64) as f64;
    }
    match draws.below(8) {
        0 => low,
        1 => high,
        2 | 3 => low + draws.below(((high - low) * 2.0) as u64 + 1) as f64 / 2.0,
        _ => param.default,
    }
}

/// What emulations of every operation miss one precision lower.
fn emulated_lower(seed: u64) -> Lower {
    let mut draws = Draws::new(seed, 5);
    let mut lower = Lower::default();
    for (case, fill) in policed() {
        let calibration = calibrate(&case, fill, draws.bits());
        lower.rows += usize::from(calibration.lower.is_some());
        if !calibration.is_sound() {
            lower.missed.push(format!("{case}, {fill} inputs, emulated: {calibration:?}"));
        }
    }
    lower
}

/// What the whole gate misses of kernels that compute one precision lower.
pub fn lower(bench: &Bench, seed: u64) -> io::Result<Lower> {
    let mut draws = Draws::new(seed, 6);
    let mut lower = Lower::default();
    for (implementation, id) in LOWER {
        let case: Case = id.parse().map_err(io::Error::other)?;
        for record in bench.run(&case, &[implementation], draws.bits(), None, Checks::default())? {
            lower.rows += 1;
            if record.status.name() != "wrong" {
                lower.missed.push(format!("{}: {}: {}", record.row(), record.status, record.why));
            }
        }
    }
    Ok(lower)
}

/// Kernels that really compute one precision lower, through the whole gate.
const LOWER: &[(&str, &str)] = &[
    ("saboteur/tf32-inputs", "matmul/f32/m=24,n=40,k=64"),
    ("saboteur/tf32-inputs", "matmul/f32/m=24,n=40,k=1024"),
    ("saboteur/bf16-accumulator", "matmul/bf16/m=24,n=40,k=64"),
    ("saboteur/bf16-accumulator", "matmul/bf16/m=24,n=40,k=1024"),
    ("saboteur/bf16-inside", "softmax/f32/rows=16,cols=64"),
    ("saboteur/bf16-inside", "softmax/f32/rows=16,cols=1024"),
];

/// The study in words.
fn describe(rounds: &[Round], wanted: u64, lower: &Lower) -> String {
    let sum = |of: fn(&Round) -> usize| -> usize { rounds.iter().map(of).sum() };
    let each = rounds.iter().map(|round| round.cases).max().unwrap_or(0);
    let mut text = format!(
        "\n{} random cases of each of {each} forms and precisions, {wanted} wanted, {} rows of built-in implementations \
         through all families: {} false alarms.\n\n{} rows one precision lower: {} missed.\n",
        rounds.len(),
        sum(|round| round.rows),
        sum(|round| round.false_alarms.len()),
        lower.rows,
        lower.missed.len()
    );
    for line in rounds.iter().flat_map(|round| &round.false_alarms).chain(&lower.missed) {
        text.push_str(&format!("- {line}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_round_has_every_form_in_every_precision() {
        let id = |case: &Case| format!("{}/{}", case.form(), case.precision);
        let taken: BTreeSet<String> = cases(3).iter().map(id).collect();
        let all: BTreeSet<String> =
            OPERATIONS.iter().flat_map(|one| forms(one)).map(|case| id(&case)).collect();
        assert_eq!(taken, all);
        assert!(taken.contains("matmul.fixed/bf16"));
    }

    #[test]
    fn the_page_says_how_many_rounds_are_wanted() {
        let page = describe(&[], 200, &Lower::default());
        assert!(page.contains("0 random cases of each of 0 forms and precisions, 200 wanted"), "{page}");
    }
}
