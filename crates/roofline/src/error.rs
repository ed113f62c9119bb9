//! What goes wrong, said in one to three lines: what happened, where, what to do.

pub use roofline_run::terminal::{complain, tell};

use std::fmt;
use std::ops::Range;
use std::process::ExitCode;

/// A message with a hint and the exit code of its kind.
#[derive(Debug)]
pub struct Problem {
    what: String,
    hint: Option<String>,
    source: Option<Box<Source>>,
    code: u8,
}

/// The place in a file that a problem points at.
#[derive(Debug)]
struct Source {
    file: miette::NamedSource<String>,
    span: Range<usize>,
}

impl Problem {
    /// Our own failure: the store, the system.
    pub fn own(what: impl Into<String>) -> Problem {
        Problem { what: what.into(), hint: None, source: None, code: 1 }
    }

    /// A mistake in the command line or in a file that it names.
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { what: what.into(), hint: Some(hint.into()), source: None, code: 2 }
    }

    /// Nothing could run: nothing selected, a named runner absent.
    pub fn nothing(what: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { what: what.into(), hint: Some(hint.into()), source: None, code: 5 }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// Points at `span` of a file.
    pub fn at(mut self, name: &str, text: &str, span: Range<usize>) -> Problem {
        self.source = Some(Box::new(Source { file: miette::NamedSource::new(name, text.to_owned()), span }));
        self
    }

    /// Prints the problem to standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        let code = ExitCode::from(self.code);
        match self.source.is_some() {
            true => complain(&format!("{:?}", miette::Report::new(self))),
            false => complain(&self.to_string()),
        }
        code
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.source, &self.hint) {
            // With a place to point at, the hint is printed below the place.
            (None, Some(hint)) => write!(f, "error: {}\n\nhint: {hint}", self.what),
            (None, None) => write!(f, "error: {}", self.what),
            (Some(_), _) => write!(f, "{}", self.what),
        }
    }
}

impl std::error::Error for Problem {}

impl miette::Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.hint.as_ref().map(|hint| Box::new(hint) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|source| &source.file as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        let source = self.source.as_ref()?;
        let label = miette::LabeledSpan::new(None, source.span.start, source.span.len().max(1));
        Some(Box::new(std::iter::once(label)))
    }
}

impl From<roofline_store::StoreError> for Problem {
    fn from(error: roofline_store::StoreError) -> Problem {
        let hint = error.hint();
        Problem::own(format!("store: {error}")).with_hint(hint)
    }
}

impl From<roofline_run::baseline::Unusable> for Problem {
    fn from(error: roofline_run::baseline::Unusable) -> Problem {
        use roofline_run::baseline::Unusable;
        let hint = error.hint();
        match error {
            Unusable::Io { .. } => Problem::own(error.to_string()).with_hint(hint),
            _ => Problem::usage(error.to_string(), hint),
        }
    }
}

impl From<roofline_run::Unbegun> for Problem {
    fn from(error: roofline_run::Unbegun) -> Problem {
        use roofline_run::Unbegun;
        match error {
            Unbegun::Store(error) => error.into(),
            Unbegun::Busy(_) => {
                let hint =
                    "one run at a time, or they would measure each other; wait longer, or end the other one";
                Problem::nothing(error.to_string(), hint)
            }
            Unbegun::Lock(_) | Unbegun::Interrupted => Problem::own(error.to_string()),
        }
    }
}
