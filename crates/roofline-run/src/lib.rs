//! What every run has around the conductor, whoever begins it: `roofline run` or a bench binary.
//!
//! The machine's lock, the description of the run, records that are stored as they come, progress and
//! results on the terminal. It decides nothing.
#![forbid(unsafe_code)]

mod recorder;
pub mod terminal;

pub use recorder::{Recorder, new_id, now, roughly};

use roofline_conductor::lock::{self, Lock};
use roofline_conductor::machine::Machine;
use roofline_conductor::plan;
use roofline_core::record::{Record, Run, SCHEMA};
use std::hash::{BuildHasher, RandomState};
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::time::Duration;

/// Takes the machine's lock, and says so when it has to wait; `None` when the user would not.
///
/// Whoever has waited for `patience` gets an error of the kind `TimedOut`, which names the holder.
pub fn lock(patience: Option<Duration>) -> io::Result<Option<Lock>> {
    let waiting = |holder: &str| {
        terminal::tell(&format!("another run is going on ({holder}); waiting for it to end"));
    };
    match lock::take(patience, waiting) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}

/// A new run: who, when, where, and by which words.
pub fn begin(machine: &Machine) -> Run {
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
pub fn has_failure(records: &[Record]) -> bool {
    let is_row = |record: &&Record| !plan::is_limit(&record.implementation);
    records.iter().filter(is_row).any(|record| record.status.is_failure())
}

/// A seed that no runner can know: from the system's randomness.
pub fn secret_seed() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// What tensors may take unless told otherwise.
pub fn half_of_memory(machine: &Machine) -> u64 {
    machine.memory.total.map_or(4 << 30, |bytes| bytes.0 / 2)
}
