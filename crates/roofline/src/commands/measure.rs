//! `roofline check` and `roofline run`: the same way, without and with times.

use crate::args::{Command, EvidenceArg, Line, Measure, Places, SandboxArg};
use crate::commands::offers;
use crate::error::{Problem, tell};
use crate::{places, select};
use clap::Parser;
use roofline_conductor::conduct::Finish;
use roofline_conductor::isolation::Sandbox;
use roofline_conductor::machine::Machine;
use roofline_conductor::plan::{self, Plan, PlannedRow, RunnerOffers};
use roofline_conductor::runners::RunnerSpec;
use roofline_conductor::session::Limits;
use roofline_conductor::stage::Options;
use roofline_core::case::Case;
use roofline_core::decision::FailOn;
use roofline_core::protocol::Offer;
use roofline_core::record::{Record, Run, Status};
use roofline_report::{Format, Report};
use roofline_run::{
    Past, Request, Unbegun, fails, half_of_memory, has_failure, roughly, row_budget, secret_seed,
};
use roofline_store::{Filter, Store};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

pub fn check(args: &Measure) -> Result<ExitCode, Problem> {
    if args.resume { resume(args) } else { go(args, None, None) }
}

pub fn run(args: &Measure) -> Result<ExitCode, Problem> {
    if args.resume { resume(args) } else { go(args, Some(budget(args)), None) }
}

fn budget(args: &Measure) -> Duration {
    row_budget(args.budget, args.quick)
}

/// Goes on with the latest run by its own command line; only where and how to print, and how long the run
/// may take from now on, are taken anew.
fn resume(args: &Measure) -> Result<ExitCode, Problem> {
    if !args.select.select.is_empty() || args.select.suite.is_some() || !args.implementation.is_empty() {
        let hint = "leave the selection out: the run that is resumed has its own";
        return Err(Problem::usage("`--resume` goes on with a run as it was begun", hint));
    }
    let store = Store::open(&args.places.store)?;
    let Some(run) = store.latest_run()? else {
        return Err(Problem::nothing("there is no run to resume", "`roofline run` begins one"));
    };
    let filter = Filter { run: Some(run.id.clone()), ..Filter::default() };
    let records = store.records(&filter)?.found;
    let turns = store.turns(&run.id)?.found;
    let begun = Line::try_parse_from(&run.arguments).ok().map(|line| line.command);
    let (mut begun, budget) = match begun {
        Some(Command::Run(begun)) => {
            let budget = budget(&begun);
            (begun, Some(budget))
        }
        Some(Command::Check(begun)) => (begun, None),
        _ => {
            let why = format!("the latest run, {}, cannot be resumed: its command line is not known", run.id);
            return Err(Problem::usage(why, "begin it again with `roofline run`"));
        }
    };
    // Only now: a run that was imported has no machine, and no command line to go on with either.
    check_machine(&run)?;
    check_program(&run)?;
    begun.places.store.clone_from(&args.places.store);
    begun.format.clone_from(&args.format);
    begun.total_budget = args.total_budget;
    begun.wait = args.wait;
    begun.resume = false;
    drop(store);
    tell(&format!("resuming `{}`: {} rows are finished", run.command, records.len()));
    go(&begun, budget, Some(Past { run, records, turns }))
}

/// Sets of two machines say nothing together.
fn check_machine(run: &Run) -> Result<(), Problem> {
    let then = serde_json::from_value::<Machine>(run.machine.clone()).map(|machine| machine.fingerprint());
    if then.is_ok_and(|then| then == Machine::read().fingerprint()) {
        return Ok(());
    }
    let why = format!("the latest run, {}, was begun on another machine", run.id);
    Err(Problem::usage(why, "go on there, or begin it again with `roofline run`"))
}

/// Neither do sets of two builds, which differ by what is measured. Runs of before do not say which it was.
fn check_program(run: &Run) -> Result<(), Problem> {
    if run.program.is_empty() || run.program == roofline_run::program() {
        return Ok(());
    }
    let why = format!("the latest run, {}, was begun by another build of roofline", run.id);
    Err(Problem::usage(why, "go on with that one, or begin the run again with `roofline run`"))
}

fn go(args: &Measure, budget: Option<Duration>, past: Option<Past>) -> Result<ExitCode, Problem> {
    let format =
        Format::find(&args.format).map_err(|error| Problem::usage(error.to_string(), error.hint()))?;
    let specs = places::runners(&args.places)?;
    let machine = Machine::read();
    let limits =
        Limits { patience: args.timeout, memory: args.memory.unwrap_or_else(|| half_of_memory(&machine)) };
    let may_ask = (!args.dry_run).then_some(limits);
    offers::bring(&args.places, &specs, may_ask)?;
    let cases = select::cases(&args.select)?;
    let patterns = patterns_with_hub(&args.implementation, args.against.as_deref());
    let runners = offers::needed(&places_with_hub(args, &specs), &patterns, &specs, may_ask)?;
    let forms: BTreeSet<String> = cases.iter().map(Case::form).collect();
    check_named(&specs, &runners, &forms)?;
    let plan = Plan::new(cases, &runners, &patterns);
    let rows = plan.rows();
    if rows == 0 {
        return Err(nothing_selected(args, &forms, &runners));
    }
    check_against(args, &plan)?;
    check_twins(&plan)?;
    if args.dry_run {
        crate::commands::print(&describe(&plan, budget))?;
        return Ok(ExitCode::SUCCESS);
    }
    let seed = args.seed.unwrap_or_else(secret_seed);
    let options = Options {
        budget,
        total_budget: args.total_budget,
        quick: args.quick,
        against: args.against.clone(),
        delta: args.delta / 100.0,
        sandbox: match args.sandbox {
            SandboxArg::BestEffort => Sandbox::BestEffort,
            SandboxArg::Required => Sandbox::Required,
        },
        require_held: args.require_evidence == EvidenceArg::Held,
        ..Options::new(places::program()?, specs, limits, seed)
    };
    let request = Request {
        plans: &[plan],
        options: &options,
        machine: &machine,
        store: &args.places.store,
        wait: args.wait,
        past,
        reproduce: None,
    };
    let outcome = match request.run() {
        Err(Unbegun::Interrupted) => {
            tell(&Unbegun::Interrupted.to_string());
            return Ok(ExitCode::from(130));
        }
        outcome => outcome?,
    };
    let report = Report { run: Some(&outcome.run), records: &outcome.records, sort: args.sort };
    let write = if args.scaling { roofline_report::scaling } else { format.write };
    crate::commands::print(&write(&report, crate::commands::style()))?;
    outcome.kept?;
    let reached = format!("{} of {rows} rows are finished and stored", outcome.finished);
    let go_on = "`roofline run --resume` goes on from there";
    match outcome.finish {
        Ok(Finish::Complete) if has_nothing(&outcome.records) => {
            tell("nothing was measured: every row is unsupported or refused");
            Ok(ExitCode::from(5))
        }
        Ok(Finish::Complete) => Ok(exit_code(&outcome.records, args.fail_on)),
        Ok(Finish::OutOfTime) => {
            tell(&format!("the total budget is spent: {reached}; {go_on}"));
            Ok(exit_code(&outcome.records, args.fail_on))
        }
        Ok(Finish::Interrupted) => {
            tell(&format!("interrupted: {reached}; {go_on}"));
            Ok(ExitCode::from(130))
        }
        Err(error) => Err(Problem::own(error.to_string())),
    }
}

/// The places of runners, with that of the provider that rows are compared with.
fn places_with_hub(args: &Measure, specs: &[RunnerSpec]) -> Places {
    let mut places = args.places.clone();
    let provider = args.against.as_deref().and_then(|against| against.split('/').next());
    let known = provider.filter(|provider| specs.iter().any(|spec| spec.name == *provider));
    places.runner.extend(known.map(str::to_owned));
    places
}

/// What `-i` selects, and what rows are compared with: a hub is a row too.
///
/// Of a provider of which `-i` names implementations only those take part; of another one, all.
fn patterns_with_hub(implementation: &[String], against: Option<&str>) -> Vec<String> {
    let mut patterns = implementation.to_vec();
    let Some(against) = against.filter(|_| !patterns.is_empty()) else { return patterns };
    let is_named = |pattern: &String| {
        let provider = pattern.split('/').next().unwrap_or_default();
        !against.contains('/') && plan::matches(provider, against)
    };
    if !implementation.iter().any(is_named) {
        patterns.push(if against.contains('/') { against.to_owned() } else { format!("{against}/*") });
    }
    patterns
}

/// A folder or file that is named must have something of what is selected.
fn check_named(
    specs: &[RunnerSpec],
    runners: &[RunnerOffers],
    forms: &BTreeSet<String>,
) -> Result<(), Problem> {
    for spec in specs.iter().filter(|_| !forms.is_empty()) {
        let Some((option, path)) = &spec.named else { continue };
        let Some(runner) = runners.iter().find(|runner| runner.runner == spec.name) else { continue };
        if runner.offers.iter().any(|offer| forms.contains(&offer.operation)) {
            continue;
        }
        let offer = |offer: &Offer| match offer.about.as_str() {
            "" => format!("`{}` for `{}`", offer.implementation, offer.operation),
            about => format!("`{}` for `{}`: {about}", offer.implementation, offer.operation),
        };
        let has: Vec<String> = runner.offers.iter().map(offer).collect();
        let hint = if has.is_empty() {
            "it offers nothing".to_owned()
        } else {
            format!("it has {}", has.join("; "))
        };
        let wanted = list(forms.iter().map(String::as_str));
        let why =
            format!("nothing is selected: `{option} {}` has no implementation of {wanted}", path.display());
        return Err(Problem::nothing(why, hint));
    }
    Ok(())
}

/// What is compared against must be among the rows.
fn check_against(args: &Measure, plan: &Plan) -> Result<(), Problem> {
    let Some(against) = &args.against else { return Ok(()) };
    let mut rows = plan.cases.iter().flat_map(|planned| &planned.rows);
    if rows.any(|row| plan::names(against, &row.implementation)) {
        return Ok(());
    }
    let hint =
        "`--against` names an implementation or a provider that takes part; `-i` and `--runner` bring more";
    Err(Problem::nothing(format!("there is no row of `{against}` to compare with"), hint))
}

/// Two rows of one name could not be told apart.
fn check_twins(plan: &Plan) -> Result<(), Problem> {
    for planned in &plan.cases {
        for (index, row) in planned.rows.iter().enumerate() {
            let same = |other: &&PlannedRow| other.implementation == row.implementation;
            if let Some(other) = planned.rows[..index].iter().find(same) {
                let why = format!(
                    "two runners offer `{}` for {}: `{}` and `{}`",
                    row.implementation, planned.case, other.runner, row.runner
                );
                return Err(Problem::usage(
                    why,
                    "leave one of them out, or give its implementation another name",
                ));
            }
        }
    }
    Ok(())
}

/// Says which of the two is missing: a case, or an implementation for the cases there are.
fn nothing_selected(args: &Measure, forms: &BTreeSet<String>, runners: &[RunnerOffers]) -> Problem {
    if forms.is_empty() {
        let hint = if args.select.axis.is_empty() && !args.select.select.is_empty() {
            "`roofline list cases` shows those of the suite; `--axis` gives an operation other sizes and types"
        } else {
            "`roofline list cases` shows what there is"
        };
        return Problem::nothing("nothing is selected: no case is left", hint);
    }
    let wanted = |offer: &&Offer| {
        args.implementation.iter().any(|pattern| plan::matches(pattern, &offer.implementation))
    };
    let others: BTreeSet<&str> = runners
        .iter()
        .flat_map(|runner| &runner.offers)
        .filter(wanted)
        .map(|offer| offer.operation.as_str())
        .collect();
    let hint = "`roofline list implementations` shows what there is";
    let forms = list(forms.iter().map(String::as_str));
    if others.is_empty() {
        return Problem::nothing(format!("nothing is selected: no such implementation of {forms}"), hint);
    }
    let others = list(others.into_iter());
    let why =
        format!("nothing is selected: `{}` is for {others}, not for {forms}", args.implementation.join(","));
    Problem::nothing(why, hint)
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Whether every row says no.
fn has_nothing(records: &[Record]) -> bool {
    records.iter().all(|record| matches!(record.status, Status::Unsupported | Status::Refused))
}

fn exit_code(records: &[Record], fail_on: Option<FailOn>) -> ExitCode {
    if has_failure(records) {
        return ExitCode::from(4);
    }
    fails(records, fail_on).map_or(ExitCode::SUCCESS, ExitCode::from)
}

/// The plan and the time that it will about take.
fn describe(plan: &Plan, budget: Option<Duration>) -> String {
    let mut text = String::new();
    for planned in &plan.cases {
        for row in &planned.rows {
            let note = match row.requires.admits(&planned.case) {
                _ if row.lacks.is_some() => "  (unsupported)".to_owned(),
                Err(why) => format!("  (unsupported: {why})"),
                Ok(()) => String::new(),
            };
            text.push_str(&format!("{}@{}{note}\n", planned.case, row.implementation));
        }
    }
    let row = Duration::from_millis(200) + budget.unwrap_or_default();
    let time = row * plan.rows() as u32;
    text.push_str(&format!("{} rows, about {}\n", plan.rows(), roughly(time)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_brings_what_was_not_left_out() {
        let patterns = |named: &[&str], against: &str| -> Vec<String> {
            let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
            patterns_with_hub(&named, Some(against))
        };
        assert_eq!(patterns(&[], "ggml"), [""; 0]);
        assert_eq!(patterns(&["cpu/*"], "ggml"), ["cpu/*", "ggml/*"]);
        assert_eq!(patterns(&["cpu/*", "ggml/pool"], "ggml"), ["cpu/*", "ggml/pool"]);
        assert_eq!(patterns(&["g*/pool"], "ggml"), ["g*/pool"]);
        assert_eq!(patterns(&["*"], "ggml"), ["*"]);
        assert_eq!(patterns(&["cpu/*", "ggml/pool"], "ggml/plain"), ["cpu/*", "ggml/pool", "ggml/plain"]);
        assert_eq!(patterns_with_hub(&["cpu/*".to_owned()], None), ["cpu/*"]);
    }
}
