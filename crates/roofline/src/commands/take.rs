//! From what was asked to a table and an exit code: what `run`, `check` and `ab` share.

use crate::args::{EvidenceArg, How, SandboxArg, Show};
use crate::error::{Problem, complain, tell};
use crate::places;
use roofline_conductor::conduct::Finish;
use roofline_conductor::isolation::Sandbox;
use roofline_conductor::machine::Machine;
use roofline_conductor::plan::Plan;
use roofline_core::decision::FailOn;
use roofline_core::policy::Policy;
use roofline_core::record::{Record, Run};
use roofline_report::{Format, Reading, Report};
use roofline_run::project::Project;
use roofline_run::{Ask, Judgement, Past, Planned, Request, Unbegun, forecast, roughly, row_budget};
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

    /// Prints the records of a run, with what was judged of them, and what was said before it began.
    pub fn print(
        &self,
        run: &Run,
        records: &[Record],
        show: &Show,
        judged: &Judgement,
        notices: &[String],
    ) -> Result<(), Problem> {
        let Judgement { targets, findings, notices: more } = judged;
        let notices = &[notices, more].concat();
        let (run, sort, all) = (Some(run), show.sort, show.all);
        let report = Report { run, records, sort, targets, findings, notices, all };
        let style = super::style();
        super::print(&match self {
            View::Format(format) => (format.write)(&report, style),
            View::Reading(reading) => reading.write(&report, style),
        })
    }
}

/// What is to be measured, and what is made of it.
pub struct Take<'a> {
    pub ask: &'a Ask,
    pub planned: &'a Planned,
    pub show: &'a Show,
    pub view: View,
    pub store: &'a Path,
    pub machine: &'a Machine,
    pub past: Option<Past>,
    /// The command that shows a row again.
    pub reproduce: &'a dyn Fn(&Record) -> String,
    /// What to do about rows that are not finished.
    pub go_on: &'a str,
}

/// Who has to wait longer is told for how long.
const WORTH_SAYING: Duration = Duration::from_secs(30);

/// What the options of every command ask for, which measures and compares with nothing.
pub fn ask(how: &How) -> Ask {
    Ask {
        budget: Some(row_budget(how.budget, how.bounds.quick)),
        total_budget: how.bounds.total_budget,
        quick: how.bounds.quick,
        delta: how.delta / 100.0,
        detect: None,
        fail_on: None,
        policy: None,
        targets: Vec::new(),
        timeout: how.bounds.timeout,
        memory: how.bounds.memory,
        wait: how.bounds.wait,
        seed: how.bounds.seed,
        sandbox: match how.bounds.sandbox {
            SandboxArg::BestEffort => Sandbox::BestEffort,
            SandboxArg::Required => Sandbox::Required,
        },
        require_held: how.bounds.require_evidence == EvidenceArg::Held,
    }
}

impl Take<'_> {
    /// Measures, prints, and says with which code to end; with the records, if all rows are finished.
    pub fn run(self) -> Result<(u8, Option<Vec<Record>>), Problem> {
        let Take { ask, planned, .. } = self;
        let forecast = forecast::plans(&planned.plans, ask.budget);
        let forecast = ask.total_budget.map_or(forecast, |budget| budget.min(forecast));
        if forecast > WORTH_SAYING && self.past.is_none() {
            tell(&format!("{} rows, about {}", planned.rows(), roughly(forecast)));
        }
        let request = Request {
            ask,
            planned,
            program: &places::program()?,
            machine: self.machine,
            store: self.store,
            past: self.past,
            reproduce: Some(self.reproduce),
        };
        let outcome = match request.run() {
            Err(Unbegun::Interrupted) => {
                complain(&Unbegun::Interrupted.to_string());
                return Ok((130, None));
            }
            outcome => outcome?,
        };
        let is_complete = matches!(outcome.finish, Ok(Finish::Complete));
        let judged = ask.judge(&outcome.records, &planned.others, planned.is_whole && is_complete);
        self.view.print(&outcome.run, &outcome.records, self.show, &judged, &planned.notices)?;
        let code = ask.end(&outcome, &planned.others, &judged, self.go_on);
        outcome.kept?;
        let code = code.map_err(|error| Problem::own(error.to_string()))?;
        Ok((code, is_complete.then_some(outcome.records)))
    }
}

/// The policy of the repository that the command is given in, where a run fails on it.
pub fn policy(fail_on: Option<FailOn>) -> Result<Option<Policy>, Problem> {
    if fail_on != Some(FailOn::Policy) {
        return Ok(None);
    }
    let project = Project::read(Path::new(".")).map_err(|error| {
        Problem::usage(
            error.to_string(),
            "`roofline init` in an empty folder writes a roofline.toml with all that it may hold",
        )
    })?;
    Ok(Some(project.policy))
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
