//! Where runs and records are kept.
//!
//! A store is append, read and migrate: what was seen is never changed. Only turns, which are the
//! unfinished half of records, are dropped when their records are complete, and whole runs when
//! somebody asks for it. Other stores are merged by the ids of their runs and records. [`Store::open`]
//! makes the file when it is absent and brings an older one up to date; what [`Store::append`] took
//! is on the disk when it returns. SQLite is the one engine now (`sqlite.rs`); another one joins by
//! the same methods and its own folder of migrations.
//!
//! Bytes in a store are not trusted: a document that cannot be read is named in
//! [`Reading::damaged`] and the others are still found; a file of another program is refused before
//! a byte of it changes.
#![forbid(unsafe_code)]

mod document;
mod error;
mod merge;
mod sqlite;

pub use error::{Damaged, StoreError};
pub use merge::Merged;

use roofline_core::record::{Record, Run};
use roofline_core::turn::Turn;
use std::collections::BTreeMap;
use std::path::Path;

/// Where the store lies unless told otherwise, from the folder that the command was started in.
pub const DEFAULT_PATH: &str = ".roofline/roofline.db";

/// An open store.
#[derive(Debug)]
pub struct Store {
    engine: sqlite::Sqlite,
}

impl Store {
    /// Opens the store at `path` for appending, after making its folder and file when they are absent
    /// and migrating an older schema.
    ///
    /// Fails when it could not be appended to, so that a run learns it before it measures.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        Ok(Store { engine: sqlite::Sqlite::open(path.as_ref())? })
    }

    /// Opens a store that is there, for reading: nothing is made or migrated.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Store, StoreError> {
        Ok(Store { engine: sqlite::Sqlite::open_read_only(path.as_ref())? })
    }

    pub fn append_run(&self, run: &Run) -> Result<(), StoreError> {
        self.engine.append_run(run, &document::encode(&run.id, run)?)
    }

    /// Appends a record of a run that was appended before.
    pub fn append(&self, record: &Record) -> Result<(), StoreError> {
        self.engine.append(record, &document::encode(&record.id, record)?)
    }

    /// Appends a run with its records, all of them or nothing.
    pub fn append_whole(&self, run: &Run, records: &[Record]) -> Result<(), StoreError> {
        self.engine.in_transaction(|| {
            self.append_run(run)?;
            records.iter().try_for_each(|record| self.append(record))
        })
    }

    /// Appends a turn of a run that was appended before.
    pub fn append_turn(&self, turn: &Turn) -> Result<(), StoreError> {
        self.engine.append_turn(turn, &document::encode(&turn.case, turn)?)
    }

    /// The turns of a run, in the order they were appended.
    pub fn turns(&self, run: &str) -> Result<Reading<Turn>, StoreError> {
        self.engine.turns(run)
    }

    /// Drops the turns of a case whose records are complete.
    pub fn drop_turns(&self, run: &str, case: &str) -> Result<(), StoreError> {
        self.engine.drop_turns(run, case)
    }

    /// Makes sure that whoever opens the store's path now finds these records of a run: somebody may have
    /// removed or replaced the file since it was opened.
    pub fn confirm(&self, run: &str, records: &[&str]) -> Result<(), StoreError> {
        self.engine.confirm(run, records)
    }

    /// The records that pass the filter, in the order they were appended.
    pub fn records(&self, filter: &Filter) -> Result<Reading<Record>, StoreError> {
        self.engine.records(filter)
    }

    /// The rows, as case and implementation, that have a record which passes the filter, each once.
    pub fn rows(&self, filter: &Filter) -> Result<Vec<(String, String)>, StoreError> {
        self.engine.rows(filter)
    }

    /// At most so many records of a row, the latest by their times, in that order.
    pub fn past(
        &self,
        case: &str,
        implementation: &str,
        latest: usize,
    ) -> Result<Reading<Record>, StoreError> {
        self.engine.past(case, implementation, latest)
    }

    /// The run of an id, where it is there and can be read.
    pub fn run(&self, id: &str) -> Result<Option<Run>, StoreError> {
        let document = self.engine.document("runs", id)?;
        Ok(document.and_then(|document| serde_json::from_slice(&document).ok()))
    }

    /// All runs, by when they started: one that was merged may be older than its neighbours.
    pub fn runs(&self) -> Result<Reading<Run>, StoreError> {
        self.engine.runs(None)
    }

    /// How many rows of each run have which status, by the run's id; probes of limits are no rows.
    pub fn counts(&self) -> Result<BTreeMap<String, Vec<(String, u64)>>, StoreError> {
        self.engine.counts()
    }

    /// The run that started last; `None` in a new store.
    pub fn latest_run(&self) -> Result<Option<Run>, StoreError> {
        let Reading { mut found, mut damaged } = self.engine.runs(Some(1))?;
        match damaged.pop() {
            Some(damaged) => Err(StoreError::Damaged(damaged)),
            None => Ok(found.pop()),
        }
    }
}

/// Which records to read; all by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The run's id.
    pub run: Option<String>,
    /// The case's id; with `*`, `?` or `[…]`, a glob.
    pub case: Option<String>,
    /// `provider/name`; with `*`, `?` or `[…]`, a glob.
    pub implementation: Option<String>,
    /// At most so many, the latest ones.
    pub latest: Option<usize>,
}

/// A text as a [`Filter`] that finds that text alone, also where it has the marks of a glob.
pub fn literal(text: &str) -> String {
    let mark = |c: char| if "*?[".contains(c) { format!("[{c}]") } else { c.to_string() };
    text.chars().map(mark).collect()
}

/// What was read, and what was there but could not be.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading<T> {
    pub found: Vec<T>,
    pub damaged: Vec<Damaged>,
}
