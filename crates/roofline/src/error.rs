//! What goes wrong, said in one to three lines: what happened, where, what to do.

pub use roofline_run::terminal::{complain, tell};

use roofline_core::text::line_and_column;
use std::fmt;
use std::ops::Range;
use std::process::ExitCode;

/// A message with a hint and the exit code of its kind.
#[derive(Debug)]
pub struct Problem {
    what: String,
    hint: Option<String>,
    /// The line of a file that it points at.
    excerpt: Option<String>,
    code: u8,
}

impl Problem {
    /// Our own failure: the store, the system.
    pub fn own(what: impl Into<String>) -> Problem {
        Problem { what: what.into(), hint: None, excerpt: None, code: 1 }
    }

    /// A mistake in the command line or in a file that it names.
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { what: what.into(), hint: Some(hint.into()), excerpt: None, code: 2 }
    }

    /// Nothing could run: nothing selected, a named runner absent.
    pub fn nothing(what: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { what: what.into(), hint: Some(hint.into()), excerpt: None, code: 5 }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// Points at `span` of a file's text.
    pub fn at(mut self, text: &str, span: Range<usize>) -> Problem {
        self.excerpt = Some(excerpt(text, span));
        self
    }

    /// Prints the problem to standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        complain(&self.to_string());
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n\n{excerpt}")?;
        }
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\n\nhint: {hint}"))
    }
}

/// The line in which a span begins, with its number, and marks below what of the line is meant.
fn excerpt(text: &str, span: Range<usize>) -> String {
    let (number, column) = line_and_column(text, span.start);
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let rest = line.chars().count().saturating_sub(column - 1);
    let meant = text.get(span).unwrap_or_default().chars().count();
    let marks = "^".repeat(meant.min(rest).max(1));
    // Marks stand below what they mean whatever a tab is to a terminal.
    let before: String = line.chars().take(column - 1).map(|c| if c == '\t' { c } else { ' ' }).collect();
    let number = number.to_string();
    format!("{number} | {line}\n{:>width$} | {before}{marks}", "", width = number.len())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_marks_what_is_meant_and_no_more_than_its_line() {
        let text = "about = \"é\"\r\n\tdtpye = [\n]\n";
        let of = |part: &str| {
            let start = text.find(part).unwrap();
            excerpt(text, start..start + part.len())
        };
        assert_eq!(of("dtpye"), "2 | \tdtpye = [\n  | \t^^^^^");
        assert_eq!(of("\"é\""), "1 | about = \"é\"\n  |         ^^^");
        assert_eq!(of("[\n]"), "2 | \tdtpye = [\n  | \t        ^");
        assert_eq!(excerpt("a", 1..1), "1 | a\n  |  ^", "the end of a file");
        assert_eq!(excerpt("", 0..0), "1 | \n  | ^");
        let far = format!("{}x", "\n".repeat(9));
        assert_eq!(excerpt(&far, 9..10), "10 | x\n   | ^");
        let problem = Problem::usage("what", "hint").at("a", 0..1);
        assert_eq!(problem.to_string(), "error: what\n\n1 | a\n  | ^\n\nhint: hint");
    }
}
