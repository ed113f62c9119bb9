//! From arguments to a plan, each step once.
//!
//! ```text
//! places ─► runners ─► operations that they bring ─► cases ─► offers ─► plan ─► beside a baseline, or in turns
//! ```

use crate::args::Measure;
use crate::commands::{kept, offers};
use crate::error::{Problem, tell};
use crate::places;
use crate::select::{self, Selection};
use roofline_conductor::machine::Machine;
use roofline_conductor::plan::{Plan, PlannedCase, PlannedRow, RunnerOffers, names};
use roofline_conductor::runners::RunnerSpec;
use roofline_core::case::Case;
use roofline_core::names::matches;
use roofline_core::nearest::nearest;
use roofline_core::protocol::Offer;
use roofline_run::{Ask, Lineup, Others, Planned, forecast, roughly};
use std::collections::{BTreeMap, BTreeSet};

/// Plans what is asked for; where there are targets, what they are about. Runners are asked what they offer unless this is
/// a dry run.
pub fn plan(args: &Measure, ask: &Ask, machine: &Machine) -> Result<Planned, Problem> {
    let limits = ask.limits(machine);
    let may_ask = (!args.dry_run).then_some(limits);
    let specs = places::runners(&args.places)?;
    offers::bring(&args.places, &specs, may_ask)?;
    let Selection { mut cases, left_out, turns, is_by_id } = select::selection(&args.select, &args.how)?;
    if !ask.targets.is_empty() {
        // A suite may be large, and what is asked is whether its targets are met.
        cases.retain(|case| ask.targets.iter().any(|target| target.is_about(&case.to_string())));
    }
    if let Some(reading) = args.read.reading() {
        reading.check(&cases).map_err(|error| Problem::usage(error.to_string(), error.hint()))?;
    }
    let against = args.against.as_deref();
    let mut patterns = patterns_with_hub(&args.implementation, against);
    if !args.places.sweep.is_empty() {
        // A name stands for all values of its parameters.
        let swept = patterns.iter().filter(|name| !name.contains(':')).map(|name| format!("{name}:*"));
        patterns.extend(swept.collect::<Vec<_>>());
    }
    let hub = against.and_then(|against| against.split('/').next());
    let runners = offers::needed(&args.places, &patterns, hub, &specs, may_ask)?;
    let forms: BTreeSet<String> = cases.iter().map(Case::form).collect();
    check_named(&specs, &runners, &forms)?;
    let mut lineup = Lineup { specs, offers: runners };
    let mut plan =
        lineup.plan(cases, &patterns).against(against, &lineup.beside_own(against, &args.implementation));
    if plan.rows() == 0 {
        return Err(nothing_selected(args, &forms, &lineup.offers));
    }
    check_implementations(args, &forms, &lineup.offers)?;
    let is_named = |name: &str| {
        let is_hub = |hub: &String| names(hub, name);
        patterns.iter().any(|pattern| pattern == name) || args.against.as_ref().is_some_and(is_hub)
    };
    // Whoever names a case has it, however long it takes.
    let slow = if is_by_id { 0 } else { leave_out_slow(&mut plan, args.how.bounds.quick, is_named)? };
    check_against(args, &lineup.specs, &plan)?;
    check_twins(&plan)?;
    tell_dropped(args, &lineup, &plan);
    if let Some(name) = &args.save {
        kept::check_name(name, &lineup)?;
    }
    let is_whole = args.select.is_whole() && ask.targets.is_empty() && left_out + slow == 0;
    let (mut others, mut notices) = (Others::default(), Vec::new());
    let plans = match &args.baseline {
        Some(name) => {
            let pairs = kept::join(name, &args.places.store, machine, &mut lineup, &plan, limits)?;
            others.older = pairs.iter().map(|(old, _)| old.clone()).collect();
            let cases: Vec<Case> = plan.cases.iter().map(|planned| planned.case.clone()).collect();
            notices = lineup.apart(&cases, &pairs, &args.implementation);
            notices.iter().for_each(|notice| tell(notice));
            lineup.beside(&plan, &pairs)
        }
        None => in_turns(&plan, &turns),
    };
    match &args.baseline {
        Some(name) if plans.is_empty() => Err(kept::nothing_selected(name, &args.places.store)),
        _ => Ok(Planned { lineup, plans, others, notices, is_whole }),
    }
}

/// A plan for each turn of the suite's groups, so that every group has rows with a time before one has more of them.
fn in_turns(plan: &Plan, turns: &BTreeMap<String, usize>) -> Vec<Plan> {
    let turn = |planned: &PlannedCase| turns.get(&planned.case.to_string());
    let parts = plan.cases.chunk_by(|one, other| turn(one) == turn(other));
    parts.map(|cases| Plan { cases: cases.to_vec() }).collect()
}

/// Leaves out rows of plain kernels whose launches would take too long, and says so; answers with how many.
fn leave_out_slow(
    plan: &mut Plan,
    is_quick: bool,
    is_named: impl Fn(&str) -> bool,
) -> Result<usize, Problem> {
    let longest = if is_quick { forecast::SLOW_IF_QUICK } else { forecast::SLOW };
    let count = forecast::leave_out_slow(plan, longest, is_named);
    if count == 0 {
        return Ok(0);
    }
    let why =
        format!("{count} rows of plain kernels whose launches would take over {} each", roughly(longest));
    if plan.rows() == 0 {
        return Err(Problem::nothing(
            format!("there are only {why}"),
            "name them: `-i cpu/plain,cpu/parallel`",
        ));
    }
    tell(&format!("{why} are left out; `-i 'cpu/*,cpu/plain'` has them too"));
    Ok(count)
}

/// What `-i` selects, and what rows are compared with: a hub is a row too.
///
/// Of a provider of which `-i` names implementations only those take part; of another one, all.
fn patterns_with_hub(implementation: &[String], against: Option<&str>) -> Vec<String> {
    let mut patterns = implementation.to_vec();
    let Some(against) = against.filter(|_| !patterns.is_empty()) else { return patterns };
    let is_named = |pattern: &String| {
        let provider = pattern.split('/').next().unwrap_or_default();
        !against.contains('/') && matches(provider, against)
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

/// Says which files and folders were named and yet take no part.
fn tell_dropped(args: &Measure, lineup: &Lineup, plan: &Plan) {
    for spec in lineup.specs.iter().filter(|spec| !plan.has_rows_of(&spec.name)) {
        if let (Some((option, path)), false) = (&spec.named, args.implementation.is_empty()) {
            let (named, patterns) = (path.display(), args.implementation.join(","));
            tell(&format!(
                "`{option} {named}` takes no part: `-i {patterns}` leaves its implementations out; `-i '{}/*'` has them",
                spec.name
            ));
        }
    }
}

/// What is compared against must be among the rows.
fn check_against(args: &Measure, specs: &[RunnerSpec], plan: &Plan) -> Result<(), Problem> {
    let Some(against) = &args.against else { return Ok(()) };
    let mut rows = plan.cases.iter().flat_map(|planned| &planned.rows);
    if rows.any(|row| names(against, &row.implementation)) {
        return Ok(());
    }
    let rows = plan.cases.iter().flat_map(|planned| &planned.rows).map(|row| row.implementation.as_str());
    let names = if against.contains('/') {
        rows.collect()
    } else {
        specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>()
    };
    let hint = did_you_mean(against, names).unwrap_or_else(|| {
        "`--against` names an implementation or a provider that takes part; `-i` and `--runner` bring more"
            .to_owned()
    });
    Err(Problem::nothing(format!("there is no row of `{against}` to compare with"), hint))
}

/// What `-i` names must be there; of what is there for other operations alone it is said that it takes no part.
fn check_implementations(
    args: &Measure,
    forms: &BTreeSet<String>,
    runners: &[RunnerOffers],
) -> Result<(), Problem> {
    let offers = || runners.iter().flat_map(|runner| &runner.offers);
    for pattern in &args.implementation {
        let swept = format!("{pattern}:*");
        let is_meant =
            |offer: &Offer| matches(pattern, &offer.implementation) || matches(&swept, &offer.implementation);
        if offers().any(|offer| forms.contains(&offer.operation) && is_meant(offer)) {
            continue;
        }
        if !pattern.contains('*') && !offers().any(is_meant) {
            return Err(no_such(pattern, forms, runners));
        }
        tell(&format!("`-i {pattern}` takes no part: it has nothing for {}", few(forms)));
    }
    Ok(())
}

/// A name that nothing of what is selected has.
fn no_such(name: &str, forms: &BTreeSet<String>, runners: &[RunnerOffers]) -> Problem {
    let offers = runners.iter().flat_map(|runner| &runner.offers);
    let known = offers.filter(|offer| forms.contains(&offer.operation));
    let hint = did_you_mean(name, known.map(|offer| offer.implementation.as_str()))
        .unwrap_or_else(|| "`roofline list implementations` shows what there is".to_owned());
    let forms = few(forms);
    Problem::nothing(format!("nothing is selected by `{name}`: no such implementation of {forms}"), hint)
}

/// Operations by name, or how many they are.
fn few(forms: &BTreeSet<String>) -> String {
    if forms.len() > MOST_NAMED {
        format!("any of the {} operations", forms.len())
    } else {
        list(forms.iter().map(String::as_str))
    }
}

fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, known).filter(|near| *near != name).map(|near| format!("did you mean `{near}`?"))
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

/// More operations than these are counted, not named.
const MOST_NAMED: usize = 8;

/// Says which of the two is missing: a case, or an implementation for the cases there are.
fn nothing_selected(args: &Measure, forms: &BTreeSet<String>, runners: &[RunnerOffers]) -> Problem {
    if forms.is_empty() {
        let hint = if args.select.axis.is_empty() && args.select.words().next().is_some() {
            "`roofline list cases` shows those of the suite; `--axis` gives an operation other sizes and types"
        } else {
            "`roofline list cases` shows what there is"
        };
        return Problem::nothing("nothing is selected: no case is left", hint);
    }
    let wanted =
        |offer: &&Offer| args.implementation.iter().any(|pattern| matches(pattern, &offer.implementation));
    let others: BTreeSet<&str> = runners
        .iter()
        .flat_map(|runner| &runner.offers)
        .filter(wanted)
        .map(|offer| offer.operation.as_str())
        .collect();
    if others.is_empty() {
        return no_such(&args.implementation.join(","), forms, runners);
    }
    let hint = "`roofline list implementations` shows what there is";
    let forms = list(forms.iter().map(String::as_str));
    let few = if others.len() > MOST_NAMED {
        format!("{} operations", others.len())
    } else {
        list(others.into_iter())
    };
    let named = args.implementation.join(",");
    Problem::nothing(format!("nothing is selected: `{named}` is for {few}, not for {forms}"), hint)
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
