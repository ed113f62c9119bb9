//! One file a verb.

pub mod ab;
pub mod again;
pub mod baselines;
pub mod bench;
pub mod compare;
pub mod completions;
pub mod explain;
pub mod export;
pub mod history;
pub mod import;
pub mod install;
pub mod job;
pub mod kept;
pub mod list;
pub mod machine;
pub mod man;
pub mod measure;
pub mod merge;
pub mod new;
pub mod offers;
pub mod runners;
pub mod runs;
pub mod take;

pub use roofline_run::terminal::style;

use roofline_run::terminal;

/// Writes what people read to standard output, in the characters that their locale has.
pub fn show(text: &str) -> Result<(), crate::error::Problem> {
    print(&terminal::spelled(text))
}

/// Writes a result to standard output as it is.
pub fn print(text: &str) -> Result<(), crate::error::Problem> {
    terminal::print(text).map_err(|error| crate::error::Problem::own(format!("standard output: {error}")))
}
