//! What comes from another store or a file of records joins this one: what is here already is left as it is.

use crate::document::{self, Document};
use crate::{Damaged, Filter, Reading, Store, StoreError};
use roofline_core::record::{Record, Run};
use std::ops::AddAssign;

/// How much of what was offered was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    pub runs: usize,
    pub records: usize,
    /// Records that were here already.
    pub known: usize,
}

impl AddAssign for Merged {
    fn add_assign(&mut self, other: Merged) {
        self.runs += other.runs;
        self.records += other.records;
        self.known += other.known;
    }
}

impl Store {
    /// Appends what is not here yet of runs with their records, all of it or nothing.
    ///
    /// An id stands for one record: the same id with another content is a conflict, and nothing is changed.
    pub fn merge(&self, parts: &[(Run, Vec<Record>)]) -> Result<Merged, StoreError> {
        let mut merged = Merged::default();
        self.engine.in_transaction(|| {
            parts.iter().try_for_each(|(run, records)| self.take(run, records).map(|part| merged += part))
        })?;
        Ok(merged)
    }

    /// The same with all that another store holds. What cannot be read there stays there, and is named.
    pub fn merge_store(&self, other: &Store) -> Result<(Merged, Vec<Damaged>), StoreError> {
        let (mut merged, mut skipped) = (Merged::default(), Vec::new());
        self.engine.in_transaction(|| {
            let Reading { found, damaged } = other.runs()?;
            skipped.extend(damaged);
            for run in found {
                let filter = Filter { run: Some(run.id.clone()), ..Filter::default() };
                let Reading { found, damaged } = other.records(&filter)?;
                skipped.extend(damaged);
                merged += self.take(&run, &found)?;
            }
            Ok(())
        })?;
        Ok((merged, skipped))
    }

    fn take(&self, run: &Run, records: &[Record]) -> Result<Merged, StoreError> {
        let mut merged = Merged::default();
        // A file of records alone tells less of their run than a store does: who came first stays.
        if self.engine.document("runs", &run.id)?.is_none() {
            self.append_run(run)?;
            merged.runs = 1;
        }
        for record in records {
            match self.engine.document("records", &record.id)? {
                None => {
                    self.append(record)?;
                    merged.records += 1;
                }
                Some(known) if is_same(record, &known) => merged.known += 1,
                Some(_) => return Err(StoreError::Conflict { id: record.id.clone(), row: record.row() }),
            }
        }
        Ok(merged)
    }

    /// Removes runs with all that belongs to them, all of them or none; says how many records that were.
    pub fn remove_runs(&self, ids: &[&str]) -> Result<usize, StoreError> {
        let mut records = 0;
        self.engine.in_transaction(|| {
            ids.iter().try_for_each(|id| self.engine.remove_run(id).map(|n| records += n))
        })?;
        Ok(records)
    }

    /// Gives the room of what was removed back to the disk.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.engine.compact()
    }
}

/// Whether a stored document says the same; older versions wrote the same record with fewer fields.
fn is_same(record: &Record, known: &[u8]) -> bool {
    let columns: Vec<String> = record.columns().into_iter().map(str::to_owned).collect();
    document::decode::<Record>(&columns, known).is_ok_and(|known| known == *record)
}
