//! Options of `cargo bench -- …`: those of Criterion that mean something here, and ours.

use clap::{Parser, ValueEnum};
use roofline_core::decision::FailOn;
use std::path::PathBuf;
use std::time::Duration;

/// Prove the kernels of this bench right, time them, and show the hardware's limit beside each
#[derive(Debug, Parser)]
#[command(name = "cargo bench --", bin_name = "cargo bench --", max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Options {
    /// Only rows whose name, CASE@BENCH/IMPLEMENTATION, contains one of these
    #[arg(value_name = "FILTER")]
    pub(crate) filter: Vec<String>,
    /// A filter is the whole name of a row, or of a case
    #[arg(long)]
    pub(crate) exact: bool,
    /// Print the names of the rows, and do nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Prove the kernels and measure nothing; what `cargo test --benches` does
    #[arg(long)]
    pub(crate) test: bool,
    /// Keep this binary under a name, to be measured again beside later ones
    #[arg(short, long, value_name = "NAME", conflicts_with = "test")]
    pub(crate) save_baseline: Option<String>,
    /// Measure the binary that was kept under this name as well, and compare each implementation with its older self
    #[arg(short, long, value_name = "NAME", conflicts_with_all = ["against", "test"])]
    pub(crate) baseline: Option<String>,
    /// As `--baseline` where there is one of this name, and without it where there is none
    #[arg(long, value_name = "NAME", conflicts_with_all = ["baseline", "against", "test"])]
    pub(crate) baseline_lenient: Option<String>,
    #[arg(long, value_name = "FILE", hide = true, help = "Another build of this bench, to measure beside it", conflicts_with_all = ["baseline", "against", "test"])]
    pub(crate) beside: Option<PathBuf>,
    /// The command that compares two builds, as rows repeat it
    #[arg(long, value_name = "WORDS", hide = true, requires = "beside")]
    pub(crate) again: Option<String>,
    /// Compare with this implementation, or with the fastest of a provider, such as `mine/plain` or `cpu`
    #[arg(long, value_name = "IMPLEMENTATION|PROVIDER")]
    pub(crate) against: Option<String>,
    /// End with 3 when a row is slower than what it is compared with, for sure by more than so many percent, or when neither is known; all rows together are held to the error probability of one
    #[arg(long, value_name = "slower|slower=2%|inconclusive", value_parser = FailOn::of_bench)]
    pub(crate) fail_on: Option<FailOn>,
    /// Seconds for one row, which is started anew at least six times (six sets)
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) measurement_time: Duration,
    /// Measure for shorter, and start anew as often
    #[arg(long)]
    pub(crate) quick: bool,
    /// A difference that counts as none, as a share: 0.01 is one percent
    #[arg(long, value_name = "SHARE", default_value = "0.01", value_parser = share)]
    pub(crate) noise_threshold: f64,
    /// Measure for as long as it takes to tell this difference from none, as a share, instead of the time of a row
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "quick")]
    pub(crate) detect: Option<f64>,
    /// Format of the result; `criterion` is the table, `bencher` the lines of `libtest`, `bencher-metric-format` Bencher's JSON
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) output_format: String,
    /// Seconds that one launch may take; a reference of your own has ten times that
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Seed of all inputs, samples and places; a secret one by default
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Colours: auto, always or never
    #[arg(short, long, value_enum, value_name = "WHEN", default_value = "auto", alias = "colour")]
    pub(crate) color: When,
    /// Taken from Criterion's users and decides nothing: sets of fresh processes are counted here, 6 to 24 of them
    #[arg(long, value_name = "N")]
    pub(crate) sample_size: Option<usize>,
    /// Taken from Criterion's users and decides nothing: each set warms up until its times agree
    #[arg(long, value_name = "SECONDS")]
    pub(crate) warm_up_time: Option<f64>,
    /// Passed by `cargo bench`; without it the kernels are only proved
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
    #[command(flatten)]
    quiet: Quiet,
    #[command(flatten)]
    idle: Idle,
}

/// Options of Criterion that have no use here, so that commands of a CI keep working.
#[derive(Debug, clap::Args)]
struct Idle {
    #[arg(long, value_name = "NAME", hide = true)]
    load_baseline: Option<String>,
    #[arg(long, hide = true)]
    discard_baseline: bool,
    #[arg(long, value_name = "SECONDS", hide = true)]
    profile_time: Option<String>,
    #[arg(long, value_name = "N", hide = true)]
    nresamples: Option<String>,
    #[arg(long, value_name = "LEVEL", hide = true)]
    confidence_level: Option<String>,
    #[arg(long, value_name = "LEVEL", hide = true)]
    significance_level: Option<String>,
    #[arg(long, value_name = "NAME", hide = true)]
    plotting_backend: Option<String>,
}

/// What cargo, nextest and Criterion's users pass, and nothing here depends on.
#[derive(Debug, clap::Args)]
struct Quiet {
    #[arg(short, long, hide = true)]
    noplot: bool,
    #[arg(short, long, hide = true)]
    verbose: bool,
    #[arg(long, hide = true)]
    quiet: bool,
    #[arg(long, hide = true)]
    nocapture: bool,
    #[arg(long, hide = true)]
    no_capture: bool,
    #[arg(long, hide = true)]
    show_output: bool,
    #[arg(long, hide = true)]
    include_ignored: bool,
    /// Nothing here is ignored, so that there is nothing to list or run.
    #[arg(long, hide = true)]
    ignored: bool,
    #[arg(long, hide = true)]
    format: Option<String>,
    #[arg(long, hide = true)]
    test_threads: Option<usize>,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all well; 1 our own failure, such as the store; 2 a mistake in the bench or its options;
3 a row that `--fail-on` names; 4 a row is wrong, suspect, crashed, timed out or out of memory, or a
reference failed; 5 nothing could be decided that `--fail-on` asks; 130 interrupted.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

impl Options {
    /// Whether kernels are proved only. `cargo bench` says `--bench`; `cargo test` says nothing.
    pub(crate) fn only_proves(&self) -> bool {
        self.test || !self.bench
    }

    /// Whether a row is wanted.
    pub(crate) fn selects(&self, case: &str, implementation: &str) -> bool {
        if self.quiet.ignored {
            return false;
        }
        let row = format!("{case}@{implementation}");
        let fits = |filter: &String| match self.exact {
            true => *filter == row || filter == case,
            false => row.contains(filter.as_str()),
        };
        self.filter.is_empty() || self.filter.iter().any(fits)
    }

    /// Time for one row.
    pub(crate) fn budget(&self) -> Duration {
        roofline_run::row_budget(self.measurement_time, self.quick)
    }

    /// What to say of options that were taken and mean nothing.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let sample_size = self.sample_size.map(|_| {
            "`--sample-size` decides nothing here: sets of fresh processes are counted, 6 to 24 of them, until a row \
             is decided or its `--measurement-time` is spent"
        });
        let warm_up = self
            .warm_up_time
            .map(|_| "`--warm-up-time` decides nothing here: every set warms up until its times agree");
        let idle = self.idle.named().map(|(name, why)| format!("`{name}` has no use here: {why}"));
        sample_size.into_iter().chain(warm_up).map(str::to_owned).chain(idle).collect()
    }
}

impl Idle {
    /// Those that were named, each with its reason.
    fn named(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let interval = "an interval has the error probability of its look, one in a hundred at the most";
        let all = [
            (
                "--load-baseline",
                self.load_baseline.is_some(),
                "stored numbers decide nothing; this binary is measured",
            ),
            ("--discard-baseline", self.discard_baseline, "a baseline is kept by `--save-baseline` alone"),
            (
                "--profile-time",
                self.profile_time.is_some(),
                "rows are measured; `roofline job` drives a kernel under a profiler",
            ),
            ("--nresamples", self.nresamples.is_some(), "intervals are of sets, and nothing is resampled"),
            ("--confidence-level", self.confidence_level.is_some(), interval),
            ("--significance-level", self.significance_level.is_some(), interval),
            ("--plotting-backend", self.plotting_backend.is_some(), "nothing is plotted"),
        ];
        all.into_iter().filter(|(_, named, _)| *named).map(|(name, _, why)| (name, why))
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: Option<f64> = text.strip_suffix('s').unwrap_or(text).parse().ok();
    let seconds = seconds.filter(|seconds| (0.001..=86400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "write seconds, 0.001 to 86400".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    share
        .filter(|share| (0.003..=1.0).contains(share))
        .ok_or_else(|| "write a share from 0.003 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Options {
        Options::try_parse_from(["bench"].into_iter().chain(words.split_whitespace())).unwrap()
    }

    const ROW: (&str, &str) = ("softmax/f32/rows=512,cols=1000", "mine/two-pass");

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    #[test]
    fn criterions_habits_are_taken() {
        let options = parse("--save-baseline main --sample-size 100 --measurement-time 30 --noplot --bench");
        assert_eq!(options.save_baseline.as_deref(), Some("main"));
        assert_eq!(options.measurement_time, Duration::from_secs(30));
        assert_eq!(options.remarks().len(), 1);
        assert!(!options.only_proves());
        let options = parse("--baseline main --output-format bencher --color never softmax --bench");
        assert_eq!(options.baseline.as_deref(), Some("main"));
        assert_eq!(options.output_format, "bencher");
        assert_eq!(parse("--warm-up-time 3").remarks().len(), 1);
        assert_eq!(parse("--baseline-lenient main").baseline_lenient.as_deref(), Some("main"));
        assert!(parse("-n -v --quiet -c never --bench").remarks().is_empty());
    }

    #[test]
    fn what_has_no_use_is_taken_and_said() {
        let words = "--load-baseline new --discard-baseline --profile-time 5 --nresamples 1000 \
                     --confidence-level 0.9 --significance-level 0.1 --plotting-backend plotters";
        let remarks = parse(words).remarks();
        assert_eq!(remarks.len(), 7);
        for remark in remarks {
            assert!(remark.starts_with("`--") && remark.contains("` has no use here: "), "{remark}");
        }
    }

    #[test]
    fn what_cargo_test_and_nextest_say_only_proves() {
        assert!(parse("").only_proves() && parse("--bench --test").only_proves());
        assert!(parse("--list --format terse").list);
        assert!(!parse("--list --format terse --ignored").selects(ROW.0, ROW.1));
        assert!(parse("softmax --exact --nocapture --test-threads=1").exact);
    }

    #[test]
    fn filters() {
        let selects = |words: &str| parse(words).selects(ROW.0, ROW.1);
        assert!(selects("") && selects("softmax") && selects("two-pass") && selects("matmul cols=1000"));
        assert!(!selects("matmul") && !selects("softmax --exact"));
        assert!(selects("softmax/f32/rows=512,cols=1000 --exact"));
        assert!(selects("softmax/f32/rows=512,cols=1000@mine/two-pass --exact"));
    }

    #[test]
    fn contradictions_and_nonsense_are_refused() {
        for words in [
            "--baseline a --against b",
            "--baseline a --baseline-lenient b",
            "--test --save-baseline a",
            "--measurement-time 0",
            "--measurement-time -1",
            "--noise-threshold 0.001",
            "--fail-on faster",
            "--no-such-option",
        ] {
            let parsed = Options::try_parse_from(["bench"].into_iter().chain(words.split_whitespace()));
            assert!(parsed.is_err(), "{words}");
        }
    }

    #[test]
    fn a_quick_run_has_a_short_budget() {
        assert_eq!(parse("--quick").budget(), Duration::from_millis(600));
        assert_eq!(parse("--measurement-time 0.5s").budget(), Duration::from_millis(500));
    }
}
