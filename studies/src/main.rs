//! The studies of `cargo xtask` end here.
#![forbid(unsafe_code)]

use clap::Parser;
use roofline_conductor::checks::Check;
use std::io;
use std::process::ExitCode;
use std::time::Duration;
use studies::bench::Bench;
use studies::{
    ab_study, gate_mutations, gate_study, noise_study, sandbox_study, seeds_study, share_study, trust_study,
};

/// A study, as it is asked for.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
enum Asked {
    /// Switches off one check of the gate at a time and sees which saboteurs get through
    GateMutations {
        #[arg(default_value_t = 1)]
        seed: u64,
        /// Of these checks alone: `wall-clock`, `poison` …
        #[arg(value_parser = check)]
        checks: Vec<Check>,
    },
    /// Random cases through the gate: no false alarm, no lower precision missed; a part at a time
    GateStudy(gate_study::Settings),
    /// Everyday bugs through the gate, seed after seed: none gets through
    SeedsStudy {
        #[arg(default_value_t = 100)]
        count: u64,
        #[arg(default_value_t = 1)]
        seed: u64,
        /// Of these alone: parts of `CASE@SABOTEUR`
        rows: Vec<String>,
    },
    /// How often live comparisons are wrong, beside Criterion; a part at a time
    NoiseStudy(noise_study::Settings),
    /// How still shares of the limit stand while times drift
    ShareStudy {
        #[arg(default_value_t = 20)]
        runs: u32,
        #[arg(default_value_t = 60)]
        minutes: u64,
    },
    /// Honest rows that are doubted, and lies that are not; a part at a time
    TrustStudy(trust_study::Settings),
    /// What `ab`, `--baseline` and `--fail-on` say of no change and of known ones; a part at a time
    AbStudy(ab_study::Settings),
    /// What isolation costs, one kernel inside and outside of it, and what a conversation takes
    SandboxStudy {
        /// Of a comparison's first 24 sets; it goes on until it can be decided
        #[arg(default_value_t = 4)]
        seconds: u64,
        #[arg(default_value_t = 1)]
        seed: u64,
    },
    /// The load that studies start beside themselves; until it is killed
    #[command(hide = true)]
    Load,
}

fn check(name: &str) -> Result<Check, String> {
    let found = Check::ALL.iter().find(|check| check.name() == name).copied();
    let names = || Check::ALL.iter().map(|check| check.name()).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| format!("there are {}", names()))
}

fn main() -> ExitCode {
    match run(Asked::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether the study came out as it must.
fn run(asked: Asked) -> io::Result<bool> {
    let talk = |line: &str| anstream::eprintln!("{line}");
    match asked {
        Asked::GateMutations { seed, checks } => {
            let all = checks.is_empty();
            let checks = if all { Check::ALL } else { &checks[..] };
            let mutations = gate_mutations::study(&Bench::new()?, seed, checks, talk)?;
            // A page is of the whole study.
            let page =
                if all { mutations.publish(&command())? } else { gate_mutations::describe(&mutations) };
            anstream::println!("{page}");
            Ok(mutations.is_well())
        }
        Asked::GateStudy(settings) => {
            let (page, is_well) = gate_study::run(&settings, &command(), talk)?;
            anstream::println!("{page}");
            Ok(is_well)
        }
        Asked::SeedsStudy { count, seed, rows } => {
            // A product of 2048³ takes its time where others compute as well.
            let bench = Bench::new()?.with_patience(Duration::from_secs(30));
            let named = |(name, case): &&seeds_study::Bug| {
                rows.is_empty() || rows.iter().any(|part| format!("{case}@{name}").contains(part))
            };
            let bugs: Vec<_> = seeds_study::EVERYDAY.iter().filter(named).copied().collect();
            let counts = seeds_study::study(&bench, &bugs, seed..seed.saturating_add(count), talk)?;
            let all = rows.is_empty();
            let page =
                if all { seeds_study::publish(&counts, &command())? } else { seeds_study::describe(&counts) };
            anstream::println!("{page}");
            Ok(counts.iter().all(|count| count.through.is_empty()))
        }
        Asked::NoiseStudy(settings) => {
            let (page, outcome) = noise_study::run(&settings, &command(), talk)?;
            anstream::println!("{page}");
            Ok(outcome.missed().is_empty())
        }
        Asked::ShareStudy { runs, minutes } => {
            let outcome = share_study::study(runs, Duration::from_secs(minutes.saturating_mul(60)), talk)?;
            anstream::println!("{}", outcome.publish(&command())?);
            Ok(outcome.is_still())
        }
        Asked::TrustStudy(settings) => {
            let (page, is_well) = trust_study::run(&settings, &command(), talk)?;
            anstream::println!("{page}");
            Ok(is_well)
        }
        Asked::AbStudy(settings) => {
            let (page, is_well) = ab_study::run(&settings, &command(), talk)?;
            anstream::println!("{page}");
            Ok(is_well)
        }
        Asked::SandboxStudy { seconds, seed } => {
            let lines = sandbox_study::study(Duration::from_secs(seconds), seed, talk)?;
            anstream::println!("{}", sandbox_study::publish(&lines, &command())?);
            Ok(sandbox_study::is_free(&lines))
        }
        Asked::Load => {
            noise_study::load::run();
            Ok(true)
        }
    }
}

/// The command that does the study again, as one would type it.
fn command() -> String {
    let quoted = |word: String| if word.contains(' ') { format!("'{word}'") } else { word };
    let words: Vec<String> = std::env::args().skip(1).map(quoted).collect();
    format!("cargo xtask {}", words.join(" "))
}
