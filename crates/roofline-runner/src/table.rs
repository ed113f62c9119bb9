//! A runner as a table: one row per implementation and operation.

use crate::job::Job;
use crate::kernel::{Ready, Runner, unsupported};
use roofline_protocol::dtype::Dtype;
use roofline_protocol::messages::{Hello, Offer, Refusal, VERSION, cpu};
use std::collections::BTreeMap;

/// One implementation of one operation, made by [`Entry::new`] and what follows it. The same name may
/// stand there again for other dtypes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// `provider/name`.
    pub implementation: &'static str,
    /// `operation` or `operation.variant`.
    pub operation: &'static str,
    pub dtypes: &'static [Dtype],
    /// Precisions beside the usual ones of those types: `f16+f16`.
    pub precisions: &'static [&'static str],
    /// Parameters that it takes; of others it has the default alone.
    pub params: &'static [&'static str],
    /// One sentence.
    pub about: &'static str,
    /// Whether it uses more than one thread when it may.
    pub parallel: bool,
    /// What it requires of a case, such as `cols % 16 == 0, align 32`; empty for nothing.
    pub requires: &'static str,
    pub prepare: fn(&mut Job) -> Result<Ready, Refusal>,
}

impl Entry {
    /// An implementation that is serial and requires nothing.
    pub const fn new(
        implementation: &'static str,
        operation: &'static str,
        dtypes: &'static [Dtype],
        prepare: fn(&mut Job) -> Result<Ready, Refusal>,
    ) -> Entry {
        Entry {
            implementation,
            operation,
            dtypes,
            precisions: &[],
            params: &[],
            about: "",
            parallel: false,
            requires: "",
            prepare,
        }
    }

    /// Computes in these precisions too, such as `f16+f16`.
    pub const fn precisions(self, precisions: &'static [&'static str]) -> Entry {
        Entry { precisions, ..self }
    }

    /// Takes these parameters, such as `eps`: their values are [`Job::param`]'s.
    pub const fn params(self, params: &'static [&'static str]) -> Entry {
        Entry { params, ..self }
    }

    /// What it is, in one sentence.
    pub const fn about(self, about: &'static str) -> Entry {
        Entry { about, ..self }
    }

    /// Uses more than one thread when it may.
    pub const fn parallel(self) -> Entry {
        Entry { parallel: true, ..self }
    }

    /// Is right under a condition only: sizes (`cols % 16 == 0`, `m >= 16`), `align 16` to `align 128`,
    /// `finite` inputs, `flushes denormals`; several stand between commas.
    pub const fn requires(self, condition: &'static str) -> Entry {
        Entry { requires: condition, ..self }
    }

    /// The same for another operation.
    pub const fn operation(self, operation: &'static str) -> Entry {
        Entry { operation, ..self }
    }

    /// What the conductor is told of it.
    pub fn offer(&self) -> Offer {
        let dtypes = self.dtypes.iter().map(|dtype| dtype.name()).chain(self.precisions.iter().copied());
        Offer {
            about: self.about.to_owned(),
            parallel: self.parallel,
            requires: self.requires.to_owned(),
            params: self.params.iter().map(|&name| name.to_owned()).collect(),
            ..Offer::new(self.implementation, self.operation, &dtypes.collect::<Vec<_>>())
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
            operations: Vec::new(),
            notes: self.notes.clone(),
        }
    }

    fn prepare(&mut self, mut job: Job) -> Result<Ready, Refusal> {
        let form = job.form();
        let is_meant = |entry: &&Entry| entry.operation == form && entry.implementation == job.implementation;
        let rows = || self.entries.iter().filter(is_meant);
        // Where none has the precision, the first says so.
        let own = job.precision();
        let entry = rows().find(|entry| entry.offer().dtypes.contains(&own)).or_else(|| rows().next());
        let entry = entry.ok_or_else(|| {
            unsupported(format!("`{}` has no `{form}` in runner `{}`", job.implementation, self.runner))
        })?;
        job.require(&entry.offer().dtypes)?;
        (entry.prepare)(&mut job)
    }
}
