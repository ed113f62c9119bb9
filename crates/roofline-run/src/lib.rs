//! What every run has around the conductor, whoever begins it: `roofline run` or a bench binary.
//!
//! The machine's lock, the description of the run, records that are stored as they come, progress and
//! results on the terminal. It decides nothing.
#![forbid(unsafe_code)]

pub mod artefact;
pub mod baseline;
pub mod checkout;
pub mod forecast;
mod lineup;
pub mod project;
mod recorder;
mod request;
pub mod terminal;

pub use lineup::Lineup;
pub use recorder::{new_id, now, roughly};
pub use request::{Outcome, Past, Request, Unbegun};

use roofline_conductor::machine::Machine;
use roofline_conductor::plan;
use roofline_core::decision::{self, FailOn};
use roofline_core::record::{Record, Run, SCHEMA};
use roofline_core::verdict::Word;
use std::hash::{BuildHasher, RandomState};
use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

/// Words that a bench binary has in it and no other program: it is told by them without being started.
pub const BENCH_MARK: &str = "a Roofline bench, beside another build of it that this file is";

/// A new run: who, when, where, and by which words.
fn begin(machine: &Machine) -> Run {
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    Run {
        schema: SCHEMA,
        id: new_id(),
        started: now(),
        command: arguments.join(" "),
        arguments,
        machine: serde_json::to_value(machine).unwrap_or_default(),
        program: program(),
    }
}

/// A hash of the bytes of this program.
pub fn program() -> String {
    let bytes = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    format!("{:016x}", hasher.finish())
}

/// Time for one row: a quick run has enough for six short blocks.
pub fn row_budget(asked: Duration, quick: bool) -> Duration {
    if quick { asked.min(Duration::from_millis(600)) } else { asked }
}

/// Whether a row failed. A probe that failed is no row's failure; the rows that lack their limit say so.
pub fn has_failure<'a>(records: impl IntoIterator<Item = &'a Record>) -> bool {
    let mut rows = records.into_iter().filter(|record| !plan::is_limit(&record.implementation));
    rows.any(|record| record.status.is_failure())
}

/// What the comparisons of a run whose rows are all well let it end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Well,
    /// There are rows that it was asked to fail on.
    Fails,
    /// There would be such rows, had there been time to measure them again.
    Open,
}

/// Decides by the rows of a run, if it was asked to fail on what is among them; says on which.
pub fn decide<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    fail_on: Option<FailOn>,
    judged: Option<Judged>,
) -> Decision {
    let records: Vec<&Record> = records.into_iter().collect();
    let decided = match (judged, fail_on) {
        (Some(judged), _) if judged.is_broken => Decision::Fails,
        (Some(judged), _) => open_rows(&records, judged.least),
        // A target is no row's own.
        (None, None | Some(FailOn::Missed | FailOn::Policy)) => Decision::Well,
        (None, Some(what)) => decide_on(&records, what),
    };
    if let Some(word) = decision::one_way(records).filter(|_| decided == Decision::Fails) {
        terminal::tell(&decision::alarm(word));
    }
    decided
}

/// What a policy has found, and said elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    pub is_broken: bool,
    /// What it speaks of at the least.
    pub least: FailOn,
}

fn decide_on(records: &[&Record], what: FailOn) -> Decision {
    let flagged = decision::flagged(records.iter().copied(), what);
    for record in &flagged {
        // Who fails on what is not known fails on what is slower too.
        let is_slower = what == FailOn::Inconclusive && decision::word(record) == Some(Word::Slower);
        let word = if is_slower { Word::Slower.name().to_owned() } else { what.to_string() };
        terminal::tell(&format!("{word}: {}", record.row()));
    }
    let is_refuted = |record: &&&Record| {
        let rounds = record.rounds.as_ref().filter(|rounds| rounds.before.is_some());
        rounds.is_some_and(|rounds| !decision::calls_for_more(rounds, what))
    };
    for record in records.iter().filter(is_refuted) {
        terminal::tell(&format!("{what} at first, and not when it was measured again: {}", record.row()));
    }
    let open = open_rows(records, what);
    if flagged.is_empty() { open } else { Decision::Fails }
}

/// Whether rows would let a run fail that there was no time to measure again; says which.
fn open_rows(records: &[&Record], what: FailOn) -> Decision {
    let open = decision::unconfirmed(records.iter().copied(), what);
    for record in &open {
        terminal::tell(&format!("{what}, and no time was left to measure it again: {}", record.row()));
    }
    if open.is_empty() { Decision::Well } else { Decision::Open }
}

/// A seed that no runner can know: from the system's randomness.
pub fn secret_seed() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// What tensors may take unless told otherwise.
pub fn half_of_memory(machine: &Machine) -> u64 {
    machine.memory.total.map_or(4 << 30, |bytes| bytes.0 / 2)
}
