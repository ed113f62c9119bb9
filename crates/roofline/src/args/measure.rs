//! What is measured, and how: `check`, `run` and `ab`.

use super::values::{
    parse_delta, parse_detect, parse_duration, parse_implementation, parse_memory, parse_seed, parse_timeout,
};
use super::{Places, Read, Select, Show};
use clap::{Args, ValueEnum};
use roofline_core::decision::FailOn;
use std::path::PathBuf;
use std::time::Duration;

/// What a run that is resumed has from its own command line.
const OF_A_RUN: [&str; 25] = [
    "select",
    "op",
    "suite",
    "group",
    "dtype",
    "axis",
    "param",
    "size",
    "threads",
    "device",
    "cache",
    "implementation",
    "runner",
    "python",
    "lib",
    "cuda",
    "env",
    "sweep",
    "quick",
    "timeout",
    "memory",
    "seed",
    "sandbox",
    "require_evidence",
    "dry_run",
];
const OF_TIMES: [&str; 7] = ["budget", "delta", "against", "save", "baseline", "fail_on", "targets"];

#[derive(Clone, Debug, Args)]
pub struct Measure {
    #[command(flatten)]
    pub select: Select,
    /// Implementations as `provider/name`, globs allowed, a provider alone for all of it, separated by commas; all built-in ones by default. Other runners take part only when named here or by `--runner`
    #[arg(short, long = "implementation", value_delimiter = ',', value_name = "GLOB", value_parser = parse_implementation)]
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
    #[arg(long, value_name = "NAME", conflicts_with = "sweep")]
    pub save: Option<String>,
    /// Measure what was kept under this name as well, and compare each implementation with its older self
    #[arg(long, value_name = "NAME", group = "beside", conflicts_with = "sweep")]
    pub baseline: Option<String>,
    /// End with 3 when a row is slower than what `--against` or `--baseline` names, for sure by more than so many percent, or when neither is known; such a row is measured again first, and all rows together are held to the error probability of one. `policy` goes by the rules and waivers of `roofline.toml`, `missed` by the targets of the suite, as `--targets` does
    #[arg(long, value_name = "slower|slower=2%|inconclusive|policy|missed")]
    pub fail_on: Option<FailOn>,
    /// Measure what the targets of the suite are about, and say which are met, missed or undecided, with 99 % confidence; end with 3 on a miss
    #[arg(long, conflicts_with_all = ["quick", "Read", "baseline"])]
    pub targets: bool,
    /// Go on with the latest run, where it was stopped, by its own command line; what stands is not measured again. How to print, `--store`, `--total-budget` and `--wait` are taken anew
    #[arg(long, conflicts_with_all = OF_A_RUN.iter().chain(&OF_TIMES))]
    pub resume: bool,
    /// Show the plan and its time, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What is proved. Nothing is measured, and so there is nothing to compare, to decide or to keep.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("quick", |quick| quick.help("Of a suite with groups take a few cases of each")))]
pub struct Check {
    #[command(flatten)]
    pub select: Select,
    /// Implementations as `provider/name`, globs allowed, a provider alone for all of it, separated by commas; all built-in ones by default. Other runners take part only when named here or by `--runner`
    #[arg(short, long = "implementation", value_delimiter = ',', value_name = "GLOB", value_parser = parse_implementation)]
    pub implementation: Vec<String>,
    #[command(flatten)]
    pub places: Places,
    #[command(flatten)]
    pub show: Show,
    #[command(flatten)]
    pub bounds: Bounds,
    /// Go on with the latest run, where it was stopped, by its own command line; what stands is not proved again. How to print, `--store`, `--total-budget` and `--wait` are taken anew
    #[arg(long, conflicts_with_all = OF_A_RUN)]
    pub resume: bool,
    /// Show the plan and its time, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl Check {
    /// The same as what `run` is asked, which goes the same way.
    pub fn as_measure(&self) -> Measure {
        Measure {
            select: self.select.clone(),
            implementation: self.implementation.clone(),
            places: self.places.clone(),
            show: self.show.clone(),
            read: Read::default(),
            how: How { bounds: self.bounds.clone(), budget: Duration::ZERO, delta: 1.0 },
            against: None,
            save: None,
            baseline: None,
            fail_on: None,
            targets: false,
            resume: self.resume,
            dry_run: self.dry_run,
        }
    }
}

/// How it is measured.
#[derive(Clone, Debug, Args)]
pub struct How {
    /// Time for comparing one implementation, such as `500ms` or `10s`; its processes are started anew at least six times (six sets)
    #[arg(long, value_parser = parse_duration, default_value = "2s")]
    pub budget: Duration,
    /// A difference that counts as none, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = parse_delta)]
    pub delta: f64,
    #[command(flatten)]
    pub bounds: Bounds,
}

/// What holds for proving and for measuring.
#[derive(Clone, Debug, Args)]
pub struct Bounds {
    /// Time for the whole run, such as `5min`; what was reached then is said
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub total_budget: Option<Duration>,
    /// Measure for shorter, and start anew as often; of a suite with groups a few cases of each
    #[arg(long, visible_alias = "fast")]
    pub quick: bool,
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
    #[arg(long, value_parser = parse_seed)]
    pub seed: Option<u64>,
    /// Isolation of runners: as far as this system has it, or a row that would run without all of it is refused
    #[arg(long, value_enum, value_name = "HOW", default_value = "best-effort")]
    pub sandbox: SandboxArg,
    /// What a time is believed by: what there is (any), or every check in full (held), so that a row of which a check could see less than usual is suspect
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
    /// Measure for as long as it takes to tell a difference of so many percent from none: after six starts (sets) it is said how many more, and how long that will be
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
