//! `roofline check` and `roofline run`: the same way, without and with times.

use crate::args::{Command, Line, Measure, Places};
use crate::commands::take::{self, Take};
use crate::commands::{kept, offers};
use crate::error::{Problem, tell};
use crate::{places, select};
use clap::Parser;
use roofline_conductor::machine::Machine;
use roofline_conductor::plan::{self, Plan, PlannedRow, RunnerOffers};
use roofline_conductor::runners::RunnerSpec;
use roofline_core::case::Case;
use roofline_core::decision::FailOn;
use roofline_core::protocol::Offer;
use roofline_core::record::{Record, Run};
use roofline_core::target::Target;
use roofline_run::{Lineup, Past};
use roofline_store::{Filter, Store};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

pub fn check(args: &Measure) -> Result<ExitCode, Problem> {
    if args.resume { resume(args) } else { go(args, None, None) }
}

pub fn run(args: &Measure) -> Result<ExitCode, Problem> {
    if args.resume { resume(args) } else { go(args, Some(take::budget(&args.how)), None) }
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
            let budget = take::budget(&begun.how);
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
    begun.show.format.clone_from(&args.show.format);
    begun.how.total_budget = args.how.total_budget;
    begun.how.wait = args.how.wait;
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
    check_fail_on(args)?;
    let targets = targets(args)?;
    let policy = take::policy(args.fail_on)?;
    let write = if args.scaling { roofline_report::scaling } else { take::writer(&args.show)? };
    let machine = Machine::read();
    let limits = take::limits(&args.how, &machine);
    let may_ask = (!args.dry_run).then_some(limits);
    let specs = places::runners(&args.places)?;
    offers::bring(&args.places, &specs, may_ask)?;
    let cases = select::cases(&args.select)?;
    let patterns = patterns_with_hub(&args.implementation, args.against.as_deref());
    let runners = offers::needed(&places_with_hub(args, &specs), &patterns, &specs, may_ask)?;
    let forms: BTreeSet<String> = cases.iter().map(Case::form).collect();
    check_named(&specs, &runners, &forms)?;
    let mut lineup = Lineup { specs, offers: runners };
    let plan = lineup.plan(cases.clone(), &patterns).against(args.against.as_deref());
    if plan.rows() == 0 {
        return Err(nothing_selected(args, &forms, &lineup.offers));
    }
    check_against(args, &plan)?;
    check_twins(&plan)?;
    if let Some(name) = &args.save {
        kept::check_name(name, &lineup)?;
    }
    let to_keep = args.save.as_ref().filter(|_| !args.dry_run);
    let keeping =
        to_keep.map(|name| kept::keep(name, &args.places.store, &lineup.specs, &plan)).transpose()?;
    let plans = match &args.baseline {
        Some(name) => kept::beside(name, &args.places.store, &machine, &mut lineup, &plan, limits)?,
        None => vec![plan],
    };
    if args.dry_run {
        crate::commands::print(&take::describe(&plans, budget))?;
        return Ok(ExitCode::SUCCESS);
    }
    let again = |record: &Record| kept::reproduce(record, args);
    let take = Take {
        how: &args.how,
        show: &args.show,
        write,
        store: &args.places.store,
        machine: &machine,
        older: lineup.specs.iter().filter(|spec| spec.is_side()).map(|spec| spec.name.clone()).collect(),
        lineup,
        plans,
        budget,
        fail_on: args.fail_on,
        detect: None,
        policy,
        targets,
        past,
        reproduce: args.baseline.as_ref().map(|_| &again as &dyn Fn(&Record) -> String),
        go_on: "`roofline run --resume` goes on from there",
    };
    let (code, records) = take.run()?;
    // What a run has failed by is nothing to compare with from now on.
    if let (Some(name), Some(keeping), Some(records), 0 | 4) = (&args.save, keeping, records, code) {
        keeping.save(name, &machine, &records)?;
    }
    Ok(ExitCode::from(code))
}

/// What rows are to be no slower than must be said.
fn check_fail_on(args: &Measure) -> Result<(), Problem> {
    let is_beside = args.against.is_some() || args.baseline.is_some();
    match args.fail_on {
        Some(what) if what != FailOn::Missed && !is_beside => Err(Problem::usage(
            format!("`--fail-on {}` compares with nothing", what.words()),
            "name what with `--against` or `--baseline`",
        )),
        _ => Ok(()),
    }
}

/// The targets of the suite, where they were asked for.
fn targets(args: &Measure) -> Result<Vec<Target>, Problem> {
    if !args.targets && args.fail_on != Some(FailOn::Missed) {
        return Ok(Vec::new());
    }
    if args.how.quick {
        return Err(Problem::usage("a quick run decides no target", "leave out `--quick`"));
    }
    let name = args.select.suite.as_deref().unwrap_or("quick");
    let targets = places::suite(name)?.targets;
    if targets.is_empty() {
        let hint = "name a suite that has `[[targets]]`, such as `--suite llm`";
        return Err(Problem::nothing(format!("the suite `{name}` has no targets"), hint));
    }
    Ok(targets)
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
