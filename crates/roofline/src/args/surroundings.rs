//! What is around measuring: lists, runners, the machine, a row by hand.

use super::values::fills;
use super::{Places, Select};
use clap::{Args, Subcommand, ValueEnum};
use roofline_conductor::job::Placement;
use roofline_core::fill::Fill;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a bench binary says of itself when it becomes this program.
#[derive(Debug, Args)]
pub struct Bench {
    /// The bench binary
    pub binary: PathBuf,
    /// What the names of its implementations begin with
    #[arg(long)]
    pub name: String,
    /// A case of it
    #[arg(long = "case", value_name = "CASE")]
    pub cases: Vec<String>,
    /// Its own options
    #[arg(last = true)]
    pub words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct List {
    #[arg(value_enum, default_value = "ops")]
    pub what: What,
    #[command(flatten)]
    pub select: Select,
    #[command(flatten)]
    pub places: Places,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    #[value(alias = "operations")]
    Ops,
    Implementations,
    Suites,
    Groups,
    Sizes,
    Cases,
    Devices,
    Formats,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Runners {
    #[command(subcommand)]
    pub action: Option<RunnersAction>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub places: Places,
}

#[derive(Debug, Subcommand)]
pub enum RunnersAction {
    /// Make an environment of Roofline's own for a Python runner, with the packages that it needs
    Install(Install),
}

#[derive(Debug, Args)]
pub struct Install {
    /// The runner, such as `torch`
    pub name: String,
    /// Another package index than pip's own
    #[arg(long, value_name = "URL", conflicts_with = "python")]
    pub index_url: Option<String>,
    /// Instead of making an environment, use this interpreter, which has the packages already
    #[arg(long, value_name = "INTERPRETER")]
    pub python: Option<PathBuf>,
    /// A folder with a `runner.toml`, for a runner that is not found by its name; may be repeated
    #[arg(long, value_name = "FOLDER")]
    pub runner: Vec<String>,
    /// The store, beside which offers are remembered
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

impl Install {
    /// Where the runner is found.
    pub fn places(&self) -> Places {
        Places { runner: self.runner.clone(), store: self.store.clone(), ..Places::default() }
    }
}

#[derive(Debug, Args)]
pub struct Machine {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Measure the roofs again, also where they are known
    #[arg(long)]
    pub measure: bool,
    /// Write the roofline as a picture
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// The store, beside which the roofs are kept
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
    /// Measure the roofs in a moment, at a few sizes: for tests
    #[arg(long, hide = true)]
    pub quick: bool,
}

#[derive(Debug, Args)]
pub struct Job {
    /// `CASE@provider/name`
    pub row: String,
    /// Folder for the conversation and the tensors
    #[arg(long, value_name = "FOLDER", default_value = "roofline-job")]
    pub to: PathBuf,
    /// Launches in one question
    #[arg(long, default_value_t = 1)]
    pub launches: u32,
    /// Where tensors lie in their files: `start` or `end`, flush against an unreadable page; `end/64`, as near to
    /// it as data aligned to 64 bytes can; `offset/192`, so many bytes into a page, with room on both sides
    #[arg(long, value_name = "PLACE", default_value = "offset/0")]
    pub placement: Placement,
    /// Family of the inputs
    #[arg(long, value_name = "FAMILY", default_value = "uniform", value_parser = fills())]
    pub fill: Fill,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub places: Places,
}

#[derive(Debug, Args)]
pub struct New {
    /// What to begin
    #[arg(value_enum)]
    pub kind: NewKind,
    /// What it is called, and its file with it
    pub name: String,
    /// What a kernel or an operation is written in
    #[arg(long, value_enum, default_value = "c")]
    pub language: Language,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NewKind {
    /// An operation of one's own, with a kernel for it
    Operation,
    /// A kernel for an operation of the house
    Kernel,
    /// A suite of cases, below `suites`
    Suite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    C,
    Python,
}
