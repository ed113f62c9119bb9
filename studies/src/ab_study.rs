//! What `ab`, `--baseline` and `--fail-on` say of changes whose truth is known: of none, of one that only moves code, and of
//! a fiftieth more work, of a short kernel and of a long one; what the workflow of docs/ci.md says of an unchanged branch; and
//! how well `--detect` forecasts. Half of all beside another load.
//!
//! Each comparison is a line of the study's journal as soon as it is known.

mod scene;

use self::scene::{BUDGET, BUDGET_SECONDS, Scene};
use crate::facts::comparing;
use crate::journal::{self, Journal};
use roofline_core::stats::median;
use roofline_core::verdict::Word;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

/// Of a hundred comparisons of the same, so many may be called different; of a fiftieth, so many must be found.
const MOST_FALSE: f64 = 0.01;
const LEAST_FOUND: f64 = 0.95;
/// A forecast may be wrong by so much of itself.
const FORECAST_ERROR: f64 = 1.0 / 3.0;

/// A change, and the way by which it is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    SameLibrary,
    SamePython,
    SameRevision,
    /// An unchanged branch in the workflow of docs/ci.md.
    Workflow,
    /// The same library, and how long it takes to tell.
    Detect,
    /// Libraries that differ in a function that nobody calls: what moves may really be slower.
    UnusedFunction,
    /// A fiftieth more work.
    MoreByAb,
    MoreByBaseline,
    MoreByFailOn,
}

/// How long a launch of the libraries takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// About twenty microseconds: visits hold many.
    Short,
    /// About half a millisecond: each is a visit.
    #[default]
    Long,
}

impl Size {
    fn name(self) -> &'static str {
        match self {
            Size::Short => "short",
            Size::Long => "long",
        }
    }
}

/// What is asked in turn. Python files and the repository have one length each.
const TURNS: [(Kind, Size); 13] = [
    (Kind::SameLibrary, Size::Short),
    (Kind::MoreByAb, Size::Short),
    (Kind::SamePython, Size::Long),
    (Kind::MoreByAb, Size::Long),
    (Kind::Workflow, Size::Short),
    (Kind::MoreByBaseline, Size::Short),
    (Kind::SameLibrary, Size::Long),
    (Kind::MoreByBaseline, Size::Long),
    (Kind::SameRevision, Size::Short),
    (Kind::MoreByFailOn, Size::Short),
    (Kind::Detect, Size::Short),
    (Kind::MoreByFailOn, Size::Long),
    (Kind::UnusedFunction, Size::Short),
];

/// So many comparisons of a kind are demanded.
struct Demand {
    what: &'static str,
    count: usize,
    of: fn(&Line) -> bool,
}

/// Those of the same are counted together.
const DEMANDED: [Demand; 7] = [
    Demand { what: "comparisons of the same", count: 200, of: |line| line.kind.is_same() },
    Demand { what: "of 2 % by `ab`", count: 100, of: |line| line.kind == Kind::MoreByAb },
    Demand { what: "of 2 % by `--baseline`", count: 100, of: |line| line.kind == Kind::MoreByBaseline },
    Demand { what: "of 2 % by `--fail-on`", count: 100, of: |line| line.kind == Kind::MoreByFailOn },
    Demand { what: "of unused functions", count: 20, of: |line| line.kind == Kind::UnusedFunction },
    Demand { what: "of the workflow", count: 50, of: |line| line.kind == Kind::Workflow },
    Demand { what: "forecasts", count: 10, of: |line| line.forecast.is_some() },
];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::SameLibrary => "the same library, `ab`",
            Kind::SamePython => "the same Python file, `ab`",
            Kind::SameRevision => "the same revision, `ab`",
            Kind::Workflow => "an unchanged branch, the workflow",
            Kind::Detect => "the same library, `ab --detect 1%`",
            Kind::UnusedFunction => "an unused function more, `ab`",
            Kind::MoreByAb => "2 % more work, `ab`",
            Kind::MoreByBaseline => "2 % more work, `--baseline`",
            Kind::MoreByFailOn => "2 % more work, `--fail-on`",
        }
    }

    fn is_same(self) -> bool {
        matches!(self, Kind::SameLibrary | Kind::SamePython | Kind::SameRevision | Kind::Detect)
    }
}

/// One comparison: a line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub revision: String,
    pub finished: String,
    pub kind: Kind,
    /// Of lines of before: all were long.
    #[serde(default)]
    pub size: Size,
    pub loaded: bool,
    /// The word of the new side, and whether its first sets called for others.
    pub word: String,
    pub again: bool,
    /// Seconds that its first sets took, where they called for others.
    #[serde(default)]
    pub first: Option<f64>,
    pub code: i32,
    pub seconds: f64,
    /// Seconds that were forecast, and those that it took from then on.
    #[serde(default)]
    pub forecast: Option<(f64, f64)>,
}

impl journal::Line for Line {
    fn revision(&self) -> &str {
        &self.revision
    }
}

impl Line {
    fn is_different(&self) -> bool {
        self.code != 0 || matches!(self.word.as_str(), "faster" | "slower")
    }

    /// Whether a run ended with 3, and its first sets, which were to show as much, took no longer than they may.
    fn is_found(&self) -> bool {
        self.code == 3 && self.first.is_none_or(|seconds| seconds <= BUDGET_SECONDS)
    }

    fn is_forecast_well(&self) -> bool {
        // What is said leaves out parts of a second, below one of a millisecond, and from two minutes on of a minute.
        let grain = |said: f64| match said {
            _ if said < 1.0 => 0.001,
            _ if said < 120.0 => 1.0,
            _ => 60.0,
        };
        let holds = |(said, took): (f64, f64)| {
            took >= (1.0 - FORECAST_ERROR) * said && took <= (1.0 + FORECAST_ERROR) * (said + grain(said))
        };
        self.forecast.is_some_and(holds) && self.word != Word::Inconclusive.name()
    }
}

/// What is asked for on the command line.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Settings {
    /// End after so long
    #[arg(long, default_value_t = 10)]
    pub minutes: u32,
    /// Begin with this turn instead of the one after the last of the journal
    #[arg(long)]
    pub first: Option<usize>,
}

/// Runs until the time is over; answers with the page and whether all is as it must be.
pub fn run(settings: &Settings, command: &str, mut report: impl FnMut(&str)) -> io::Result<(String, bool)> {
    let journal: Journal<Line> = Journal::open("ab-study", &comparing())?;
    let deadline = Instant::now() + Duration::from_secs(60) * settings.minutes;
    let scene = Scene::new()?;
    let next = journal.lines()?.len();
    for number in settings.first.unwrap_or(next).. {
        if Instant::now() > deadline {
            break;
        }
        let turn = TURNS[number % TURNS.len()];
        let loaded = (number / TURNS.len()) % 2 == 1;
        let line = scene.compare(turn, loaded, number, &journal.revision)?;
        let how = if loaded { ", loaded" } else { "" };
        let (kind, size) = (turn.0.name(), turn.1.name());
        report(&format!("{kind}, {size}{how}: {}, exit code {}", line.word, line.code));
        journal.add(&line)?;
    }
    scene.end()?;
    let (tables, is_well) = describe(&journal.lines()?);
    Ok((journal.publish("What comparisons say of known changes", command, &tables)?, is_well))
}

/// How many of some lines are as they are to be.
fn share(lines: &[Line], of: impl Fn(&Line) -> bool, is: impl Fn(&Line) -> bool) -> (usize, usize) {
    let all: Vec<&Line> = lines.iter().filter(|line| of(line)).collect();
    (all.iter().filter(|line| is(line)).count(), all.len())
}

/// The table of a page, and whether it is as it must be.
fn describe(lines: &[Line]) -> (String, bool) {
    let mut groups: BTreeMap<(Kind, Size, bool), Vec<&Line>> = BTreeMap::new();
    for line in lines {
        groups.entry((line.kind, line.size, line.loaded)).or_default().push(line);
    }
    let mut text = "\n| change | launch | load | comparisons | faster | slower | same | inconclusive | ended with 3 | median time |\n\
        |---|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for ((kind, size, loaded), lines) in &groups {
        let words = [Word::Faster, Word::Slower, Word::Same, Word::Inconclusive];
        let counts = words.map(|word| lines.iter().filter(|line| line.word == word.name()).count());
        let ended = lines.iter().filter(|line| line.code == 3).count();
        let seconds = median(&lines.iter().map(|line| line.seconds).collect::<Vec<f64>>()).unwrap_or(0.0);
        let [faster, slower, same, inconclusive] = counts;
        text += &format!(
            "| {} | {} | {} | {} | {faster} | {slower} | {same} | {inconclusive} | {ended} | {seconds:.1} s |\n",
            kind.name(),
            size.name(),
            if *loaded { "another" } else { "none" },
            lines.len(),
        );
    }
    let (different, same) = share(lines, |line| line.kind.is_same(), Line::is_different);
    let (passed, workflows) = share(lines, |line| line.kind == Kind::Workflow, |line| line.code == 0);
    let (foretold, forecasts) = share(lines, |line| line.forecast.is_some(), Line::is_forecast_well);
    let firsts: Vec<f64> = lines.iter().filter_map(|line| line.first).collect();
    let within = firsts.iter().filter(|seconds| **seconds <= BUDGET_SECONDS).count();
    let first = median(&firsts).map_or("none yet".to_owned(), |seconds| format!("{seconds:.2} s"));
    text += &format!(
        "\nThe same called different: {different} of {same}. Unchanged branches that passed: {passed} of {workflows}. Forecasts \
         within a third, and decided then: {foretold} of {forecasts}.\n\nFirst sets that called for \
         others: {within} of {} within {BUDGET}, median {first}.\n\n2 % found, by runs that ended with 3 after the others said so \
         too:\n\n",
        firsts.len()
    );
    let mut is_found = true;
    for kind in [Kind::MoreByAb, Kind::MoreByBaseline, Kind::MoreByFailOn] {
        let counts = [Size::Short, Size::Long].map(|size| {
            let (found, all) = share(lines, |line| (line.kind, line.size) == (kind, size), Line::is_found);
            is_found &= found as f64 >= LEAST_FOUND * all as f64;
            format!("{found} of {all} {}", size.name())
        });
        text += &format!("- {}: {}\n", kind.name(), counts.join(", "));
    }
    let missing = missing(lines);
    text += &match &missing {
        None => "\nAll that was demanded is there.\n".to_owned(),
        Some(lacks) => format!("\nYet to come: {lacks}.\n"),
    };
    let is_well = missing.is_none()
        && is_found
        && different as f64 <= MOST_FALSE * same as f64
        && passed == workflows
        && foretold == forecasts;
    (text, is_well)
}

/// How many comparisons it takes yet until as many were made as are demanded.
fn missing(lines: &[Line]) -> Option<String> {
    let lacks = DEMANDED.iter().filter_map(|Demand { what, count, of }| {
        let lacking = count.saturating_sub(share(lines, of, |_| true).1);
        (lacking > 0).then(|| format!("{lacking} {what}"))
    });
    let lacks: Vec<String> = lacks.collect();
    (!lacks.is_empty()).then(|| lacks.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::now;

    fn line(kind: Kind, word: &str, code: i32, forecast: Option<(f64, f64)>) -> Line {
        Line {
            revision: "a".to_owned(),
            finished: now(),
            kind,
            size: Size::Long,
            loaded: false,
            word: word.to_owned(),
            again: false,
            first: None,
            code,
            seconds: 1.0,
            forecast,
        }
    }

    /// As many lines of each kind as are demanded, all of them as they are to be.
    fn enough() -> Vec<Line> {
        let kinds = [
            (Kind::SameLibrary, 190, "same", 0, None),
            (Kind::Detect, 10, "same", 0, Some((9.0, 11.0))),
            (Kind::MoreByAb, 100, "slower", 3, None),
            (Kind::MoreByBaseline, 100, "slower", 3, None),
            (Kind::MoreByFailOn, 100, "slower", 3, None),
            (Kind::UnusedFunction, 20, "same", 0, None),
            (Kind::Workflow, 50, "none", 0, None),
        ];
        let lines =
            kinds.map(|(kind, count, word, code, forecast)| vec![line(kind, word, code, forecast); count]);
        lines.concat()
    }

    #[test]
    fn ways_are_told_apart_and_what_is_lacking_is_said() {
        let few = [line(Kind::SameLibrary, "same", 0, None), line(Kind::MoreByAb, "slower", 3, None)];
        let (page, is_well) = describe(&few);
        assert!(page.contains("- 2 % more work, `ab`: 0 of 0 short, 1 of 1 long"), "{page}");
        assert!(page.contains("Yet to come: 199 comparisons of the same, 99 of 2 % by `ab`"), "{page}");
        assert!(!is_well, "a part of what is demanded shows nothing");
        assert!(describe(&enough()).1, "{}", describe(&enough()).0);
        let mut lines = enough();
        let missed =
            Line { again: true, first: Some(2.0), ..line(Kind::MoreByFailOn, "inconclusive", 0, None) };
        lines.extend(vec![missed; 6]);
        assert!(!describe(&lines).1, "one way misses what another finds");
        let mut lines = enough();
        lines.extend(vec![Line { first: Some(3.5), ..line(Kind::MoreByAb, "slower", 3, None) }; 6]);
        assert!(!describe(&lines).1, "it took longer than it may");
    }

    #[test]
    fn a_branch_that_does_not_pass_and_a_forecast_that_is_wrong_are_seen() {
        let well = line(Kind::Detect, "same", 0, Some((9.0, 11.0)));
        let is_well = |line: &Line, count: usize| describe(&[enough(), vec![line.clone(); count]].concat()).1;
        assert!(is_well(&well, 1));
        for wrong in [
            Line { forecast: Some((9.0, 20.0)), ..well.clone() },
            Line { forecast: Some((0.3, 0.6)), ..well.clone() },
            Line { word: "inconclusive".to_owned(), ..well },
            line(Kind::Workflow, "none", 3, None),
        ] {
            assert!(!is_well(&wrong, 1), "{wrong:?}");
        }
        assert!(!is_well(&line(Kind::SamePython, "faster", 0, None), 4));
        let said = "it takes 12 more sets, which may not be enough: about 9 s; as long again for a row";
        assert_eq!(scene::forecast_of(said), Some(9.0));
        assert_eq!(scene::forecast_of("it takes 2 more sets: about 3 min; as"), Some(180.0));
        assert_eq!(scene::forecast_of("1 min: 0/2 rows"), None);
    }
}
