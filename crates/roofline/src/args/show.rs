//! How a result is shown.

use super::values::sort_keys;
use clap::Args;
use roofline_core::target::Choice;
use roofline_report::{Reading, Sort};

/// How a result is shown.
#[derive(Clone, Debug, Args)]
pub struct Show {
    /// Format of the result on standard output
    #[arg(long, default_value = "table")]
    pub format: String,
    /// Order of the rows, the best first; `case` is the order of the run
    #[arg(long, value_name = "KEY", default_value = "case", value_parser = sort_keys())]
    pub sort: Sort,
    /// List rows that a runner does not offer in tables, too, instead of counting them
    #[arg(long)]
    pub all: bool,
    /// Say nothing on standard error but what goes wrong: no progress, no remarks
    #[arg(long)]
    pub quiet: bool,
}

/// A question that is answered instead of the table.
#[derive(Clone, Debug, Default, Args)]
#[group(multiple = false, conflicts_with = "format")]
pub struct Read {
    /// Instead of the table, show serial against parallel: speed-up, efficiency, and the sizes from which threads pay
    #[arg(long)]
    pub scaling: bool,
    /// Instead of the table, show the fastest implementation of each case, and which one to take: a simpler one of the same provider where that is hardly slower
    #[arg(long)]
    pub best: bool,
    /// Instead of the table, show how often each implementation wins, and its mean speed beside what `--against` names (the hub), or else beside the slowest one
    #[arg(long)]
    pub wins: bool,
    /// Instead of the table, show how times grow with an axis, all else the same
    #[arg(long, value_name = "AXIS")]
    pub by: Option<String>,
}

impl Read {
    pub fn reading(&self) -> Option<Reading> {
        match self {
            Read { scaling: true, .. } => Some(Reading::Scaling),
            Read { best: true, .. } => Some(Reading::Best(Choice::default())),
            Read { wins: true, .. } => Some(Reading::Wins),
            Read { by, .. } => by.clone().map(Reading::By),
        }
    }
}
