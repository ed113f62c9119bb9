//! What studies found, as a page.

use super::journal::{Outcome, Study, Try};
use super::{FALSE_PERCENT, KINDS, Kind, is_different};
use roofline_core::stats::{median, t_interval};
use roofline_core::verdict::{FEWEST_SETS, Word};

pub(super) fn page(outcome: &Outcome) -> String {
    let mut text =
        "# Noise study\n\nOne kernel under two names must not be called different; real extra work must be \
        found.\nWhat the study does is told in [METHODOLOGY](../../METHODOLOGY.md#the-noise-study).\n\n"
            .to_owned();
    text += &twice(outcome);
    text += "\n## Extra work\n\n\
        Tries in which the extra work was found, with medians of sets, of the standard deviation between sets, of \
        the\nhalf-width and of the time spent on the row.\n\n\
        | kind | budget | extra work | found | reads as | sets | between sets | half-width | time |\n\
        |---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    for kind in tried(outcome) {
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
    text + &made(outcome)
}

fn tried(outcome: &Outcome) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| {
        outcome.tries.iter().any(|one| one.kind == kind.name)
            || outcome.rivals.iter().any(|rival| rival.kind == kind.name)
    })
}

/// Comparisons of one kernel with itself, kind by kind and in all.
fn twice(outcome: &Outcome) -> String {
    let mut text = "## The same kernel twice\n\n\
        Comparisons that were called different, of all comparisons; none should be.\n\n\
        | kind | kernel | quiet | another load beside it | Criterion |\n|---|---|---:|---:|---:|\n"
        .to_owned();
    let mut sums = [(0, 0); 3];
    for kind in tried(outcome) {
        let wrong = |loaded: bool| {
            let tries: Vec<&Try> = outcome.of(kind.name, 3, loaded, "b").collect();
            (tries.iter().filter(|one| is_different(one)).count(), tries.len())
        };
        let of_kind = outcome.rivals.iter().filter(|rival| rival.kind == kind.name);
        let rival = of_kind.fold((0, 0), |(wrong, all), rival| {
            let verdicts = rival.regressed as usize + rival.improved as usize;
            (wrong + verdicts, all + rival.comparisons as usize)
        });
        let cells = [wrong(false), wrong(true), rival];
        for (sum, cell) in sums.iter_mut().zip(cells) {
            *sum = (sum.0 + cell.0, sum.1 + cell.1);
        }
        let [quiet, loaded, rival] = cells.map(|(some, all)| count(some, all));
        text += &format!(
            "| {} | `{}` | {quiet} | {loaded} | {rival} |\n",
            kind.name,
            cell(outcome.case(kind.name))
        );
    }
    let [quiet, loaded, rival] = sums.map(|(some, all)| count(some, all));
    text + &format!("| all | | {quiet} | {loaded} | {rival} |\n")
}

/// One name of one kind in one budget.
fn line(kind: &Kind, budget: u64, name: &str, tries: &[&Try]) -> String {
    let middle = |of: fn(&Try) -> Option<f64>| {
        let values: Vec<f64> = tries.iter().filter_map(|one| of(one)).collect();
        median(&values)
    };
    let percent =
        |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{:.2} %", 100.0 * value));
    let decided: Vec<f64> = tries.iter().filter_map(|one| one.mean).collect();
    let mut found = count(tries.iter().filter(|one| one.word == Some(Word::Slower)).count(), tries.len());
    let sets = middle(|one| Some(one.sets.len() as f64)).unwrap_or(0.0);
    let seconds = middle(|one| Some(one.seconds)).unwrap_or(0.0);
    // Six sets are taken whatever the budget; where they do not fit, the figure is not one for this budget.
    if sets <= FEWEST_SETS as f64 && seconds > 1.1 * budget as f64 {
        found += ", six sets do not fit";
    }
    let reads = t_interval(&decided, 0.05)
        .map_or("–".to_owned(), |read| format!("{:+.2} ± {:.2} %", 100.0 * read.mean, 100.0 * read.half));
    format!(
        "| {} | {budget} s | {} % | {found} | {reads} | {sets:.0} | {} | {} | {seconds:.1} s |\n",
        kind.name,
        name.strip_prefix("b-").unwrap_or("0"),
        percent(middle(|one| deviation(&one.sets))),
        percent(middle(|one| one.half)),
    )
}

/// Standard deviation of the values of sets; `None` below two.
fn deviation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt())
}

/// Rows that did not pass, which count as not found.
fn failures(outcome: &Outcome) -> String {
    let failed: Vec<&Try> = outcome.tries.iter().filter(|one| !one.failure.is_empty()).collect();
    let mut text = String::new();
    if !failed.is_empty() {
        text += &format!("\n{} rows failed:\n\n", failed.len());
    }
    for one in failed {
        text += &format!("- {}, {} s, `{}`: {}\n", one.kind, one.budget, one.name, cell(&one.failure));
    }
    text
}

/// The studies that the page stands on, and what they used.
fn made(outcome: &Outcome) -> String {
    let mut text = "\n## How it was made\n\n| | |\n|---|---|\n".to_owned();
    for (name, fact) in outcome.studies.last().map_or(&[][..], |study| &study.facts) {
        text += &format!("| {} | {} |\n", cell(name), cell(fact));
    }
    text += "\n| command | beside it | finished | comparisons |\n|---|---|---|---:|\n";
    for Study { id, command, beside, .. } in &outcome.studies {
        let tries = || outcome.tries.iter().filter(|one| one.study == *id);
        let rivals = outcome.rivals.iter().filter(|rival| rival.study == *id).map(|rival| &rival.finished);
        let finished = tries().map(|one| &one.finished).chain(rivals).max();
        text += &format!(
            "| `{}` | {} | {} | {} |\n",
            cell(command),
            cell(beside),
            finished.map_or("–".to_owned(), |time| cell(time)),
            tries().count()
        );
    }
    text
}

fn count(some: usize, all: usize) -> String {
    if all == 0 { "–".to_owned() } else { format!("{some} of {all}") }
}

/// Text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(|letter: char| letter.is_control(), " ")
}
