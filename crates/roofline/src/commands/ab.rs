//! `roofline ab OLD NEW`: two sides of a change in the same rounds.
//!
//! ```text
//! OLD, NEW ─► sides: files, a baseline, or a revision that is built ─► runners called `old` and `new` ─► pairs ─► rounds
//!                                                        └► benches, which have their own way and are asked to take it
//! ```

mod benches;
mod build;
mod sides;

use self::build::Builder;
use self::sides::{Both, Given, Pair};
use crate::args::Ab;
use crate::commands::again;
use crate::commands::kept::Side;
use crate::commands::take::{self, Take, View};
use crate::error::{Problem, tell};
use crate::places;
use crate::select::{self, Selection};
use roofline_conductor::machine::Machine;
use roofline_conductor::offers::ask;
use roofline_conductor::plan::{Plan, RunnerOffers};
use roofline_conductor::references;
use roofline_conductor::runners::RunnerSpec;
use roofline_conductor::session::Limits;
use roofline_core::operation::own::Declaration;
use roofline_core::protocol::Hello;
use roofline_core::record::Record;
use roofline_run::{Ask, Lineup, Others, Planned};
use roofline_runner::Runner;
use roofline_runner::cpu::CpuRunner;
use roofline_runner::cuda;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// What the two sides are called in a run, before the slash of their rows.
const OLD: &str = "old";
const NEW: &str = "new";

pub fn run(args: &Ab) -> Result<ExitCode, Problem> {
    let view = View::of(&args.show, None)?;
    let ask = Ask {
        detect: args.detect.map(|percent| percent / 100.0),
        fail_on: Some(args.fail_on),
        policy: take::policy(Some(args.fail_on))?,
        ..take::ask(&args.how)
    };
    let machine = Machine::read();
    let given = [Given::of(&args.old, args)?, Given::of(&args.new, args)?];
    // As long as the builder is there, nobody else builds where what is measured lies.
    let builder = Builder::new(&given, args)?;
    let [old, new] = match sides::make(&given, &builder, args, &machine)? {
        Both::Runners(sides) => sides,
        Both::Benches(sides) => return benches::run(sides, args, &ask, &view, &machine),
    };
    let planned = plan(old, new, args, ask.limits(&machine))?;
    if args.dry_run {
        crate::commands::show(&take::describe(&planned.plans, ask.budget))?;
        return Ok(ExitCode::SUCCESS);
    }
    let again = |record: &Record| again::ab(record, args);
    let take = Take {
        ask: &ask,
        planned: &planned,
        show: &args.show,
        view,
        store: &args.store,
        machine: &machine,
        past: None,
        reproduce: &again,
        go_on: "the same command begins anew",
    };
    take.run().map(|(code, _)| ExitCode::from(code))
}

/// Every implementation of the new side beside the one of its name of the old side.
fn plan(old: Vec<Side>, new: Vec<Side>, args: &Ab, limits: Limits) -> Result<Planned, Problem> {
    let (sides, mut notices) = sides::pair(old, new)?;
    let (lineup, pairs) = line_up(sides, limits)?;
    let Selection { cases, left_out, .. } = select::selection(&args.select, &args.how)?;
    let plans: Vec<Plan> =
        pairs.iter().flat_map(|(old, new)| lineup.pairs(&cases, old, new, &args.implementation)).collect();
    if plans.is_empty() {
        return Err(nothing_selected(&lineup, &pairs));
    }
    notices.extend(lineup.apart(&cases, &pairs, &args.implementation));
    notices.iter().for_each(|notice| tell(notice));
    if !plans.iter().flat_map(|plan| &plan.cases).any(|planned| planned.rows.len() > 1) {
        let hint = "what is compared has one name on both sides; `roofline run` measures one alone";
        return Err(Problem::nothing("there is nothing to compare: the old side has none of it", hint));
    }
    let others = Others { older: pairs.into_iter().map(|(old, _)| old).collect() };
    Ok(Planned { lineup, plans, others, notices, is_whole: args.select.is_whole() && left_out == 0 })
}

/// Everybody who takes part, and the names of the two that belong together.
fn line_up(sides: Vec<Pair>, limits: Limits) -> Result<(Lineup, Vec<(String, String)>), Problem> {
    let program = places::program()?;
    let mut lineup = Lineup {
        // The house has the probes of every limit.
        specs: vec![RunnerSpec::built_in(&program), RunnerSpec::built_in_cuda(&program)],
        offers: vec![RunnerOffers::new("cpu", CpuRunner.hello()), RunnerOffers::new("cuda", cuda::known())],
    };
    let mut declared: Vec<(String, Hello)> = Vec::new();
    let mut pairs = Vec::new();
    for Pair { old, new } in sides {
        pairs.push((old.0.clone(), new.0.clone()));
        // The new side first: what it declares is what both are judged by.
        for (name, side) in [new, old] {
            let spec = side.spec.clone().as_side(&name);
            let mut hello = ask(&program, &spec, limits)
                .map_err(|why| Problem::nothing(format!("side `{name}`: {why}"), spec.hint.clone()))?;
            side.check_version(&hello).map_err(|why| {
                Problem::usage(format!("side `{name}`: {why}"), "keep it again by `roofline run --save`")
            })?;
            let hint = "what is compared must mean the same on both sides";
            lineup.add(spec, hello.clone()).map_err(|why| Problem::usage(why, hint))?;
            let is_known =
                |own: &Declaration| declared.iter().any(|(_, there)| there.operations.contains(own));
            hello.operations.retain(|own| !is_known(own));
            declared.push((name, hello));
        }
    }
    references::bring(declared.iter().map(|(runner, hello)| (runner.as_str(), hello)))
        .map_err(|why| Problem::usage(why, "mend it where it is declared"))?;
    Ok((lineup, pairs))
}

fn nothing_selected(lineup: &Lineup, pairs: &[(String, String)]) -> Problem {
    let sides: BTreeSet<&str> = pairs.iter().map(|(_, new)| new.as_str()).collect();
    let own = lineup.offers.iter().filter(|offers| sides.contains(offers.runner.as_str()));
    let forms: BTreeSet<&str> =
        own.flat_map(|offers| &offers.offers).map(|offer| offer.operation.as_str()).collect();
    let has: Vec<String> = forms.iter().map(|form| format!("`{form}`")).collect();
    let hint = format!(
        "`new` has {}; SELECT names cases of these, such as `{}/f32/…`, or use `--axis`",
        has.join(", "),
        forms.first().unwrap_or(&"softmax")
    );
    Problem::nothing("nothing is selected: no case that `new` has an implementation of", hint)
}
