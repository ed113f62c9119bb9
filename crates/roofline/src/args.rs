//! Arguments: one definition gives parser, help and completions.

mod values;

use clap::{Args, Parser, Subcommand, ValueEnum};
use roofline_conductor::job::Placement;
use roofline_core::decision::FailOn;
use roofline_core::fill::Fill;
use roofline_core::target::Choice;
use roofline_report::{Reading, Sort};
use std::path::PathBuf;
use std::time::Duration;
use values::{
    fills, parse_delta, parse_detect, parse_duration, parse_memory, parse_size, parse_threads, parse_timeout,
    sort_keys,
};

pub use values::Size;

/// Is a compute kernel right, and how fast is it, honestly.
#[derive(Debug, Parser)]
#[command(name = "roofline", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Line {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all well; 1 our own failure, such as the store; 2 usage; 3 a row that
`--fail-on` names, for `ab` one that is slower, a target that is missed; 4 a row is wrong, suspect, crashed, timed out, out of memory or broke the protocol; 5 nothing ran; 130 interrupted.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what there is: operations, implementations, suites with their groups and sizes, cases, devices, formats
    List(List),
    /// Show the runners: present or what to do, version, operations covered; `install` brings one
    Runners(Runners),
    /// Prove implementations right; measure nothing
    Check(Measure),
    /// Prove, measure, record, and print a table
    Run(Measure),
    /// Measure two sides of a change in the same rounds, and end with 3 when the new one is slower
    Ab(Ab),
    /// Show what `run --save` has kept, and forget it
    Baselines(Baselines),
    /// Say why a row has its status, show its samples, and how to reproduce it
    Explain(Explain),
    /// Show the runs of the store: id, when, how its rows ended, and the command
    Runs(Runs),
    /// Show what rows were in the runs of the store, one after the other
    History(History),
    /// Show this machine: identity, what disturbs measuring, and its roofs, measured once
    Machine(Machine),
    /// Write a row's conversation and tensors as files, to drive its runner by hand
    Job(Job),
    /// Write records of the store in the formats of other programs
    Export(Export),
    /// Read a file of another benchmark tool into the store, and print a table
    Import(Import),
    /// Print `roofline.h`, the interface of kernels in a shared library (`--lib`)
    Header,
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
    /// Parent of all runner processes; started by roofline itself
    #[command(hide = true)]
    Keeper,
    /// A built-in runner; started by roofline itself
    #[command(hide = true)]
    #[command(subcommand)]
    Runner(BuiltIn),
}

/// Runners inside this binary.
#[derive(Debug, Subcommand)]
pub enum BuiltIn {
    /// The CPU kernels of the house
    Cpu,
    /// The kernels of a shared library
    Lib { file: PathBuf },
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

/// Which cases: operations, globs or case ids, narrowed by options.
#[derive(Clone, Debug, Default, Args)]
pub struct Select {
    /// Operations (`softmax`), globs (`mat*`) or case ids (`softmax/f32/rows=64,cols=1000`)
    #[arg(value_name = "SELECT")]
    pub select: Vec<String>,
    /// Operations, separated by commas: another way to write SELECT
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub op: Vec<String>,
    /// A suite by name or path; `quick` when nothing else is selected
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
    /// Groups of the suite, separated by commas; `roofline list groups` shows them
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub group: Vec<String>,
    /// Element types, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "DTYPE")]
    pub dtype: Vec<String>,
    /// Values of an axis: `rows=1,64`, `cols=64:4096:*2`, `k=8:64:+8`, `zip(m,n,k)=128,256`
    #[arg(long, value_name = "AXIS=VALUES")]
    pub axis: Vec<String>,
    /// Values of a parameter, such as `eps=1e-5,1e-6`, for the operations that have it; may be repeated
    #[arg(long, value_name = "NAME=VALUES")]
    pub param: Vec<String>,
    /// Leave out cases whose tensors take more than this, such as `64MiB`; or a class of sizes of the suite, such as `small`, which `roofline list sizes` shows
    #[arg(long, value_name = "BYTES|CLASS", value_parser = parse_size, allow_negative_numbers = true)]
    pub size: Option<Size>,
    /// Upper limits of threads, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = parse_threads)]
    pub threads: Vec<u32>,
    /// `cpu` or `cuda:N`
    #[arg(long)]
    pub device: Option<String>,
    /// State of the caches before a timed launch
    #[arg(long, value_enum)]
    pub cache: Option<CacheArg>,
}

impl Select {
    /// All words that name operations or cases.
    pub fn words(&self) -> impl Iterator<Item = &String> {
        self.select.iter().chain(&self.op)
    }

    /// Whether no case of the suite is left out.
    pub fn is_whole(&self) -> bool {
        let is_narrowed = self.size.is_some() || !self.group.is_empty() || !self.dtype.is_empty();
        self.words().next().is_none() && !is_narrowed && self.threads.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CacheArg {
    Warm,
    Cold,
}

/// Where runners and suites are found.
#[derive(Clone, Debug, Default, Args)]
pub struct Places {
    /// A runner by name, or a folder with a `runner.toml`; may be repeated
    #[arg(long, value_name = "NAME|FOLDER")]
    pub runner: Vec<String>,
    /// A Python file with decorated functions, which joins as a runner; may be repeated
    #[arg(long, value_name = "FILE")]
    pub python: Vec<PathBuf>,
    /// A shared library with kernels in C by `roofline.h`, offered as `FILE/NAME`; may be repeated
    #[arg(long, value_name = "FILE")]
    pub lib: Vec<PathBuf>,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct Measure {
    #[command(flatten)]
    pub select: Select,
    /// Implementations as `provider/name`, globs allowed, separated by commas; all built-in ones by default. Other runners take part only when named here or by `--runner`
    #[arg(short, long = "implementation", value_delimiter = ',', value_name = "GLOB")]
    pub implementation: Vec<String>,
    #[command(flatten)]
    pub places: Places,
    #[command(flatten)]
    pub show: Show,
    #[command(flatten)]
    pub read: Read,
    #[command(flatten)]
    pub how: How,
    /// Compare with this implementation, or with the fastest of a provider, such as `cpu/plain` or `numpy`; its runner takes part
    #[arg(long, value_name = "IMPLEMENTATION|PROVIDER", group = "beside")]
    pub against: Option<String>,
    /// Keep what this run measures under a name, to be measured again beside what comes after it: libraries, Python files, folders of runners, the kernels of the house
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,
    /// Measure what was kept under this name as well, and compare each implementation with its older self
    #[arg(long, value_name = "NAME", group = "beside")]
    pub baseline: Option<String>,
    /// End with 3 when a row is slower than what `--against` or `--baseline` names, for sure by more than so many percent, or when neither is known; such a row is measured again first, and all rows together are held to the error probability of one. `policy` goes by the rules and waivers of `roofline.toml`, `missed` by the targets of the suite, as `--targets` does
    #[arg(long, value_name = "slower|slower=2%|inconclusive|policy|missed")]
    pub fail_on: Option<FailOn>,
    /// Measure what the targets of the suite are about, and say which are met, missed or undecided, with 99 % confidence; end with 3 on a miss
    #[arg(long, conflicts_with_all = ["quick", "Read", "baseline"])]
    pub targets: bool,
    /// Go on with the latest run, where it was stopped; what stands is not measured again
    #[arg(long)]
    pub resume: bool,
    /// Show the plan and its time, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// How a result is shown.
#[derive(Clone, Debug, Args)]
pub struct Show {
    /// Format of the result on standard output
    #[arg(long, default_value = "table")]
    pub format: String,
    /// Order of the rows in tables and CSV, the best first; `case` is the order of the run
    #[arg(long, value_name = "KEY", default_value = "case", value_parser = sort_keys())]
    pub sort: Sort,
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
    /// Instead of the table, show how often each implementation wins, and its mean speed beside the hub or the slowest one
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

/// How it is measured.
#[derive(Clone, Debug, Args)]
pub struct How {
    /// Time for one implementation's comparison with the hub, such as `500ms` or `10s`; never fewer than six sets
    #[arg(long, value_parser = parse_duration, default_value = "2s")]
    pub budget: Duration,
    /// Time for the whole run, such as `5min`; what was reached then is said
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub total_budget: Option<Duration>,
    /// Shorter blocks, as many sets; of a suite with groups a few cases of each
    #[arg(long, visible_alias = "fast")]
    pub quick: bool,
    /// A difference that counts as none, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = parse_delta)]
    pub delta: f64,
    /// How long one launch may take; a runner has ten times that, but no more than a minute, to start
    #[arg(long, value_parser = parse_timeout, default_value = "30s")]
    pub timeout: Duration,
    /// Limit of memory, such as `8GiB`: for what a runner allocates itself, and again for a case's tensors; half of the machine's memory by default
    #[arg(long, value_parser = parse_memory, value_name = "BYTES")]
    pub memory: Option<u64>,
    /// How long to wait for another run to end, such as `10min`; as long as it takes by default
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub wait: Option<Duration>,
    /// Seed of all inputs, samples and places; a secret one by default
    #[arg(long)]
    pub seed: Option<u64>,
    /// Isolation of runners: as far as this system has it, or a row that would run without all of it is refused
    #[arg(long, value_enum, value_name = "HOW", default_value = "best-effort")]
    pub sandbox: SandboxArg,
    /// What evidence rows need: any, or every check held in full, so that a row with a weaker one is suspect
    #[arg(long, value_enum, value_name = "WHICH", default_value = "any")]
    pub require_evidence: EvidenceArg,
}

/// Two sides, measured in the same rounds.
#[derive(Clone, Debug, Args)]
pub struct Ab {
    /// What was: a git revision, `.` for the working tree, a shared library, a Python file, a folder with a `runner.toml`, or a name of `run --save`
    pub old: String,
    /// What is to replace it, named alike
    pub new: String,
    #[command(flatten)]
    pub select: Select,
    /// Implementations by name, without what stands before the slash, globs allowed, separated by commas; all by default
    #[arg(short, long = "implementation", value_delimiter = ',', value_name = "GLOB")]
    pub implementation: Vec<String>,
    #[command(flatten)]
    pub show: Show,
    #[command(flatten)]
    pub how: How,
    /// Take as many sets as it takes to tell a difference of so many percent from none; the first six say how many, and how long that will be
    #[arg(long, value_name = "PERCENT", value_parser = parse_detect, conflicts_with_all = ["delta", "budget", "quick"])]
    pub detect: Option<f64>,
    /// What ends with 3: a row that is slower, for sure by more than so many percent, or of which neither is known; such a row is measured again first, and all rows together are held to the error probability of one. `policy` goes by the rules and waivers of `roofline.toml`
    #[arg(long, value_name = "slower|slower=2%|inconclusive|policy", value_parser = FailOn::of_ab, default_value = "slower")]
    pub fail_on: FailOn,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
    /// Show the plan and its time, and do nothing; what has to be built is built
    #[arg(long)]
    pub dry_run: bool,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SandboxArg {
    BestEffort,
    Required,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EvidenceArg {
    Any,
    Held,
}

#[derive(Debug, Args)]
pub struct Runs {
    /// At most so many, the latest ones
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub last: usize,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

#[derive(Debug, Args)]
pub struct History {
    /// Rows as `CASE@provider/name`, or cases, all of whose rows are shown; globs allowed
    #[arg(value_name = "ROW|CASE", required = true)]
    pub rows: Vec<String>,
    /// At most so many records of each, the latest ones
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub last: usize,
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
    #[command(flatten)]
    pub places: Places,
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
pub struct Export {
    /// Operations (`softmax`), case ids or globs of them (`*rows=64*`); all rows by default
    #[arg(value_name = "SELECT")]
    pub select: Vec<String>,
    /// Implementations as `provider/name`, globs allowed, separated by commas
    #[arg(short, long = "implementation", value_delimiter = ',', value_name = "GLOB")]
    pub implementation: Vec<String>,
    /// The run, by its id
    #[arg(long, value_name = "ID", default_value = "latest")]
    pub run: String,
    /// Format of the result; `roofline list formats` shows them
    #[arg(long, value_name = "NAME", default_value = "table")]
    pub format: String,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Line::command().debug_assert();
    }

    /// The page for people who come from elsewhere must name options that exist.
    #[test]
    fn commands_of_the_migration_page_parse() {
        let page = include_str!("../../../docs/migrating.md");
        let commands: Vec<&str> =
            page.split('`').filter(|text| text.starts_with("roofline ") && !text.contains('\n')).collect();
        assert!(commands.len() > 20, "{commands:?}");
        for command in commands {
            let words = command.split(' ').map(|word| word.trim_matches('\''));
            assert!(Line::try_parse_from(words).is_ok(), "`{command}`");
        }
    }
}
