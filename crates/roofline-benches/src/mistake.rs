//! What goes wrong, said in one to three lines, with its exit code.

use roofline_run::baseline::Unusable;
use roofline_run::terminal::tell;
use roofline_store::StoreError;
use std::fmt;
use std::process::ExitCode;

#[derive(Debug)]
pub(crate) struct Mistake {
    what: String,
    hint: Option<String>,
    code: u8,
}

impl Mistake {
    /// A failure of the system around us.
    pub(crate) fn own(what: impl Into<String>) -> Mistake {
        Mistake { what: what.into(), hint: None, code: 1 }
    }

    /// A mistake in the bench or its options.
    pub(crate) fn usage(what: impl Into<String>, hint: impl Into<String>) -> Mistake {
        Mistake { what: what.into(), hint: Some(hint.into()), code: 2 }
    }

    /// What the store says of itself.
    pub(crate) fn of_store(error: &StoreError) -> Mistake {
        Mistake { what: format!("store: {error}"), hint: Some(error.hint()), code: 1 }
    }

    /// Why there is nothing to compare with.
    pub(crate) fn of_baseline(why: &Unusable) -> Mistake {
        let code = if matches!(why, Unusable::Io { .. }) { 1 } else { 2 };
        let hint = why.hint().replace("roofline run --save", "cargo bench -- --save-baseline");
        Mistake { what: why.to_string(), hint: Some(hint), code }
    }

    /// Says it, and gives the code to end with.
    pub(crate) fn report(&self) -> ExitCode {
        tell(&format!("error: {self}"));
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\n\nhint: {hint}"))
    }
}
