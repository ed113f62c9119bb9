//! How often a comparison is wrong, live: the same kernel under two names, and under names that do a known
//! share of extra work.
//!
//! Every try is a run of the conductor from the gate to the last look. A *kind* is a kernel, a *leg* is
//! what is asked of each kind: which names, in how much time, with another load beside it or without.

mod comparison;
mod criterion;
pub mod load;
mod table;

use comparison::Contestants;
use load::Load;
use roofline_conductor::lock;
use roofline_core::philox::Draws;
use roofline_core::verdict::Word;
use std::io;

/// A kernel of the knob.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    pub case: &'static str,
}

/// Sizes are multiples of 100 rows, for every thread's pieces too, so that a percent is whole rows.
pub const KINDS: [Kind; 4] = [
    Kind { name: "short", about: "softmax in the nearest cache", case: "softmax/f32/rows=100,cols=48" },
    Kind { name: "long", about: "a plain product", case: "matmul/f32/m=100,n=128,k=256" },
    Kind { name: "mem-1t", about: "a sum of 75 MiB on one thread", case: "add/f32/rows=800,cols=8192" },
    Kind { name: "mem-2t", about: "the same on two threads", case: "add/f32/rows=800,cols=8192/threads=2" },
];

/// What is asked of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Time for one comparison, in seconds.
    pub budget: u64,
    /// Whether another process computes and moves memory meanwhile.
    pub loaded: bool,
    /// Names that are compared with `a`, all in one run.
    pub names: &'static [&'static str],
}

/// Times of the legs, in seconds.
const BUDGETS: [u64; 3] = [1, 3, 10];

pub const LEGS: [Leg; 4] = [
    Leg { budget: 3, loaded: false, names: &["b", "b-1", "b-2", "b-5"] },
    Leg { budget: 3, loaded: true, names: &["b"] },
    Leg { budget: 1, loaded: false, names: &["b-2"] },
    Leg { budget: 10, loaded: false, names: &["b-1"] },
];

/// What must be found: a share of the tries of a name in a leg, for some kinds.
struct Goal {
    budget: u64,
    name: &'static str,
    percent: usize,
    kinds: &'static [&'static str],
}

const ALL: &[&str] = &["short", "long", "mem-1t", "mem-2t"];
const GOALS: [Goal; 5] = [
    Goal { budget: 3, name: "b-5", percent: 99, kinds: ALL },
    Goal { budget: 3, name: "b-2", percent: 95, kinds: ALL },
    Goal { budget: 3, name: "b-1", percent: 95, kinds: &["short"] },
    Goal { budget: 10, name: "b-1", percent: 70, kinds: ALL },
    Goal { budget: 1, name: "b-2", percent: 90, kinds: &["short"] },
];
/// Most A/A comparisons that may be called different, in percent.
const FALSE_PERCENT: usize = 1;

/// What one comparison came to.
#[derive(Clone, Debug)]
pub struct Try {
    pub kind: &'static str,
    pub leg: Leg,
    pub name: &'static str,
    /// `None` below six sets, or when the row failed.
    pub word: Option<Word>,
    /// Why the row failed; empty for `ok`.
    pub failure: String,
    pub sets: usize,
    /// ln(time / time of `a`), and how far it may be off.
    pub mean: f64,
    pub half: f64,
    /// Spent on this row in all sets.
    pub seconds: f64,
}

/// Verdicts of Criterion on one kernel, each run against the one before.
#[derive(Clone, Debug, Default)]
pub struct Rival {
    pub kind: &'static str,
    pub comparisons: usize,
    pub regressed: usize,
    pub improved: usize,
}

#[derive(Debug, Default)]
pub struct Outcome {
    pub tries: Vec<Try>,
    pub rivals: Vec<Rival>,
}

/// How long and how broad.
#[derive(Debug)]
pub struct Settings {
    pub tries: usize,
    pub kinds: Vec<&'static Kind>,
    pub budgets: Vec<u64>,
    /// A few minutes, to see that all works: nothing is published.
    pub quick: bool,
}

impl Settings {
    /// `[--quick] [--tries N] [--budget SECONDS,…] [--kinds NAME,…]`
    pub fn parse(arguments: &[String]) -> Result<Settings, String> {
        let mut settings =
            Settings { tries: 0, kinds: KINDS.iter().collect(), budgets: BUDGETS.to_vec(), quick: false };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
            match argument.as_str() {
                "--quick" => settings.quick = true,
                "--tries" => settings.tries = positive(value()?)? as usize,
                "--budget" => {
                    settings.budgets = value()?.split(',').map(positive).collect::<Result<_, _>>()?;
                }
                "--kinds" => settings.kinds = value()?.split(',').map(kind).collect::<Result<_, _>>()?,
                _ => return Err(format!("`{argument}` is no option of noise-study")),
            }
        }
        if settings.quick {
            settings.budgets.retain(|budget| *budget < 10);
        }
        if settings.tries == 0 {
            settings.tries = if settings.quick { 4 } else { 100 };
        }
        Ok(settings)
    }

    /// Name of the page: a study of some kinds or budgets leaves the whole one alone.
    fn page(&self) -> String {
        let mut name = "noise-study".to_owned();
        if self.kinds.len() < KINDS.len() {
            self.kinds.iter().for_each(|kind| name += &format!("-{}", kind.name));
        }
        if self.budgets.len() < BUDGETS.len() {
            self.budgets.iter().for_each(|budget| name += &format!("-{budget}s"));
        }
        name + ".md"
    }

    fn legs(&self) -> impl Iterator<Item = Leg> {
        LEGS.into_iter().filter(|leg| self.budgets.contains(&leg.budget))
    }
}

fn positive(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| format!("`{text}` is no positive number"))
}

fn kind(name: &str) -> Result<&'static Kind, String> {
    let names = KINDS.map(|kind| kind.name).join(", ");
    KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| format!("`{name}` is none of {names}"))
}

/// Runs all tries, kind by kind. `report` is told of progress; `done` sees what is there after each kind,
/// so that hours are not lost with the last of them.
pub fn study(
    settings: &Settings,
    mut report: impl FnMut(&str),
    mut done: impl FnMut(&Outcome) -> io::Result<()>,
) -> io::Result<Outcome> {
    let contestants = Contestants::build()?;
    let _turn = lock::take(|holder| report(&format!("waiting for {holder}")))?;
    let mut outcome = Outcome::default();
    let mut draws = Draws::new(1, 7);
    for kind in &settings.kinds {
        for leg in settings.legs() {
            let load = if leg.loaded { Some(Load::start()?) } else { None };
            for number in 1..=settings.tries {
                let tries = contestants.compare(kind, leg, draws.bits())?;
                let words: Vec<String> = tries.iter().map(describe).collect();
                report(&format!(
                    "{}, {} s{}, {number} of {}: {}",
                    kind.name,
                    leg.budget,
                    if leg.loaded { ", loaded" } else { "" },
                    settings.tries,
                    words.join(", ")
                ));
                outcome.tries.extend(tries);
            }
            drop(load);
        }
        let rival = criterion::compare(kind, settings.tries)?;
        report(&format!("{}, Criterion: {rival:?}", kind.name));
        outcome.rivals.push(rival);
        done(&outcome)?;
    }
    Ok(outcome)
}

fn describe(one: &Try) -> String {
    match one.word {
        Some(word) => format!(
            "{} {} {:+.2} ± {:.2} % ({} sets, {:.1} s)",
            one.name,
            word.name(),
            100.0 * one.mean,
            100.0 * one.half,
            one.sets,
            one.seconds
        ),
        None if one.failure.is_empty() => format!("{} {} sets", one.name, one.sets),
        None => format!("{} {}", one.name, one.failure),
    }
}

impl Outcome {
    fn of<'a>(
        &'a self,
        kind: &'a str,
        budget: u64,
        loaded: bool,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Try> {
        self.tries.iter().filter(move |one| {
            one.kind == kind && one.leg.budget == budget && one.leg.loaded == loaded && one.name == name
        })
    }

    /// Goals that were tried and missed, in words.
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let (mut tries, mut wrong) = (0, 0);
        for one in self.tries.iter().filter(|one| one.name == "b") {
            tries += 1;
            wrong += usize::from(is_different(one));
        }
        if wrong * 100 > tries * FALSE_PERCENT {
            missed.push(format!(
                "{wrong} of {tries} comparisons of one kernel with itself are called different"
            ));
        }
        for Goal { budget, name, percent, kinds } in &GOALS {
            for kind in *kinds {
                let tries = self.of(kind, *budget, false, name).count();
                let found =
                    self.of(kind, *budget, false, name).filter(|one| one.word == Some(Word::Slower)).count();
                if found * 100 < tries * percent {
                    missed.push(format!(
                        "{kind}: `{name}` found in {found} of {tries} in {budget} s, {percent} % wanted"
                    ));
                }
            }
        }
        missed
    }
}

fn is_different(one: &Try) -> bool {
    matches!(one.word, Some(Word::Faster | Word::Slower))
}

/// The study as Markdown; written under `results/` unless it was a quick one.
pub fn publish(settings: &Settings, outcome: &Outcome, command: &str) -> io::Result<String> {
    table::publish(settings, outcome, command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn settings_are_read_or_refused() {
        let settings = Settings::parse(&words("--quick --kinds long,short")).unwrap();
        assert_eq!((settings.tries, settings.kinds.len(), settings.budgets), (4, 2, vec![1, 3]));
        assert_eq!(Settings::parse(&words("--tries 7 --budget 3")).unwrap().legs().count(), 2);
        assert_eq!(Settings::parse(&words("")).unwrap().page(), "noise-study.md");
        assert_eq!(
            Settings::parse(&words("--kinds long --budget 3")).unwrap().page(),
            "noise-study-long-3s.md"
        );
        for bad in ["--tries", "--tries 0", "--kinds quantum", "--budget x", "more"] {
            assert!(Settings::parse(&words(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn goals_are_held_against_what_was_tried() {
        let one = |name, word| Try {
            kind: "short",
            leg: LEGS[0],
            name,
            word,
            failure: String::new(),
            sets: 6,
            mean: 0.0,
            half: 0.0,
            seconds: 1.0,
        };
        let mut outcome = Outcome::default();
        outcome.tries.extend((0..100).map(|_| one("b", Some(Word::Same))));
        outcome.tries.extend((0..100).map(|_| one("b-5", Some(Word::Slower))));
        outcome.tries[0].word = Some(Word::Faster);
        outcome.tries[100].word = None;
        assert_eq!(outcome.missed(), Vec::<String>::new());
        outcome.tries[1].word = Some(Word::Slower);
        outcome.tries[101].word = Some(Word::Faster);
        assert_eq!(outcome.missed().len(), 2);
    }

    #[test]
    fn every_name_passes_the_gate_and_is_compared() {
        let leg = Leg { budget: 1, ..LEGS[0] };
        let tries = Contestants::build().unwrap().compare(&KINDS[0], leg, 1).unwrap();
        assert_eq!(tries.iter().map(|one| one.name).collect::<Vec<_>>(), leg.names);
        for one in tries {
            assert!(one.failure.is_empty() && one.sets >= 6 && one.half.is_finite(), "{one:?}");
        }
    }

    #[test]
    fn every_kind_is_a_case() {
        for kind in &KINDS {
            let case: roofline_core::case::Case = kind.case.parse().unwrap();
            assert_eq!(case.to_string(), kind.case);
        }
    }
}
