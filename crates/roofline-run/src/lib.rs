//! What every run has around the conductor, whoever begins it: `roofline run` or a bench binary.
//!
//! One way for all: what was asked ([`Ask`]) meets who takes part ([`Lineup`]), which makes plans ([`Planned`]); a
//! [`Request`] has them conducted, with the machine's lock and records that are stored as they come; and what came of it is
//! held against what was asked, as an exit code.
#![forbid(unsafe_code)]

pub mod artefact;
mod ask;
pub mod baseline;
pub mod checkout;
mod ending;
pub mod environment;
pub mod forecast;
mod lineup;
mod progress;
pub mod project;
mod recorder;
mod request;
pub mod terminal;

pub use ask::Ask;
pub use ending::{Judgement, Others};
pub use lineup::{Lineup, Planned};
pub use progress::Progress;
pub use recorder::{new_id, now, roughly};
pub use request::{Outcome, Past, Request, Unbegun, lock};

use roofline_conductor::job::quoted;
use roofline_conductor::machine::Machine;
use roofline_conductor::plan;
use roofline_core::record::{Record, Run, SCHEMA};
use std::hash::{BuildHasher, RandomState};
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use std::time::Duration;

/// A new run: who, when, where, and by which words.
pub fn begin(machine: &Machine) -> Run {
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    Run {
        schema: SCHEMA,
        id: new_id(),
        started: now(),
        command: arguments.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        arguments,
        machine: serde_json::to_value(machine).unwrap_or_default(),
        program: program(),
        revision: checkout::revision(Path::new(".")),
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

/// A seed that no runner can know: from the system's randomness.
pub fn secret_seed() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// What tensors may take unless told otherwise.
pub fn half_of_memory(machine: &Machine) -> u64 {
    machine.memory.total.map_or(4 << 30, |bytes| bytes.0 / 2)
}
