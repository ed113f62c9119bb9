//! From plans to a table and an exit code: what `run`, `check` and `ab` share.

use crate::args::{EvidenceArg, How, SandboxArg, Show};
use crate::error::{Problem, tell};
use crate::places;
use roofline_conductor::conduct::Finish;
use roofline_conductor::isolation::Sandbox;
use roofline_conductor::machine::Machine;
use roofline_conductor::plan::Plan;
use roofline_conductor::session::Limits;
use roofline_conductor::stage::Options;
use roofline_core::decision::FailOn;
use roofline_core::policy::{Finding, Policy};
use roofline_core::record::{Record, Status};
use roofline_core::target::{Reached, Target};
use roofline_report::{Format, Reading, Report, Style};
use roofline_run::project::Project;
use roofline_run::{
    Decision, Judged, Lineup, Outcome, Past, Request, Unbegun, decide, forecast, half_of_memory, has_failure,
    now, roughly, row_budget, secret_seed,
};
use std::path::Path;
use std::time::Duration;

/// How a report is shown.
pub enum View {
    Format(&'static Format),
    Reading(Reading),
}

impl View {
    /// What was asked for.
    pub fn of(show: &Show, reading: Option<Reading>) -> Result<View, Problem> {
        let format =
            || Format::find(&show.format).map_err(|error| Problem::usage(error.to_string(), error.hint()));
        reading.map_or_else(|| format().map(View::Format), |reading| Ok(View::Reading(reading)))
    }

    fn write(&self, report: &Report, style: Style) -> String {
        match self {
            View::Format(format) => (format.write)(report, style),
            View::Reading(reading) => reading.write(report, style),
        }
    }
}

/// What is to be measured, and what is made of it.
pub struct Take<'a> {
    pub how: &'a How,
    pub show: &'a Show,
    pub view: View,
    pub store: &'a Path,
    pub machine: &'a Machine,
    pub lineup: Lineup,
    pub plans: Vec<Plan>,
    /// Runners that others are compared with and that are nobody's any more: that they fail fails no run.
    pub older: Vec<String>,
    /// Time for one row; `None` measures nothing.
    pub budget: Option<Duration>,
    pub fail_on: Option<FailOn>,
    /// The difference that is to show, as a share; instead of the budget.
    pub detect: Option<f64>,
    /// Whether nothing was left out of what there is to measure.
    pub is_whole: bool,
    /// The rules of the repository, where the run fails on them.
    pub policy: Option<Policy>,
    /// What the rows are to reach.
    pub targets: Vec<Target>,
    pub past: Option<Past>,
    pub reproduce: Option<&'a dyn Fn(&Record) -> String>,
    /// What to do about rows that are not finished.
    pub go_on: &'a str,
}

/// Who has to wait longer is told for how long.
const WORTH_SAYING: Duration = Duration::from_secs(120);

pub fn budget(how: &How) -> Duration {
    row_budget(how.budget, how.quick)
}

pub fn limits(how: &How, machine: &Machine) -> Limits {
    Limits { patience: how.timeout, memory: how.memory.unwrap_or_else(|| half_of_memory(machine)) }
}

impl Take<'_> {
    /// Measures, prints, and says with which code to end; with the records, if all rows are finished.
    pub fn run(mut self) -> Result<(u8, Option<Vec<Record>>), Problem> {
        let rows: usize = self.plans.iter().map(Plan::rows).sum();
        let options = self.options()?;
        let forecast = forecast::plans(&self.plans, self.budget);
        let forecast = self.how.total_budget.map_or(forecast, |budget| budget.min(forecast));
        if forecast > WORTH_SAYING && self.past.is_none() {
            tell(&format!("{rows} rows, about {}", roughly(forecast)));
        }
        let request = Request {
            plans: &self.plans,
            options: &options,
            machine: self.machine,
            store: self.store,
            wait: self.how.wait,
            past: self.past.take(),
            reproduce: self.reproduce,
        };
        let outcome = match request.run() {
            Err(Unbegun::Interrupted) => {
                tell(&Unbegun::Interrupted.to_string());
                return Ok((130, None));
            }
            outcome => outcome?,
        };
        let Outcome { records, finished, kept, finish, run } = outcome;
        let targets: Vec<Reached> = self.targets.iter().map(|target| target.reach(&records)).collect();
        let all: Vec<&Record> = records.iter().collect();
        let is_whole = self.is_whole && matches!(finish, Ok(Finish::Complete));
        let judged =
            self.policy.as_ref().map(|policy| policy.judge(&self.own(&all), &all, &today(), is_whole));
        let report = Report {
            run: Some(&run),
            records: &records,
            sort: self.show.sort,
            targets: &targets,
            findings: judged.as_deref().unwrap_or_default(),
        };
        super::print(&self.view.write(&report, super::style()))?;
        kept?;
        let reached = format!("{finished} of {rows} rows are finished and stored");
        match finish {
            Ok(Finish::Complete) if has_nothing(&records) => {
                tell("nothing was measured: every row is unsupported or refused");
                Ok((5, None))
            }
            Ok(Finish::Complete) => Ok((self.exit_code(&report), Some(records))),
            Ok(Finish::OutOfTime) => {
                tell(&format!("the total budget is spent: {reached}; {}", self.go_on));
                let code = self.exit_code(&report);
                // What was to be decided is not: that is no reason to merge.
                let decides = self.fail_on.is_some() || !self.targets.is_empty();
                let is_open = code == 0 && decides && finished < rows;
                Ok((if is_open { 5 } else { code }, None))
            }
            Ok(Finish::Interrupted) => {
                tell(&format!("interrupted: {reached}; {}", self.go_on));
                Ok((130, None))
            }
            Err(error) => Err(Problem::own(error.to_string())),
        }
    }

    /// The rows that are somebody's to mend.
    fn own<'r>(&self, records: &[&'r Record]) -> Vec<&'r Record> {
        let is_own = |record: &&&Record| !self.older.contains(&record.provenance.runner);
        records.iter().filter(is_own).copied().collect()
    }

    /// The code of a run that came to its end; says what it fails on.
    fn exit_code(&self, report: &Report) -> u8 {
        let all: Vec<&Record> = report.records.iter().collect();
        let own = self.own(&all);
        let is_past = |record: &&&Record| self.older.contains(&record.provenance.runner);
        for record in all.iter().filter(is_past).filter(|record| record.status.is_failure()) {
            tell(&format!("{}: {}; nothing is compared with it", record.row(), record.status));
        }
        if has_failure(own.iter().copied()) {
            return 4;
        }
        for Finding { row, what, .. } in report.findings {
            tell(&format!("policy: {row}: {what}"));
        }
        let missed: Vec<&Reached> = report.targets.iter().filter(|reached| reached.fails()).collect();
        for reached in &missed {
            tell(&format!("missed: {}", reached.target.id));
        }
        let is_broken = report.findings.iter().any(|finding| finding.fails);
        let judged = self.policy.as_ref().map(|policy| Judged { is_broken, least: policy.least() });
        match decide(own, self.fail_on, judged) {
            Decision::Fails => return 3,
            _ if !missed.is_empty() => return 3,
            Decision::Open => return 5,
            Decision::Well => {}
        }
        let has_pair = report.targets.iter().any(|reached| reached.cases > 0);
        if !report.targets.is_empty() && !has_pair {
            tell("no target was decided: no case has a time of both sides");
            return 5;
        }
        0
    }

    fn options(&self) -> Result<Options, Problem> {
        let how = self.how;
        let seed = how.seed.unwrap_or_else(secret_seed);
        let limits = limits(how, self.machine);
        Ok(Options {
            budget: self.budget,
            total_budget: how.total_budget,
            quick: how.quick,
            delta: self.detect.unwrap_or(how.delta / 100.0),
            detect: self.detect,
            fail_on: self.policy.as_ref().map(Policy::least).or(self.fail_on),
            sandbox: match how.sandbox {
                SandboxArg::BestEffort => Sandbox::BestEffort,
                SandboxArg::Required => Sandbox::Required,
            },
            require_held: how.require_evidence == EvidenceArg::Held,
            ..Options::new(places::program()?, self.lineup.specs.clone(), limits, seed)
        })
    }
}

/// The policy of the repository that the command is given in, where a run fails on it.
pub fn policy(fail_on: Option<FailOn>) -> Result<Option<Policy>, Problem> {
    if fail_on != Some(FailOn::Policy) {
        return Ok(None);
    }
    let project = Project::read(Path::new("."))
        .map_err(|error| Problem::usage(error.to_string(), "see docs/format.md, roofline.toml"))?;
    Ok(Some(project.policy))
}

/// The day, as waivers have it.
fn today() -> String {
    now().chars().take("2026-11-17".len()).collect()
}

/// Whether every row says no.
fn has_nothing(records: &[Record]) -> bool {
    records.iter().all(|record| matches!(record.status, Status::Unsupported | Status::Refused))
}

/// The plans, and the time that they will about take.
pub fn describe(plans: &[Plan], budget: Option<Duration>) -> String {
    let mut text = String::new();
    let mut rows = 0;
    for planned in plans.iter().flat_map(|plan| &plan.cases) {
        for row in &planned.rows {
            rows += 1;
            let note = match row.requires.admits(&planned.case) {
                _ if row.lacks.is_some() => "  (unsupported)".to_owned(),
                Err(why) => format!("  (unsupported: {why})"),
                Ok(()) => String::new(),
            };
            text.push_str(&format!("{}@{}{note}\n", planned.case, row.implementation));
        }
    }
    text.push_str(&format!("{rows} rows, about {}\n", roughly(forecast::plans(plans, budget))));
    text
}
