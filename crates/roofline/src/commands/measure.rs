//! `roofline check` and `roofline run`: the same way, without and with times.

mod parameters;
mod plan;

use crate::args::{Check, Command, Line, Measure};
use crate::commands::take::{self, Take, View};
use crate::commands::{again, kept};
use crate::error::{Problem, tell};
use crate::places;
use clap::Parser;
use roofline_conductor::device;
use roofline_conductor::machine::Machine;
use roofline_conductor::plan::Plan;
use roofline_core::case::{Case, Device};
use roofline_core::decision::FailOn;
use roofline_core::record::{Record, Run};
use roofline_core::target::Target;
use roofline_report::{Reading, Sort};
use roofline_run::{Ask, Past};
use roofline_store::{Filter, Store, StoreError};
use std::collections::BTreeMap;
use std::process::ExitCode;

pub fn check(args: &Check) -> Result<ExitCode, Problem> {
    if !matches!(args.show.sort, Sort::Case | Sort::Implementation) {
        let why = format!(
            "`--sort {}`: nothing is measured, so that there is nothing to sort by",
            args.show.sort.name()
        );
        return Err(Problem::usage(why, "`--sort implementation`, or `roofline run`"));
    }
    let args = &args.as_measure();
    if args.resume { resume(args) } else { go(args, false, None) }
}

pub fn run(args: &Measure) -> Result<ExitCode, Problem> {
    if args.resume { resume(args) } else { go(args, true, None) }
}

/// Goes on with the latest run by its own command line; only where and how to print, and how long the run
/// may take from now on, are taken anew.
fn resume(args: &Measure) -> Result<ExitCode, Problem> {
    let none = || Problem::nothing("there is no run to resume", "`roofline run` begins one");
    let store = match Store::open_read_only(&args.places.store) {
        Err(StoreError::Absent { .. }) => return Err(none()),
        store => store?,
    };
    let run = store.latest_run()?.ok_or_else(none)?;
    let filter = Filter { run: Some(run.id.clone()), ..Filter::default() };
    let records = store.records(&filter)?.found;
    let turns = store.turns(&run.id)?.found;
    let begun = Line::try_parse_from(&run.arguments).ok().map(|line| line.command);
    let (mut begun, is_timed) = match begun {
        Some(Command::Run(begun)) => (begun, true),
        Some(Command::Check(begun)) => (begun.as_measure(), false),
        _ => {
            let why = format!("the latest run, {}, cannot be resumed: its command line is not known", run.id);
            return Err(Problem::usage(why, "begin it again with `roofline run`"));
        }
    };
    // Only now: a run that was imported has no machine, and no command line to go on with either.
    check_machine(&run)?;
    check_program(&run)?;
    check_cards(&run, &records)?;
    begun.places.store.clone_from(&args.places.store);
    begun.show.clone_from(&args.show);
    if args.read.reading().is_some() || args.show.format != "table" {
        begun.read.clone_from(&args.read);
    }
    begun.how.bounds.total_budget = args.how.bounds.total_budget;
    begun.how.bounds.wait = args.how.bounds.wait;
    begun.resume = false;
    drop(store);
    tell(&format!("resuming `{}`: {} rows are finished", run.command, records.len()));
    go(&begun, is_timed, Some(Past { run, records, turns }))
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

/// Nor do those of two cards, of which a user may be given another each time.
fn check_cards(run: &Run, records: &[Record]) -> Result<(), Problem> {
    let program = places::program()?;
    let told = records.iter().filter_map(|record| {
        let note = record.provenance.notes.get("device")?;
        Some((record.case.as_str(), note.as_str()))
    });
    let Some(then) = another_card(told, |device| device::facts(&program, device).map(|facts| facts.uuid))
    else {
        return Ok(());
    };
    let why = format!("the latest run, {}, was begun on another card, {then}", run.id);
    Err(Problem::usage(
        why,
        "name that one by `CUDA_VISIBLE_DEVICES`, or begin the run again with `roofline run`",
    ))
}

/// Of cases and what was noted of their devices, the first whose device is not the one of `now`.
fn another_card<'t>(
    told: impl Iterator<Item = (&'t str, &'t str)>,
    now: impl Fn(Device) -> Option<String>,
) -> Option<&'t str> {
    let of_case = |(case, note): (&str, &'t str)| Some((case.parse::<Case>().ok()?.device, note));
    let cards: BTreeMap<Device, &str> = told.filter_map(of_case).collect();
    let is_other =
        |(device, note): &(Device, &str)| now(*device).is_none_or(|uuid| !note.contains(uuid.as_str()));
    cards.into_iter().find(is_other).map(|(_, note)| note)
}

/// From arguments to what is asked, from that to plans, from these to records and a code.
fn go(args: &Measure, is_timed: bool, past: Option<Past>) -> Result<ExitCode, Problem> {
    check_fail_on(args)?;
    let how = take::ask(&args.how);
    let ask = Ask {
        budget: how.budget.filter(|_| is_timed),
        fail_on: args.fail_on,
        policy: take::policy(args.fail_on)?,
        targets: targets(args)?,
        ..how
    };
    let view = View::of(&args.show, reading(args)?)?;
    let machine = Machine::read();
    let args = &parameters::sorted(args, (!args.dry_run).then(|| ask.limits(&machine)))?;
    let planned = plan::plan(args, &ask, &machine)?;
    check_devices(&planned.plans)?;
    if args.dry_run {
        crate::commands::show(&take::describe(&planned.plans, ask.budget))?;
        return Ok(ExitCode::SUCCESS);
    }
    let keep = |name: &String| kept::keep(name, &args.places.store, &planned);
    let keeping = args.save.as_ref().map(keep).transpose()?;
    let again = |record: &Record| again::measure(record, args, !is_timed);
    let take = Take {
        ask: &ask,
        planned: &planned,
        show: &args.show,
        view,
        store: &args.places.store,
        machine: &machine,
        past,
        reproduce: &again,
        go_on: "`roofline run --resume` goes on from there",
    };
    let (code, records) = take.run()?;
    // What a run has failed by is nothing to compare with from now on.
    if let (Some(name), Some(keeping)) = (&args.save, keeping) {
        match (code, records) {
            (0 | 4, Some(records)) => keeping.save(name, &machine, &records)?,
            (3, _) => keeping.leave(name, "the run failed by what it was to be compared with"),
            (_, Some(_)) => keeping.leave(name, "nothing was decided"),
            (_, None) => keeping.leave(name, "not every row was measured"),
        }
    }
    Ok(ExitCode::from(code))
}

/// Without any of the devices that were asked for nothing can be measured: one line says why.
fn check_devices(plans: &[Plan]) -> Result<(), Problem> {
    let mut cases = plans.iter().flat_map(|plan| &plan.cases).peekable();
    let Some(first) = cases.peek().map(|planned| planned.case.device) else { return Ok(()) };
    if cases.any(|planned| planned.has_device) {
        return Ok(());
    }
    let why = match roofline_runner::device::list() {
        Err(why) => format!("there is no device `{first}`: {why}"),
        Ok(there) => {
            let names: Vec<String> = there.into_iter().map(|(name, _)| name).collect();
            format!("there is no device `{first}` for these rows; there is {}", names.join(", "))
        }
    };
    Err(Problem::nothing(why, "`roofline list devices` shows what there is"))
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

/// The question that was asked; which implementation to take, as the suite wants that decided.
fn reading(args: &Measure) -> Result<Option<Reading>, Problem> {
    Ok(match (args.read.reading(), &args.select.suite) {
        (Some(Reading::Best(_)), Some(name)) => Some(Reading::Best(places::suite(name)?.choice)),
        (reading, _) => reading,
    })
}

/// The targets of the suite, where they were asked for.
fn targets(args: &Measure) -> Result<Vec<Target>, Problem> {
    if !args.targets && args.fail_on != Some(FailOn::Missed) {
        return Ok(Vec::new());
    }
    if args.how.bounds.quick {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_on_its_own_card() {
        let told = [
            ("add/f32/rows=1,cols=8/device=cuda:0", "a card, GPU-4f2c, CUDA 13.0"),
            ("add/f32/rows=2,cols=8/device=cuda:0", "a card, GPU-4f2c, CUDA 13.0"),
            ("add/f32/rows=1,cols=8/device=cuda:1", "a card, GPU-77aa, CUDA 13.0"),
        ];
        let now = |cards: [Option<&'static str>; 2]| {
            another_card(told.into_iter(), |device| {
                let Device::Cuda(number) = device else { return None };
                cards[number as usize].map(str::to_owned)
            })
        };
        assert_eq!(now([Some("GPU-4f2c"), Some("GPU-77aa")]), None);
        assert_eq!(now([Some("GPU-77aa"), Some("GPU-77aa")]), Some(told[0].1));
        assert_eq!(now([Some("GPU-4f2c"), None]), Some(told[2].1));
        assert_eq!(another_card(std::iter::empty(), |_| None), None, "of a run on the CPU nothing is asked");
    }
}
