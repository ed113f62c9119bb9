//! A bench: implementations, operations of its own, cases; and the roles that its binary plays.

use crate::host::{Host, bare};
use crate::implementation::{Implementation, Row};
use crate::mistake::Mistake;
use crate::operation::{Operation, Own};
use crate::options::Options;
use crate::{reference, run};
use clap::Parser;
use roofline_conductor::keeper;
use roofline_core::case::Case;
use roofline_core::names::{is_kebab, is_written};
use roofline_core::ops;
use roofline_runner::Entry;
use std::process::ExitCode;

/// What a bench binary measures. Its `main` builds one and returns [`Bench::main`].
pub struct Bench {
    provider: String,
    version: String,
    entries: Vec<Entry>,
    operations: Vec<Own>,
    cases: Vec<String>,
}

/// A bench whose names and cases were checked.
pub(crate) struct Checked {
    pub(crate) provider: String,
    pub(crate) host: Host,
    pub(crate) cases: Vec<Case>,
}

impl Bench {
    /// A bench whose implementations are called `name/…`. The version is that of what is measured:
    /// `env!("CARGO_PKG_VERSION")`.
    pub fn new(name: &str, version: &str) -> Bench {
        Bench {
            provider: name.to_owned(),
            version: version.to_owned(),
            entries: Vec::new(),
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

    /// Plays the role that the command line asks for: the bench itself, or one of the processes that it starts.
    pub fn main(self) -> ExitCode {
        let words: Vec<String> =
            std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let rows = self.operations.iter().map(|own| (own.row)()).collect();
        if let Err(why) = ops::bring(rows) {
            return Mistake::usage(why, "mend the operation in the bench").report();
        }
        match words.iter().map(String::as_str).collect::<Vec<&str>>()[..] {
            ["keeper"] => match keeper::serve() {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => Mistake::own(format!("keeper: {error}")).report(),
            },
            // The probes of every limit are here; kernels of the house are in the program `roofline` alone.
            ["runner", HOUSE] => roofline_runner::limit::serve(),
            ["runner", name] => roofline_runner::serve(self.host(name)),
            ["reference"] => reference::serve(&self.operations),
            _ => {
                let options = Options::parse();
                let code = self.check().and_then(|bench| run::run(&bench, options));
                reference::end();
                code.unwrap_or_else(|mistake| mistake.report())
            }
        }
    }

    fn host(self, provider: &str) -> Host {
        Host { provider: provider.to_owned(), version: self.version, entries: self.entries }
    }

    fn check(self) -> Result<Checked, Mistake> {
        let provider = self.provider.clone();
        if !is_kebab(&provider) || RESERVED.contains(&provider.as_str()) {
            let hint =
                format!("write lowercase letters, digits and `-`, and none of {}", RESERVED.join(", "));
            return Err(Mistake::usage(format!("a bench cannot be called `{provider}`"), hint));
        }
        for (index, entry) in self.entries.iter().enumerate() {
            let name = bare(entry.implementation);
            if !is_written(name) {
                let what = format!("an implementation cannot be called `{name}`");
                return Err(Mistake::usage(what, "write letters, digits, `-`, `_` and `.`"));
            }
            if let Err((why, hint)) = roofline_core::case::parse_form(entry.operation) {
                let what = format!("implementation `{name}`: {why}");
                let hint = format!("{hint}; one of your own joins by `.operation::<…>()`");
                return Err(Mistake::usage(what, hint));
            }
            let same = |other: &&Entry| {
                bare(other.implementation) == name
                    && other.operation == entry.operation
                    && other.dtypes.iter().any(|dtype| entry.dtypes.contains(dtype))
            };
            if self.entries[..index].iter().any(|other| same(&other)) {
                let what = format!("two implementations of `{}` are called `{name}`", entry.operation);
                return Err(Mistake::usage(what, "give one another `NAME`"));
            }
        }
        let mut cases: Vec<Case> = Vec::new();
        for id in &self.cases {
            let case: Case = id.parse().map_err(|error: roofline_core::case::CaseError| {
                Mistake::usage(error.to_string(), error.hint.clone())
            })?;
            let fits = |entry: &&Entry| entry.operation == case.form() && entry.offer().takes(&case).is_ok();
            if !self.entries.iter().any(|entry| fits(&entry)) {
                let what =
                    format!("no implementation of this bench has `{}` in {}", case.form(), case.precision);
                return Err(Mistake::usage(what, format!("add one, or leave out the case `{id}`")));
            }
            // Tensors of a size of zero or beyond all memory are the conductor's to refuse.
            let small = case.resized(&vec![2; case.sizes.len()]);
            case.operation.check_tensors(&small).map_err(|why| {
                Mistake::usage(format!("operation `{}`: {why}", case.operation.name), "mend `tensors`")
            })?;
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        if cases.is_empty() {
            let hint = "add `.case(\"softmax/f32/rows=512,cols=1000\")`";
            return Err(Mistake::usage("the bench has no case", hint));
        }
        Ok(Checked { host: self.host(&provider), provider, cases })
    }
}

/// The house, as a runner and as a provider.
pub(crate) const HOUSE: &str = "cpu";
/// Names of runners and providers that have a meaning of their own.
pub(crate) const RESERVED: [&str; 2] = [HOUSE, "limit"];
