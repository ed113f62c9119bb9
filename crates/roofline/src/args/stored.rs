//! What is stored: runs, records, baselines, and files that come and go.

use super::Read;
use super::values::{parse_age, parse_count, parse_implementation, sort_keys};
use clap::{Args, Subcommand};
use roofline_report::Sort;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub struct Baselines {
    #[command(subcommand)]
    pub action: Option<BaselinesAction>,
    /// The store, beside which baselines lie
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH, global = true)]
    pub store: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum BaselinesAction {
    /// Forget a baseline, and the files that no other one has
    Remove { name: String },
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Runs {
    #[command(subcommand)]
    pub action: Option<RunsAction>,
    /// At most so many, the latest ones
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = parse_count)]
    pub last: usize,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum RunsAction {
    /// Remove runs with their records; baselines stay
    Remove {
        /// Ids as `roofline runs` shows them, or their ends
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// The store
        #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
        store: PathBuf,
    },
    /// Remove all runs but those that are worth keeping; baselines stay
    Prune(Prune),
}

#[derive(Debug, Args)]
pub struct Prune {
    /// Keep so many, the latest ones, however old
    #[arg(long, value_name = "N", required_unless_present = "older_than", value_parser = parse_count)]
    pub keep: Option<usize>,
    /// Keep all that started within this time, such as `30d`, `8w` or `12h`
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    pub older_than: Option<Duration>,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

#[derive(Debug, Args)]
pub struct Merge {
    /// The stores to take from, which are left as they are
    #[arg(value_name = "STORE", required = true)]
    pub from: Vec<PathBuf>,
    /// The store to add to; made where there is none
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

#[derive(Debug, Args)]
pub struct History {
    /// Rows as `CASE@provider/name`; cases or operations, all of whose rows are shown; globs allowed
    #[arg(value_name = "ROW|CASE|OPERATION", required = true)]
    pub rows: Vec<String>,
    /// At most so many records of each, the latest ones
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_count)]
    pub last: usize,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// What was: a run by its id or the end of it, `latest`, or a file that `import` reads
    #[arg(value_name = "RUN|FILE")]
    pub old: String,
    /// What is, named alike
    #[arg(value_name = "RUN|FILE")]
    pub new: String,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// `CASE@provider/name`; the latest record of it is shown
    pub row: String,
    /// Its record in this run, by its id; `roofline runs` shows them
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

#[derive(Debug, Args)]
pub struct Export {
    /// Operations (`softmax`), case ids or globs of them (`*rows=64*`); all rows by default
    #[arg(value_name = "SELECT")]
    pub select: Vec<String>,
    /// Implementations as `provider/name`, globs allowed, a provider alone for all of it, separated by commas
    #[arg(short, long = "implementation", value_delimiter = ',', value_name = "GLOB", value_parser = parse_implementation)]
    pub implementation: Vec<String>,
    /// The run, by its id
    #[arg(long, value_name = "ID", default_value = "latest")]
    pub run: String,
    /// Format of the result; `roofline list formats` shows them
    #[arg(long, value_name = "NAME", default_value = "table")]
    pub format: String,
    /// Order of the rows, the best first; `case` is the order of the run
    #[arg(long, value_name = "KEY", default_value = "case", value_parser = sort_keys())]
    pub sort: Sort,
    /// List rows that a runner does not offer in tables, too, instead of counting them
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub read: Read,
    /// Where to write; standard output by default, but for formats that are a folder
    #[arg(long, value_name = "FILE|FOLDER")]
    pub to: Option<PathBuf>,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

#[derive(Debug, Args)]
pub struct Import {
    /// The file, or Criterion's folder `target/criterion`
    #[arg(value_name = "FILE|FOLDER")]
    pub path: PathBuf,
    /// Its format; told from the content by default
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}
