//! A mistake in a bench, said with what to do.

use std::io::Write;
use std::process::ExitCode;

#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) what: String,
    pub(crate) hint: String,
}

impl Mistake {
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Mistake {
        Mistake { what: what.into(), hint: hint.into() }
    }

    /// Prints it, and gives the code of all mistakes in a bench or its options.
    pub(crate) fn report(&self) -> ExitCode {
        // Where nobody reads, nobody is to be told.
        let _ = writeln!(std::io::stderr(), "error: {}\n\nhint: {}", self.what, self.hint);
        ExitCode::from(2)
    }
}
