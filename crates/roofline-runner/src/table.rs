//! A runner as a table: one row per implementation and operation.

use crate::job::Job;
use crate::kernel::{Ready, Runner, unsupported};
use roofline_core::dtype::Dtype;
use roofline_core::protocol::{Hello, Offer, Refusal, VERSION, cpu};
use std::collections::BTreeMap;

/// One implementation of one operation.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// `provider/name`.
    pub implementation: &'static str,
    /// `operation` or `operation.variant`.
    pub operation: &'static str,
    pub dtypes: &'static [Dtype],
    /// One sentence.
    pub about: &'static str,
    /// Whether it uses more than one thread when it may.
    pub parallel: bool,
    pub prepare: fn(&mut Job) -> Result<Ready, Refusal>,
}

impl Entry {
    /// What the conductor is told of it.
    pub fn offer(&self) -> Offer {
        Offer {
            implementation: self.implementation.to_owned(),
            operation: self.operation.to_owned(),
            dtypes: self.dtypes.to_vec(),
            about: self.about.to_owned(),
            parallel: self.parallel,
            devices: cpu(),
        }
    }
}

/// A runner that offers the rows of a table.
#[derive(Clone, Debug)]
pub struct Table {
    pub runner: String,
    /// Version of what is measured, not of the glue.
    pub version: String,
    pub entries: &'static [Entry],
    /// Compiler, flags, library build.
    pub notes: BTreeMap<String, String>,
}

impl Table {
    pub fn new(runner: &str, version: &str, entries: &'static [Entry]) -> Table {
        Table { runner: runner.to_owned(), version: version.to_owned(), entries, notes: BTreeMap::new() }
    }

    /// Something worth keeping with every record.
    pub fn note(mut self, name: &str, value: impl ToString) -> Table {
        self.notes.insert(name.to_owned(), value.to_string());
        self
    }
}

impl Runner for Table {
    fn hello(&self) -> Hello {
        Hello {
            protocol: VERSION,
            runner: self.runner.clone(),
            version: self.version.clone(),
            devices: cpu(),
            offers: self.entries.iter().map(Entry::offer).collect(),
            notes: self.notes.clone(),
        }
    }

    fn prepare(&mut self, mut job: Job) -> Result<Ready, Refusal> {
        let form = job.form();
        let mut rows = self.entries.iter().filter(|entry| entry.operation == form);
        let entry = rows.find(|entry| entry.implementation == job.implementation).ok_or_else(|| {
            unsupported(format!("`{}` has no `{form}` in runner `{}`", job.implementation, self.runner))
        })?;
        job.require(entry.dtypes)?;
        (entry.prepare)(&mut job)
    }
}
