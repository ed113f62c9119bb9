//! A bench: implementations, operations of its own, cases; and the roles that its binary plays.

use crate::host::Host;
use crate::implementation::{Implementation, Row};
use crate::mistake::Mistake;
#[cfg(feature = "operations")]
use crate::operation::{Operation, Own};
#[cfg(feature = "operations")]
use crate::own;
#[cfg(not(feature = "operations"))]
use crate::program;
use roofline_protocol::names::{RESERVED, bare, is_kebab, is_written};
use roofline_runner::Entry;
use std::ffi::OsString;
use std::process::ExitCode;

/// What a bench binary measures. Its `main` builds one and returns [`Bench::main`].
pub struct Bench {
    pub(crate) provider: String,
    version: String,
    entries: Vec<Entry>,
    #[cfg(feature = "operations")]
    pub(crate) operations: Vec<Own>,
    pub(crate) cases: Vec<String>,
}

impl Bench {
    /// A bench whose implementations are called `name/…`. The version is that of what is measured:
    /// `env!("CARGO_PKG_VERSION")`.
    pub fn new(name: &str, version: &str) -> Bench {
        Bench {
            provider: name.to_owned(),
            version: version.to_owned(),
            entries: Vec::new(),
            #[cfg(feature = "operations")]
            operations: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Adds an implementation.
    pub fn implementation<I: Implementation>(self) -> Bench {
        self.entry(Row::<I>::ENTRY)
    }

    /// Adds an implementation that prepares itself from a [`Job`](crate::Job): inputs of several types, an error of
    /// its own, a clock of its own. What its name has before a slash is replaced by the bench's name.
    pub fn entry(mut self, entry: Entry) -> Bench {
        self.entries.push(entry);
        self
    }

    /// Adds an operation of the user's own.
    #[cfg(feature = "operations")]
    pub fn operation<O: Operation>(mut self) -> Bench {
        self.operations.push(Own::of::<O>());
        self
    }

    /// Adds a case by its id, such as `softmax/f32/rows=512,cols=1000/threads=2`.
    pub fn case(mut self, id: &str) -> Bench {
        self.cases.push(id.to_owned());
        self
    }

    /// Adds cases by their ids.
    pub fn cases<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Bench {
        self.cases.extend(ids.into_iter().map(str::to_owned));
        self
    }

    /// Plays the role that the command line asks for: the bench itself, or one of the processes that it is measured by.
    pub fn main(self) -> ExitCode {
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let texts: Vec<&str> = words.iter().map(|word| word.to_str().unwrap_or_default()).collect();
        #[cfg(feature = "operations")]
        {
            if let Err(mistake) = own::bring(&self) {
                return mistake.report();
            }
            if let Some(code) = own::play(&self, &texts) {
                return code;
            }
        }
        if let ["runner", name] = texts[..] {
            let name = name.to_owned();
            return roofline_runner::serve(self.host(&name));
        }
        if let Err(mistake) = self.check() {
            return mistake.report();
        }
        #[cfg(feature = "operations")]
        return own::conduct(self, words.into_iter());
        #[cfg(not(feature = "operations"))]
        program::conduct(&self.provider, &self.cases, words.into_iter())
    }

    pub(crate) fn host(self, provider: &str) -> Host {
        Host { provider: provider.to_owned(), version: self.version, entries: self.entries }
    }

    /// Whether its names can stand in a row, each once.
    fn check(&self) -> Result<(), Mistake> {
        if !is_kebab(&self.provider) || RESERVED.contains(&self.provider.as_str()) {
            let hint =
                format!("write lowercase letters, digits and `-`, and none of {}", RESERVED.join(", "));
            return Err(Mistake::new(format!("a bench cannot be called `{}`", self.provider), hint));
        }
        for (index, entry) in self.entries.iter().enumerate() {
            let name = bare(entry.implementation);
            if !is_written(name) {
                let what = format!("an implementation cannot be called `{name}`");
                return Err(Mistake::new(what, "write letters, digits, `-`, `_` and `.`"));
            }
            let same = |other: &&Entry| {
                bare(other.implementation) == name
                    && other.operation == entry.operation
                    && other.dtypes.iter().any(|dtype| entry.dtypes.contains(dtype))
            };
            if self.entries[..index].iter().any(|other| same(&other)) {
                let what = format!("two implementations of `{}` are called `{name}`", entry.operation);
                return Err(Mistake::new(what, "give one another `NAME`"));
            }
        }
        Ok(())
    }
}
