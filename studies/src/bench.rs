//! Runs rows through the conductor and returns their records.

use roofline_conductor::checks::Checks;
use roofline_conductor::conduct::{Finish, Observer, RunFacts, Step, conduct};
use roofline_conductor::plan::{Plan, PlannedCase, PlannedRow, RunnerOffers, is_limit};
use roofline_conductor::runners::{self, RunnerSpec};
use roofline_conductor::session::Limits;
use roofline_conductor::stage::Options;
use roofline_core::case::Case;
use roofline_core::condition::Condition;
use roofline_core::protocol::{Hello, Offer};
use roofline_core::record::Record;
use roofline_core::turn::Turn;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The program and the runners that studies use, built where this program was built.
pub struct Bench {
    program: PathBuf,
    runners: Vec<RunnerSpec>,
    /// How long an answer is waited for.
    patience: Duration,
    saboteurs: Vec<Saboteur>,
}

/// One saboteur, as its own table tells.
#[derive(Clone, Debug, Deserialize)]
pub struct Saboteur {
    pub implementation: String,
    pub cases: Vec<String>,
    /// The status that it must get.
    pub status: String,
    pub about: String,
    /// The row of the table of exploits that it plays.
    pub plays: String,
    /// What it declares to require.
    pub requires: String,
}

#[derive(Deserialize)]
struct Table {
    implementations: Vec<Saboteur>,
}

impl Bench {
    /// Finds the binaries beside this one, building them if they are not there.
    pub fn new() -> io::Result<Bench> {
        let folder = build(&["-p", "roofline", "-p", "saboteur"])?;
        let program = folder.join("roofline");
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut runners = vec![RunnerSpec::built_in(&program)];
        runners.push(runners::read(&repository.join("runners/saboteur"), &folder).map_err(io::Error::other)?);
        let output = Command::new(program.with_file_name("saboteur")).arg("--table").output()?;
        let table: Table = serde_json::from_slice(&output.stdout)?;
        Ok(Bench { program, runners, patience: Duration::from_secs(3), saboteurs: table.implementations })
    }

    /// The saboteurs and the status that each must get.
    pub fn saboteurs(&self) -> io::Result<Vec<Saboteur>> {
        Ok(self.saboteurs.clone())
    }

    /// The same with a saboteur that has more words on its command line.
    pub fn with_words(&self, words: &[String]) -> Bench {
        let mut runners = self.runners.clone();
        for spec in runners.iter_mut().filter(|spec| spec.name == "saboteur") {
            spec.command.extend_from_slice(words);
        }
        let (program, saboteurs) = (self.program.clone(), self.saboteurs.clone());
        Bench { program, runners, patience: self.patience, saboteurs }
    }

    /// The same with another time for one launch.
    pub fn with_patience(mut self, patience: Duration) -> Bench {
        self.patience = patience;
        self
    }

    /// What the built-in runner offers.
    pub fn offers(&self) -> io::Result<Vec<Offer>> {
        // Probes of limits compute nothing that could be judged.
        Ok(self.hello()?.offers.into_iter().filter(|offer| !is_limit(&offer.implementation)).collect())
    }

    /// The probes of a case's limit.
    pub fn probes(&self, case: &Case) -> io::Result<Vec<PlannedRow>> {
        let offers = [RunnerOffers::new(&self.runners[0].name, self.hello()?)];
        let plan = Plan::new(vec![case.clone()], &offers, &["limit/*".to_owned()]);
        Ok(plan.cases.into_iter().flat_map(|planned| planned.probes).collect())
    }

    fn hello(&self) -> io::Result<Hello> {
        let limits = Limits { patience: Duration::from_secs(10), memory: 1 << 30 };
        roofline_conductor::offers::ask(&self.program, &self.runners[0], limits).map_err(io::Error::other)
    }

    /// What a saboteur declares to require.
    fn required_by(&self, implementation: &str) -> Condition {
        let of = |saboteur: &&Saboteur| saboteur.implementation == implementation;
        let found = self.saboteurs.iter().find(of).map(|saboteur| saboteur.requires.parse());
        found.map_or_else(Condition::default, |condition| condition.expect("a saboteur's condition is one"))
    }

    /// Takes the implementations through a case, in order, and returns their records.
    pub fn run(
        &self,
        case: &Case,
        implementations: &[&str],
        seed: u64,
        budget: Option<Duration>,
        checks: Checks,
    ) -> io::Result<Vec<Record>> {
        self.conduct(vec![self.plan(case, implementations)], seed, budget, checks)
    }

    /// The implementations as rows of a case, without probes of its limit.
    pub fn plan(&self, case: &Case, implementations: &[&str]) -> PlannedCase {
        planned(case, implementations.iter().map(|name| (*name, self.required_by(name))))
    }

    /// The same of what was offered.
    pub fn plan_offers<'o>(&self, case: &Case, offers: impl Iterator<Item = &'o Offer>) -> PlannedCase {
        planned(
            case,
            offers.map(|offer| (&*offer.implementation, offer.requires.parse().unwrap_or_default())),
        )
    }

    /// Takes the rows of cases through them in one run, and returns their records.
    pub fn conduct(
        &self,
        cases: Vec<PlannedCase>,
        seed: u64,
        budget: Option<Duration>,
        checks: Checks,
    ) -> io::Result<Vec<Record>> {
        let plan = Plan { cases };
        let limits = Limits { patience: self.patience, memory: 1 << 30 };
        let options = Options {
            budget,
            quick: true,
            checks,
            ..Options::new(self.program.clone(), self.runners.clone(), limits, seed)
        };
        let facts = RunFacts { run: "study".to_owned(), machine: String::new() };
        let mut kept = Kept::default();
        match conduct(&plan, &options, &facts, &[], &mut kept)? {
            Finish::Complete => Ok(kept.records),
            Finish::Interrupted | Finish::OutOfTime => Err(io::ErrorKind::Interrupted.into()),
        }
    }
}

/// A case with rows of these names and conditions.
fn planned<'n>(case: &Case, rows: impl Iterator<Item = (&'n str, Condition)>) -> PlannedCase {
    let row = |(implementation, requires): (&str, Condition)| PlannedRow {
        implementation: implementation.to_owned(),
        runner: implementation.split('/').next().unwrap_or_default().to_owned(),
        lacks: None,
        requires,
        is_compared: false,
    };
    PlannedCase {
        case: case.clone(),
        rows: rows.map(row).collect(),
        against: None,
        probes: Vec::new(),
        has_device: true,
    }
}

/// Builds packages in the profile of this program; answers with the folder of their binaries.
pub(crate) fn build(packages: &[&str]) -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    // Tests live one folder below the binaries.
    let folder = own.ancestors().skip(1).find(|folder| !folder.ends_with("deps")).unwrap_or(Path::new("."));
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    command.args(["build", "--quiet"]).args(packages);
    if folder.ends_with("release") {
        command.arg("--release");
    }
    let built = command.current_dir(env!("CARGO_MANIFEST_DIR")).status()?;
    let why = || io::Error::other(format!("cargo build {} failed", packages.join(" ")));
    if built.success() { Ok(folder.to_owned()) } else { Err(why()) }
}

/// What a store asks of a document: numbers that JSON has none for do not come back.
fn reads_back<T: Serialize + DeserializeOwned + PartialEq>(document: &T) -> io::Result<()> {
    let again: T = serde_json::from_str(&serde_json::to_string(document)?)?;
    if again == *document { Ok(()) } else { Err(io::Error::other("a document reads back as another")) }
}

/// Keeps what a run found.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) records: Vec<Record>,
    pub(crate) turns: Vec<Turn>,
}

impl Observer for Kept {
    fn begin(&mut self, _step: Step, _case: &Case) {}

    fn turn(&mut self, turn: &Turn) -> io::Result<()> {
        reads_back(turn)?;
        self.turns.push(turn.clone());
        Ok(())
    }

    fn end(&mut self, _case: &Case) -> io::Result<()> {
        Ok(())
    }

    fn record(&mut self, record: Record) -> io::Result<()> {
        reads_back(&record)?;
        self.records.push(record);
        Ok(())
    }

    fn stamp(&mut self) -> (String, String) {
        (String::new(), String::new())
    }
}
