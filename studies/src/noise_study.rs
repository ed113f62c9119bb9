//! How often a comparison is wrong, live: the same kernel under two names, and under names that do a known
//! share of extra work.
//!
//! Every try is a run of the conductor from the gate to the last look. A *kind* is a kernel, a *leg* is
//! what is asked of each kind: which names, in how much time, with another load beside it or without.
//! What studies of one revision find on a machine adds up in one file, from which the page is made.

mod comparison;
mod criterion;
pub mod journal;
pub mod load;
mod table;

use crate::facts;
use comparison::Contestants;
use journal::{Journal, Line, Outcome, Study, Try};
use load::Load;
use roofline_conductor::lock;
use roofline_conductor::machine::Machine;
use roofline_core::case::Device;
use roofline_core::philox::Draws;
use roofline_core::verdict::Word;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A kernel of the knob.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    pub case: &'static str,
}

/// Sizes are multiples of 100 rows, for every thread's pieces too, so that a percent is whole rows.
/// The product's sums are long: what a core loses where a sum ends depends on where the linker has put the
/// loop (a loop over 256 that crosses a line of code takes 20 % longer, by another share in every call).
pub const KINDS: [Kind; 4] = [
    Kind { name: "short", about: "softmax in the nearest cache", case: "softmax/f32/rows=100,cols=48" },
    Kind { name: "long", about: "a plain product of 1 MB", case: "matmul/f32/m=100,n=16,k=2048" },
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

/// How long and how broad.
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// A few minutes, to see that all works: four tries without the long budget, and nothing is published
    #[arg(long)]
    pub quick: bool,
    /// Tries for each kind; 100 unless told otherwise
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub tries: Option<u32>,
    /// As many of the tries as fit into this time, shared by the kinds
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub minutes: Option<u32>,
    #[arg(long, value_name = "KIND", value_parser = kind, value_delimiter = ',')]
    #[arg(default_values = KINDS.map(|kind| kind.name))]
    pub kinds: Vec<&'static Kind>,
    /// Times of a comparison, in seconds
    #[arg(long = "budget", value_name = "SECONDS", value_parser = budget, value_delimiter = ',')]
    #[arg(default_values_t = BUDGETS)]
    pub budgets: Vec<u64>,
    /// Comparisons by Criterion for each kind; as many as tries unless told otherwise
    #[arg(long)]
    pub criterion: Option<u32>,
    /// Start of the random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// What else the machine does meanwhile, for the page
    #[arg(long, default_value = "nothing that is known")]
    pub beside: String,
    /// Make the page beside this noise-study.jsonl anew, and measure nothing
    #[arg(long)]
    pub from: Option<PathBuf>,
}

impl Settings {
    fn tries(&self) -> u32 {
        self.tries.unwrap_or(if self.quick { 4 } else { 100 })
    }

    fn criterion(&self) -> u32 {
        self.criterion.unwrap_or(self.tries())
    }

    fn legs(&self) -> impl Iterator<Item = Leg> {
        let longest = if self.quick { 3 } else { u64::MAX };
        LEGS.into_iter().filter(move |leg| self.budgets.contains(&leg.budget) && leg.budget <= longest)
    }

    /// Time for the tries of one kind.
    fn time(&self) -> Duration {
        self.minutes
            .map_or(Duration::MAX, |minutes| Duration::from_secs(60) * minutes / self.kinds.len() as u32)
    }
}

fn budget(text: &str) -> Result<u64, String> {
    let is_known = |budget: &u64| BUDGETS.contains(budget);
    text.parse().ok().filter(is_known).ok_or_else(|| format!("`{text}` is none of {BUDGETS:?} seconds"))
}

fn kind(name: &str) -> Result<&'static Kind, String> {
    let names = KINDS.map(|kind| kind.name).join(", ");
    KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| format!("`{name}` is none of {names}"))
}

/// Does what the settings ask for; answers with the page and what it stands on.
pub fn run(
    settings: &Settings,
    command: &str,
    mut report: impl FnMut(&str),
) -> io::Result<(String, Outcome)> {
    if let Some(file) = &settings.from {
        return journal::publish(file);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let machine = Machine::read();
    let study = begin(&machine, &root, settings, command);
    let mut outcome = Outcome::default();
    if settings.quick {
        outcome.add(Line::Study(study.clone())).map_err(io::Error::other)?;
        measure(settings, &study, &mut report, |line| outcome.add(line).map_err(io::Error::other))?;
        return Ok((table::page(&outcome), outcome));
    }
    let mut journal = Journal::begin(&root.join("results").join(machine.fingerprint()), &study)?;
    measure(settings, &study, &mut report, |line| journal.add(&line))?;
    journal::publish(journal.path())
}

fn begin(machine: &Machine, root: &Path, settings: &Settings, command: &str) -> Study {
    let revision = facts::revision(root, facts::MEASURING);
    let setting = facts::setting(machine, &revision);
    let mut facts: Vec<(String, String)> =
        setting.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect();
    let criterion = locked(root, "criterion").unwrap_or_else(|| "unknown".to_owned());
    facts.insert(1, ("Criterion".to_owned(), criterion));
    Study {
        id: format!("{}-{}", jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S"), std::process::id()),
        revision,
        command: command.to_owned(),
        beside: settings.beside.clone(),
        kinds: settings.kinds.iter().map(|kind| (kind.name.to_owned(), kind.case.to_owned())).collect(),
        facts,
    }
}

/// The version of a package in `Cargo.lock`.
fn locked(root: &Path, package: &str) -> Option<String> {
    let text = std::fs::read_to_string(root.join("Cargo.lock")).ok()?;
    let (_, after) = text.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    after.split('"').next().map(str::to_owned)
}

/// Runs all tries, kind by kind. `report` is told of progress; `keep` gets each line as soon as it is
/// there, so that hours are not lost with the last of them.
fn measure(
    settings: &Settings,
    study: &Study,
    report: &mut impl FnMut(&str),
    mut keep: impl FnMut(Line) -> io::Result<()>,
) -> io::Result<()> {
    let contestants = Contestants::build()?;
    let _turn = lock::take(Device::Cpu, None, None, |holder| report(&format!("waiting for {holder}")))?;
    let mut draws = Draws::new(settings.seed, 7);
    for kind in &settings.kinds {
        let start = Instant::now();
        for number in 1..=settings.tries() {
            if start.elapsed() >= settings.time() {
                break;
            }
            // All legs in each try: whatever the time is enough for, half of it is under load.
            for leg in settings.legs() {
                let load = if leg.loaded { Some(Load::start()?) } else { None };
                let tries = contestants.compare(kind, leg, draws.bits(), study)?;
                drop(load);
                let words: Vec<String> = tries.iter().map(describe).collect();
                report(&format!(
                    "{}, {} s{}, {number} of {}: {}",
                    kind.name,
                    leg.budget,
                    if leg.loaded { ", loaded" } else { "" },
                    settings.tries(),
                    words.join(", ")
                ));
                tries.into_iter().try_for_each(|one| keep(Line::Try(one)))?;
            }
        }
        if settings.criterion() > 0 {
            let rival = criterion::compare(kind, settings.criterion(), study)?;
            report(&format!(
                "{}, Criterion: {} regressed and {} improved of {}",
                kind.name, rival.regressed, rival.improved, rival.comparisons
            ));
            keep(Line::Rival(rival))?;
        }
    }
    Ok(())
}

fn describe(one: &Try) -> String {
    match one.word {
        Some(word) => format!(
            "{} {} {:+.2} ± {:.2} % ({} sets, {:.1} s)",
            one.name,
            word.name(),
            100.0 * one.mean.unwrap_or(0.0),
            100.0 * one.half.unwrap_or(0.0),
            one.sets.len(),
            one.seconds
        ),
        None if one.failure.is_empty() => format!("{} {} sets", one.name, one.sets.len()),
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
            one.kind == kind && one.budget == budget && one.loaded == loaded && one.name == name
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, clap::Error> {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            settings: Settings,
        }
        let words = ["noise-study"].into_iter().chain(text.split_whitespace());
        <Line as clap::Parser>::try_parse_from(words).map(|line| line.settings)
    }

    #[test]
    fn settings_are_read_or_refused() {
        let settings = parse("--quick --kinds long,short").unwrap();
        let budgets: Vec<u64> = settings.legs().map(|leg| leg.budget).collect();
        assert_eq!((settings.tries(), settings.kinds.len(), budgets), (4, 2, vec![3, 3, 1]));
        assert_eq!(parse("--tries 7 --budget 3").unwrap().legs().count(), 2);
        let settings = parse("--criterion 0 --minutes 8 --seed 5 --kinds long,short").unwrap();
        assert_eq!((settings.tries(), settings.criterion(), settings.seed), (100, 0, 5));
        assert_eq!(settings.time(), Duration::from_secs(240));
        assert_eq!(parse("").unwrap().kinds.len(), KINDS.len());
        let bad =
            ["--tries", "--tries 0", "--kinds quantum", "--budget x", "--budget 2", "--seed -1", "more"];
        for bad in bad {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    fn outcome(rows: &[(&str, Word)]) -> Outcome {
        let study = Study {
            id: "s".to_owned(),
            revision: "r".to_owned(),
            command: "cargo xtask noise-study".to_owned(),
            beside: "a|b".to_owned(),
            kinds: KINDS.iter().map(|kind| (kind.name.to_owned(), kind.case.to_owned())).collect(),
            facts: Vec::new(),
        };
        let one = |(name, word): &(&str, Word)| Try {
            study: "s".to_owned(),
            finished: "t".to_owned(),
            kind: "short".to_owned(),
            budget: 3,
            loaded: false,
            name: (*name).to_owned(),
            word: Some(*word),
            mean: Some(0.0),
            half: Some(0.0),
            seconds: 1.0,
            sets: vec![0.01, 0.03, 0.01, 0.03, 0.01, 0.03],
            failure: String::new(),
        };
        let tries = rows.iter().map(one).collect();
        let rival = journal::Rival {
            study: "s".to_owned(),
            finished: "t".to_owned(),
            kind: "short".to_owned(),
            comparisons: 5,
            regressed: 1,
            improved: 2,
        };
        Outcome { studies: vec![study], tries, rivals: vec![rival.clone(), rival] }
    }

    #[test]
    fn goals_are_held_against_what_was_tried() {
        let mut outcome = outcome(&[[("b", Word::Same); 100], [("b-5", Word::Slower); 100]].concat());
        outcome.tries[0].word = Some(Word::Faster);
        outcome.tries[100].word = None;
        assert_eq!(outcome.missed(), Vec::<String>::new());
        outcome.tries[1].word = Some(Word::Slower);
        outcome.tries[101].word = Some(Word::Faster);
        assert_eq!(outcome.missed().len(), 2);
    }

    #[test]
    fn a_page_adds_up_what_studies_found() {
        let page = table::page(&outcome(&[("b", Word::Same), ("b", Word::Slower), ("b-2", Word::Slower)]));
        for row in [
            "| short | `softmax/f32/rows=100,cols=48` | 1 of 2 | – | 6 of 10 |\n",
            "| all | | 1 of 2 | – | 6 of 10 |\n",
            "| short | 3 s | 2 % | 1 of 1 | – | 6 | 1.10 % | 0.00 % | 1.0 s |\n",
            "| `cargo xtask noise-study` | a\\|b | t | 3 |\n",
        ] {
            assert!(page.contains(row), "{row}{page}");
        }
    }

    #[test]
    fn published_pages_are_made_from_their_files() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
        for folder in std::fs::read_dir(results).unwrap() {
            let file = folder.unwrap().path().join("noise-study.jsonl");
            let Ok(bytes) = std::fs::read(&file) else { continue };
            let page = std::fs::read_to_string(file.with_extension("md")).unwrap();
            let name = file.display();
            assert!(
                page == table::page(&Outcome::read(&bytes).unwrap()),
                "the page is not that of its file: run `cargo xtask noise-study --from {name}`"
            );
        }
    }

    #[test]
    fn every_name_passes_the_gate_and_is_compared() {
        let leg = Leg { budget: 1, ..LEGS[0] };
        let study = outcome(&[]).studies.remove(0);
        let tries = Contestants::build().unwrap().compare(&KINDS[0], leg, 1, &study).unwrap();
        assert_eq!(tries.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), leg.names);
        for one in tries {
            assert!(one.failure.is_empty() && one.sets.len() >= 6 && one.half.is_some(), "{one:?}");
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
