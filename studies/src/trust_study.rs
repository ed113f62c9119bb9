//! How far statuses can be trusted: honest rows of many libraries, and known lies, half of all beside another load.
//!
//! Each row is a line of the study's journal as soon as it is known.

use crate::bench::Bench;
use crate::facts::{MEASURING, now};
use crate::journal::{self, Journal};
use crate::noise_study::load::Load;
use roofline_core::case::{Case, parse_form};
use roofline_core::ops::OPERATIONS;
use roofline_core::philox::Draws;
use roofline_core::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Cases of one run: libraries that take seconds to start do so once a set for all of them.
const CASES: u64 = 4;
/// Time for one comparison with the limit.
const BUDGET: &str = "1s";
/// Of 1,000 honest rows so many may be suspect, and none wrong.
const MOST_SUSPECT: f64 = 1e-3;
/// Share of the honest kernel's time that a time must have to be no lie.
const HONEST: f64 = 0.95;
/// Of so many lies so many must be caught.
const LEAST_TRIES: u32 = 20;
const LEAST_CAUGHT: f64 = 0.95;

/// Lies whose chances are counted.
const LIES: &[&str] = &[
    "claims-a-tenth-less",
    "claims-a-twentieth-less",
    "honest-among-many",
    "honest-among-many-fresh",
    "puts-work-off",
    "works-in-the-copy",
    "remembers-rows",
    "remembers-products",
    "remembers-without-a-pause",
];
/// Those that compute all the same, put off or where content is new: a time is no lie if it is that of the honest kernel.
/// Whoever reports less than it took lies, whatever the size.
const MAY_BE_HONEST: &[&str] = &[
    "puts-work-off",
    "works-in-the-copy",
    "remembers-rows",
    "remembers-products",
    "remembers-without-a-pause",
];

/// What the honest rows of a page are to be: so many, of these runners, half of them beside another load.
const WANTED: usize = 1000;
const RUNNERS: &[&str] = &["cpu", "numpy", "torch", "onnxruntime", "jax", "c-peers"];

/// One row: a line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub revision: String,
    pub finished: String,
    pub loaded: bool,
    pub case: String,
    pub implementation: String,
    #[serde(default)]
    pub runner: String,
    /// The runner's version; none for lies.
    pub version: String,
    pub status: String,
    pub why: String,
    /// Why it was measured anew, if it was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub anew: String,
    /// Names of checks that were weaker.
    pub weaker: Vec<String>,
}

impl journal::Line for Line {
    fn revision(&self) -> &str {
        &self.revision
    }
}

impl Line {
    fn new(revision: &str, loaded: bool, record: &Record) -> Line {
        let weaker = record.evidence.checks.iter().filter(|checked| !checked.why.is_empty());
        let weaker = weaker.filter(|checked| checked.standing == roofline_core::check::Standing::Weaker);
        Line {
            revision: revision.to_owned(),
            finished: now(),
            loaded,
            case: record.case.clone(),
            implementation: record.implementation.clone(),
            runner: record.provenance.runner.clone(),
            version: record.provenance.runner_version.clone(),
            status: record.status.name().to_owned(),
            why: record.why.clone(),
            anew: record.provenance.notes.get("measured anew").cloned().unwrap_or_default(),
            weaker: weaker.map(|checked| checked.check.name().to_owned()).collect(),
        }
    }

    fn is_lie(&self) -> bool {
        self.implementation.starts_with("saboteur/")
    }

    /// Whether a lie has no time, or an honest one. What was refused was not tried.
    fn is_caught(&self) -> bool {
        match self.status.as_str() {
            "suspect" | "wrong" => true,
            "ok" => !self.why.is_empty(),
            _ => false,
        }
    }
}

/// What is asked for on the command line.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Settings {
    /// End after so long
    #[arg(long, default_value_t = 10)]
    pub minutes: u32,
    /// Draw other cases
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Runners beside the built-in one, and folders of runners
    #[arg(long, value_delimiter = ',', default_value = "numpy")]
    pub runners: Vec<String>,
    /// So many tries of every known lie, half of them beside another load, instead of honest rows
    #[arg(long, default_value_t = 0)]
    pub lies: u32,
}

/// Runs until the time is over; answers with the page and whether all is as it must be.
pub fn run(settings: &Settings, command: &str, mut report: impl FnMut(&str)) -> io::Result<(String, bool)> {
    let journal = Journal::open("trust-study", MEASURING)?;
    let deadline = Instant::now() + Duration::from_secs(60) * settings.minutes;
    if settings.lies > 0 {
        try_lies(settings, &journal, deadline, &mut report)?;
    } else {
        try_honest_rows(settings, &journal, deadline, &mut report)?;
    }
    let (tables, is_well) = describe(&journal.lines()?);
    Ok((journal.publish("How far statuses can be trusted", command, &tables)?, is_well))
}

fn try_honest_rows(
    settings: &Settings,
    journal: &Journal<Line>,
    deadline: Instant,
    report: &mut dyn FnMut(&str),
) -> io::Result<()> {
    let measure = Measure::new()?;
    let mut draws = Draws::new(settings.seed, 77);
    for round in 0.. {
        if Instant::now() > deadline {
            break;
        }
        let loaded = round % 2 == 1;
        let cases: Vec<String> = (0..CASES).map(|_| draw_case(&mut draws)).collect();
        let mut arguments: Vec<&str> = cases.iter().map(String::as_str).collect();
        arguments.extend(["--budget", BUDGET]);
        for runner in &settings.runners {
            arguments.extend(["--runner", runner]);
        }
        let records = measure.run(&arguments, loaded)?;
        for record in records.iter().filter(|record| !record.implementation.starts_with("limit/")) {
            journal.add(&Line::new(&journal.revision, loaded, record))?;
            if record.status.is_failure() {
                report(&format!("{}: {}: {}", record.row(), record.status, record.why));
            }
        }
        report(&format!("run {}: {} rows{}", round + 1, records.len(), if loaded { ", loaded" } else { "" }));
    }
    measure.end()
}

fn try_lies(
    settings: &Settings,
    journal: &Journal<Line>,
    deadline: Instant,
    report: &mut dyn FnMut(&str),
) -> io::Result<()> {
    let saboteurs = Bench::new()?.saboteurs()?;
    let measure = Measure::new()?;
    for number in 0..settings.lies {
        for name in LIES {
            let name = format!("saboteur/{name}");
            let found = saboteurs.iter().find(|saboteur| saboteur.implementation == name);
            let saboteur = found.ok_or_else(|| io::Error::other(format!("no {name}")))?;
            for case in &saboteur.cases {
                if Instant::now() > deadline {
                    return measure.end();
                }
                let loaded = number % 2 == 1;
                let rows = format!("saboteur/honest,{name}");
                let records = measure.run(&[case, "--runner", "saboteur", "-i", &rows], loaded)?;
                let find = |name: &str| records.iter().find(|record| record.implementation == name);
                let (Some(honest), Some(lie)) = (find("saboteur/honest"), find(&name)) else { continue };
                let mut line = Line::new(&journal.revision, loaded, lie);
                let may_be = MAY_BE_HONEST.iter().any(|one| name.ends_with(&format!("/{one}")));
                let times = lie.median().zip(honest.median()).filter(|_| may_be);
                if let Some((own, _)) = times.filter(|(own, honest)| own.0 >= HONEST * honest.0) {
                    line.why = format!("{own}, as the honest kernel");
                }
                report(&format!("{}: {}: {}", lie.row(), line.status, line.why));
                journal.add(&line)?;
            }
        }
    }
    measure.end()
}

/// The program, as people start it, with a store that ends with the study.
struct Measure {
    program: PathBuf,
    folder: PathBuf,
}

impl Measure {
    fn new() -> io::Result<Measure> {
        let program = crate::bench::build(&["-p", "roofline", "-p", "saboteur"])?.join("roofline");
        let folder = std::env::temp_dir().join(format!("roofline-trust-study-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Measure { program, folder })
    }

    /// The records of one run, beside another load or without.
    fn run(&self, arguments: &[&str], loaded: bool) -> io::Result<Vec<Record>> {
        let load = if loaded { Some(Load::start()?) } else { None };
        let output = Command::new(&self.program)
            .arg("run")
            .args(arguments)
            .args(["--format", "jsonl", "--store"])
            .arg(self.folder.join("store.db"))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
            .output()?;
        drop(load);
        let text = String::from_utf8_lossy(&output.stdout);
        let records: Vec<Record> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        match records.is_empty() {
            true => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
            false => Ok(records),
        }
    }

    fn end(&self) -> io::Result<()> {
        std::fs::remove_dir_all(&self.folder)
    }
}

/// A case that people have: sizes from a row to a few megabytes, one thread or two; half of them of those operations
/// that every library has.
fn draw_case(draws: &mut Draws) -> String {
    let pick = |draws: &mut Draws, from: &[&str]| from[draws.below(from.len() as u64) as usize].to_owned();
    let forms: Vec<String> = OPERATIONS.iter().flat_map(|operation| operation.forms()).collect();
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    let common = ["add", "softmax", "rms-norm", "matmul", "matmul.nn"];
    loop {
        let from = if draws.below(2) == 0 { &common[..] } else { &forms[..] };
        let form = pick(draws, from);
        let dtype = pick(draws, &["f32", "f32", "bf16", "f16", "f64"]);
        let Ok((operation, _)) = parse_form(&form) else { continue };
        let even: Vec<String> = operation.axes.iter().map(|axis| format!("{}=8", axis.name)).collect();
        let Ok(case) = format!("{form}/{dtype}/{}", even.join(",")).parse::<Case>() else { continue };
        // About as many elements whatever the number of axes.
        let bits = 20 / operation.axes.len() as u64;
        let wanted: Vec<u64> =
            operation.axes.iter().map(|_| (1 << draws.below(bits + 2)) + draws.below(40)).collect();
        let case = operation.near(&case, &wanted, draws);
        let threads = if draws.below(2) == 0 { "" } else { "/threads=2" };
        return format!("{case}{threads}");
    }
}

/// The tables of a page, and whether they are as they must be.
fn describe(lines: &[Line]) -> (String, bool) {
    let (lies, honest): (Vec<&Line>, Vec<&Line>) = lines.iter().partition(|line| line.is_lie());
    let judged: Vec<&&Line> =
        honest.iter().filter(|line| !matches!(line.status.as_str(), "unsupported" | "refused")).collect();
    let mut text = "\n## Honest rows\n\n| runner | load | rows | ok | suspect | wrong | other |\n|---|---|---:|---:|---:|---:|---:|\n".to_owned();
    let mut groups: BTreeMap<(String, bool), Vec<&Line>> = BTreeMap::new();
    for line in &judged {
        let provider = line.implementation.split('/').next().unwrap_or_default();
        groups.entry((format!("{provider} {}", line.version), line.loaded)).or_default().push(line);
    }
    let count = |group: &[&Line], status: &str| group.iter().filter(|line| line.status == status).count();
    for ((runner, loaded), group) in &groups {
        let [ok, suspect, wrong] = ["ok", "suspect", "wrong"].map(|status| count(group, status));
        let load = if *loaded { "another" } else { "none" };
        let other = group.len() - ok - suspect - wrong;
        text += &format!("| {runner} | {load} | {} | {ok} | {suspect} | {wrong} | {other} |\n", group.len());
    }
    let all: Vec<&Line> = judged.iter().map(|line| **line).collect();
    let (suspect, wrong) = (count(&all, "suspect"), count(&all, "wrong"));
    text += &format!("\n{} rows in all: {suspect} suspect, {wrong} wrong.\n", all.len());
    for line in all.iter().filter(|line| line.status != "ok") {
        text += &format!("- {}@{}: {}: {}\n", line.case, line.implementation, line.status, line.why);
    }
    // Lies may be studied by themselves.
    let missing = if honest.is_empty() { Vec::new() } else { missing(&all) };
    for goal in &missing {
        text += &format!("- not reached yet: {goal}\n");
    }
    let failed = all.len() - count(&all, "ok") - suspect - wrong;
    let mut is_well = missing.is_empty()
        && wrong == 0
        && failed == 0
        && suspect as f64 <= (MOST_SUSPECT * all.len() as f64).max(1.0);
    let mut kinds: BTreeMap<(&str, &str, bool), (u32, u32)> = BTreeMap::new();
    let mut tries: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for line in &lies {
        *tries.entry((&line.implementation, &line.case)).or_default() += 1;
        let (tried, caught) = kinds.entry((&line.implementation, &line.case, line.loaded)).or_default();
        *tried += 1;
        *caught += u32::from(line.is_caught());
    }
    if !kinds.is_empty() {
        text += "\n## Lies\n\n| lie | case | load | tried | no time, or an honest one |\n|---|---|---|---:|---:|\n";
    }
    for ((lie, case, loaded), (tried, caught)) in kinds {
        let load = if loaded { "another" } else { "none" };
        text += &format!("| {lie} | {case} | {load} | {tried} | {caught} |\n");
        is_well &= f64::from(caught) >= LEAST_CAUGHT * f64::from(tried);
    }
    tries.retain(|_, tried| *tried < LEAST_TRIES);
    for ((lie, case), tried) in &tries {
        text += &format!("- not reached yet: {LEAST_TRIES} tries of {case}@{lie}; there are {tried}\n");
    }
    (text, is_well && tries.is_empty())
}

/// What the honest rows do not show yet.
fn missing(rows: &[&Line]) -> Vec<String> {
    let mut missing = Vec::new();
    if rows.len() < WANTED {
        missing.push(format!("{WANTED} rows; there are {}", rows.len()));
    }
    let absent: Vec<&str> =
        RUNNERS.iter().copied().filter(|runner| rows.iter().all(|line| line.runner != *runner)).collect();
    if !absent.is_empty() {
        missing.push(format!("rows of {}", absent.join(", ")));
    }
    let loaded = rows.iter().filter(|line| line.loaded).count();
    if 2 * loaded < rows.len() {
        missing.push(format!("half of the rows beside another load; there are {loaded}"));
    }
    // A library that has been seen to start and join threads as it goes.
    let on_two = |line: &&Line| {
        line.runner == "jax" && line.case.starts_with("rms-norm/") && line.case.contains("/threads=2")
    };
    if !rows.iter().any(on_two) {
        missing.push("jax's rms-norm on two threads".to_owned());
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(implementation: &str, status: &str) -> Line {
        Line {
            revision: "r".to_owned(),
            finished: "t".to_owned(),
            loaded: false,
            case: "add/f32/rows=1,cols=1".to_owned(),
            implementation: implementation.to_owned(),
            runner: implementation.split('/').next().unwrap_or_default().to_owned(),
            version: "1".to_owned(),
            status: status.to_owned(),
            why: String::new(),
            anew: String::new(),
            weaker: Vec::new(),
        }
    }

    /// All that a page of honest rows needs.
    fn honest_rows() -> Vec<Line> {
        let row = |at: usize| Line {
            loaded: !at.is_multiple_of(3),
            runner: RUNNERS[at % RUNNERS.len()].to_owned(),
            case: "rms-norm/f32/rows=8,cols=8/threads=2".to_owned(),
            ..line("any/kernel", "ok")
        };
        (0..WANTED).map(row).collect()
    }

    #[test]
    fn a_wrong_honest_row_and_one_that_fails_are_not_well() {
        let with = |more: Line| describe(&[honest_rows(), vec![more]].concat()).1;
        assert!(with(line("numpy/ufunc", "unsupported")) && with(line("numpy/ufunc", "suspect")));
        for status in ["wrong", "crashed", "timeout", "protocol", "out-of-memory"] {
            assert!(!with(line("numpy/ufunc", status)), "{status}");
        }
    }

    #[test]
    fn a_lie_with_a_time_is_not_well_and_one_try_shows_little() {
        let lies =
            |of: &dyn Fn() -> Line, count: usize| describe(&(0..count).map(|_| of()).collect::<Vec<_>>());
        let tried = |status: &str, why: &str| {
            lies(&|| Line { why: why.to_owned(), ..line("saboteur/x", status) }, LEAST_TRIES as usize).1
        };
        assert!(tried("suspect", "") && !tried("ok", ""));
        assert!(!tried("refused", "too large"), "what is refused was not caught");
        assert!(tried("ok", "as the honest kernel"), "it has the time of the honest kernel");
        let (page, is_well) = lies(&|| line("saboteur/x", "suspect"), 1);
        assert!(
            !is_well && page.contains("20 tries of add/f32/rows=1,cols=1@saboteur/x; there are 1"),
            "{page}"
        );
    }

    #[test]
    fn a_page_says_what_it_does_not_show_yet() {
        let (page, is_well) = describe(&[line("cpu/vector", "ok")]);
        assert!(!is_well);
        for goal in ["1000 rows; there are 1", "rows of numpy, torch", "half of the rows", "jax's rms-norm"] {
            assert!(page.contains(goal), "{goal}: {page}");
        }
        assert!(!describe(&honest_rows()).0.contains("not reached"));
    }

    #[test]
    fn drawn_cases_are_cases() {
        let mut draws = Draws::new(1, 1);
        for _ in 0..200 {
            let case = draw_case(&mut draws);
            assert!(case.parse::<roofline_core::case::Case>().is_ok(), "{case}");
        }
    }
}
