//! The studies of `cargo xtask` end here.
#![forbid(unsafe_code)]

use roofline_conductor::checks::Check;
use std::io;
use std::process::ExitCode;
use std::time::Duration;
use studies::bench::Bench;
use studies::{
    gate_mutations, gate_study, noise_study, sandbox_study, seeds_study, share_study, trust_study,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether the study came out as it must.
fn run(arguments: &[String]) -> io::Result<bool> {
    let number =
        |at: usize, default: u64| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let asks_for_help = arguments.iter().any(|argument| argument == "--help");
    let talk = |line: &str| anstream::eprintln!("{line}");
    match arguments.first().map(String::as_str) {
        Some("gate-mutations") => {
            let named = |check: &&Check| {
                arguments.len() < 3 || arguments[2..].iter().any(|name| format!("{check:?}") == *name)
            };
            let checks: Vec<Check> = Check::ALL.iter().filter(named).copied().collect();
            let mutations = gate_mutations::study(&Bench::new()?, number(1, 1), &checks, talk)?;
            anstream::println!("{}", gate_mutations::describe(&mutations));
            Ok(mutations.misjudged.is_empty()
                && mutations.through.values().all(|through| !through.is_empty()))
        }
        Some("gate-study") if asks_for_help => {
            anstream::println!("{}", gate_study::HELP);
            Ok(true)
        }
        Some("gate-study") => {
            let settings = gate_study::Settings::parse(&arguments[1..]).map_err(io::Error::other)?;
            let (page, is_well) = gate_study::run(&settings, &command(arguments), talk)?;
            anstream::println!("{page}");
            Ok(is_well)
        }
        Some("seeds-study") => {
            let (seeds, first) = (number(1, 100), number(2, 1));
            // A product of 2048³ takes its time where others compute as well.
            let bench = Bench::new()?.with_patience(Duration::from_secs(30));
            let named = |(name, case): &&seeds_study::Bug| {
                arguments.len() < 4
                    || arguments[3..].iter().any(|part| format!("{case}@{name}").contains(part))
            };
            let bugs: Vec<_> = seeds_study::EVERYDAY.iter().filter(named).copied().collect();
            let counts = seeds_study::study(&bench, &bugs, first..first + seeds, talk)?;
            anstream::println!("{}", seeds_study::describe(&counts));
            Ok(counts.iter().all(|count| count.through.is_empty()))
        }
        Some("noise-study") if asks_for_help => {
            anstream::println!("{}", noise_study::HELP);
            Ok(true)
        }
        Some("noise-study") => {
            let settings = noise_study::Settings::parse(&arguments[1..]).map_err(io::Error::other)?;
            let (page, outcome) = noise_study::run(&settings, &command(arguments), talk)?;
            anstream::println!("{page}");
            Ok(outcome.missed().is_empty())
        }
        Some("share-study") => {
            let (runs, minutes) = (number(1, 20) as u32, number(2, 60));
            let outcome = share_study::study(runs, Duration::from_secs(60 * minutes), talk)?;
            anstream::println!("{}", outcome.publish(&command(arguments))?);
            Ok(outcome.is_still())
        }
        Some("trust-study") if asks_for_help => {
            anstream::println!("{}", trust_study::HELP);
            Ok(true)
        }
        Some("trust-study") => {
            let settings = trust_study::Settings::parse(&arguments[1..]).map_err(io::Error::other)?;
            let (page, is_well) = trust_study::run(&settings, &command(arguments), talk)?;
            anstream::println!("{page}");
            Ok(is_well)
        }
        Some("sandbox-study") => {
            let lines = sandbox_study::study(Duration::from_secs(number(1, 10)), number(2, 1), talk)?;
            anstream::println!("{}", sandbox_study::describe(&lines));
            Ok(sandbox_study::is_free(&lines))
        }
        Some("load") => {
            noise_study::load::run();
            Ok(true)
        }
        _ => Err(io::Error::other(
            "name a study: gate-mutations [SEED [CHECK …]], gate-study [OPTIONS], seeds-study [COUNT [SEED \
             [ROW …]]], noise-study [OPTIONS], share-study [RUNS] [MINUTES], sandbox-study [SECONDS] [SEED] or \
             trust-study [OPTIONS]",
        )),
    }
}

/// The command that does a study again, as one would type it.
fn command(arguments: &[String]) -> String {
    let quoted = |word: &String| if word.contains(' ') { format!("'{word}'") } else { word.clone() };
    let words: Vec<String> = arguments.iter().map(quoted).collect();
    format!("cargo xtask {}", words.join(" "))
}
