//! The study as a page under `results/`.

use super::{FALSE_PERCENT, KINDS, Kind, Outcome, Rival, Settings, Try, is_different};
use crate::facts::facts;
use roofline_conductor::machine::Machine;
use roofline_core::stats::{median, t_interval};
use roofline_core::verdict::{FEWEST_SETS, Word};
use std::io;
use std::path::Path;

/// Writes the page, unless the study was a quick one, and returns it.
pub(super) fn publish(settings: &Settings, outcome: &Outcome, command: &str) -> io::Result<String> {
    let machine = Machine::read();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut facts = facts(&machine, &root, command);
    facts.push(("Criterion", locked(&root, "criterion").unwrap_or_else(|| "unknown".to_owned())));
    let page = page(outcome, &facts);
    if !settings.quick {
        let folder = root.join("results").join(machine.fingerprint());
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(settings.page()), &page)?;
    }
    Ok(page)
}

/// The version of a package in `Cargo.lock`.
fn locked(root: &Path, package: &str) -> Option<String> {
    let text = std::fs::read_to_string(root.join("Cargo.lock")).ok()?;
    let (_, after) = text.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    after.split('"').next().map(str::to_owned)
}

fn page(outcome: &Outcome, facts: &[(&str, String)]) -> String {
    let mut text =
        "# Noise study\n\nOne kernel under two names must not be called different; real extra work must be \
        found.\nWhat the study does is told in [METHODOLOGY](../../METHODOLOGY.md#the-noise-study).\n\n"
            .to_owned();
    let tried: Vec<&Kind> =
        KINDS.iter().filter(|kind| outcome.tries.iter().any(|one| one.kind == kind.name)).collect();
    text += "## The same kernel twice\n\n\
        Comparisons that were called different, of all comparisons; none should be.\n\n\
        | kind | kernel | quiet | another load beside it | Criterion |\n|---|---|---:|---:|---:|\n";
    for kind in &tried {
        let wrong = |loaded: bool| {
            let tries: Vec<&Try> = outcome.of(kind.name, 3, loaded, "b").collect();
            count(tries.iter().filter(|one| is_different(one)).count(), tries.len())
        };
        let rival = outcome.rivals.iter().find(|rival| rival.kind == kind.name);
        let rival = rival.map_or("–".to_owned(), |Rival { comparisons, regressed, improved, .. }| {
            count(regressed + improved, *comparisons)
        });
        text +=
            &format!("| {} | `{}` | {} | {} | {rival} |\n", kind.name, kind.case, wrong(false), wrong(true));
    }
    text += "\n## Extra work\n\n\
        Tries in which the extra work was found, with medians of sets, half-width and time spent on the row.\n\n\
        | kind | budget | extra work | found | reads as | sets | half-width | time |\n|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for kind in &tried {
        for (budget, name) in [(1, "b-2"), (3, "b"), (3, "b-1"), (3, "b-2"), (3, "b-5"), (10, "b-1")] {
            let tries: Vec<&Try> = outcome.of(kind.name, budget, false, name).collect();
            if !tries.is_empty() {
                text += &line(kind, budget, name, &tries);
            }
        }
    }
    text += &failures(outcome);
    text += "\n## Goals\n\n";
    let missed = outcome.missed();
    if missed.is_empty() {
        text += &format!(
            "All that were tried are held, at most {FALSE_PERCENT} % of false verdicts among them.\n"
        );
    }
    for goal in missed {
        text += &format!("- missed: {goal}\n");
    }
    text += "\n## How it was made\n\n| | |\n|---|---|\n";
    for (name, fact) in facts {
        text += &format!("| {name} | {fact} |\n");
    }
    text
}

/// One name of one kind in one budget.
fn line(kind: &Kind, budget: u64, name: &str, tries: &[&Try]) -> String {
    let middle = |of: fn(&Try) -> f64| {
        let values: Vec<f64> = tries.iter().map(|one| of(one)).filter(|value| value.is_finite()).collect();
        median(&values)
    };
    let percent =
        |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{:.2} %", 100.0 * value));
    let decided: Vec<f64> = tries.iter().filter(|one| one.word.is_some()).map(|one| one.mean).collect();
    let mut found = count(tries.iter().filter(|one| one.word == Some(Word::Slower)).count(), tries.len());
    // Six sets are taken whatever the budget; where they do not fit, the figure is not one for this budget.
    if middle(|one| one.sets as f64) <= Some(FEWEST_SETS as f64)
        && middle(|one| one.seconds) > Some(1.1 * budget as f64)
    {
        found += ", six sets do not fit";
    }
    let reads = t_interval(&decided, 0.05)
        .map_or("–".to_owned(), |read| format!("{:+.2} ± {:.2} %", 100.0 * read.mean, 100.0 * read.half));
    format!(
        "| {} | {budget} s | {} % | {found} | {reads} | {:.0} | {} | {:.1} s |\n",
        kind.name,
        name.strip_prefix("b-").unwrap_or("0"),
        middle(|one| one.sets as f64).unwrap_or(0.0),
        percent(middle(|one| one.half)),
        middle(|one| one.seconds).unwrap_or(0.0)
    )
}

/// Rows that did not pass, which count as not found.
fn failures(outcome: &Outcome) -> String {
    let failed: Vec<&Try> = outcome.tries.iter().filter(|one| !one.failure.is_empty()).collect();
    let mut text = String::new();
    if !failed.is_empty() {
        text += &format!("\n{} rows failed:\n\n", failed.len());
    }
    for one in failed {
        text += &format!("- {}, {} s, `{}`: {}\n", one.kind, one.leg.budget, one.name, one.failure);
    }
    text
}

fn count(some: usize, all: usize) -> String {
    format!("{some} of {all}")
}
