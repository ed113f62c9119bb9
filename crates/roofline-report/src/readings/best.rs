//! Which implementation for which case.
//!
//! The fastest, unless a simpler one of the same provider is about as fast: whoever offers several has them with the
//! simplest first. Then which of a provider's to take for all cases, where one is.

use super::{Rivals, speed_over, table};
use crate::Style;
use crate::figures;
use crate::row::{Row, provider};
use crate::text::{escape, plural, wrap};
use roofline_core::target::Choice;
use roofline_core::verdict::{Lead, Ratio};

pub(super) fn write(cases: &[Rivals], choice: Choice, style: Style) -> String {
    const HEADS: [(&str, bool); 6] = [
        ("case", false),
        ("fastest", false),
        ("median", true),
        ("of limit", true),
        ("next", false),
        ("recommended", false),
    ];
    let mut chosen: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    for rivals in cases {
        let Some(best) = rivals.fastest() else { continue };
        let name = escape(&best.record.implementation);
        let (taken, why) = recommend(best, &simpler(rivals, best), choice);
        chosen.extend(taken.clone());
        let advice = taken.map_or_else(|| why.clone(), |taken| format!("{taken}: {why}"));
        lines.push(vec![
            rivals.case.to_string(),
            name,
            best.median_text(),
            best.of_limit_text(),
            next(rivals, best),
            escape(&advice),
        ]);
    }
    let all = lines.len();
    let text = table(&HEADS, lines, style);
    match overall(cases, &chosen, all) {
        Some(line) => format!("{text}\n{}", wrap(&escape(&line), style, "", "  ")),
        None => text,
    }
}

/// The next fastest of a case, as a share of the fastest.
fn next(rivals: &Rivals, best: &Row) -> String {
    let others = rivals.rows.iter().filter(|row| !std::ptr::eq(row.record, best.record));
    let shares = others.filter_map(|row| Some((row, speed_over(row, best)?)));
    let next = shares.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    next.map_or_else(
        || crate::text::NONE.to_owned(),
        |(row, ratio)| format!("{} {}", figures::percent(ratio.value), escape(&row.record.implementation)),
    )
}

/// Rows of the same provider that come before the fastest, and how many times as fast as each it is.
fn simpler<'r, 'a>(rivals: &'r Rivals<'a>, best: &Row) -> Vec<(&'r str, Option<Ratio>)> {
    let name = |row: &Row| row.record.implementation.clone();
    let before = rivals.rows.iter().take_while(|row| !std::ptr::eq(row.record, best.record));
    before
        .filter(|row| provider(&name(row)) == provider(&name(best)))
        .map(|row| (row.record.implementation.as_str(), speed_over(best, row)))
        .collect()
}

/// The implementation to take, where that is decided, and why.
fn recommend(best: &Row, simpler: &[(&str, Option<Ratio>)], choice: Choice) -> (Option<String>, String) {
    let own = &best.record.implementation;
    let Choice { negligible, significant } = choice;
    if let Some((name, Some(ratio))) =
        simpler.iter().find(|(_, ratio)| ratio.is_some_and(|ratio| ratio.high < negligible))
    {
        let why = format!("simpler, and {} is no reason for more", figures::speed(*ratio));
        return (Some((*name).to_owned()), why);
    }
    let nearest = simpler.iter().filter_map(|(name, ratio)| Some((*name, (*ratio)?)));
    let Some((name, ratio)) = nearest.min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value)) else {
        let why = match simpler {
            [] => "nothing simpler was measured",
            _ => "it was not measured in the same sets as what is simpler",
        };
        return (Some(own.clone()), why.to_owned());
    };
    let speed = figures::speed(ratio);
    if ratio.low > significant {
        (Some(own.clone()), format!("{speed} as fast as {name}"))
    } else if ratio.low > negligible && ratio.high < significant {
        (None, format!("{own} or {name}: {speed} is to be weighed against more code"))
    } else {
        (None, format!("undecided between {own} and {name}, at {speed}: measure longer"))
    }
}

/// Which implementation to take everywhere: the one that is recommended most often, with what it is worth over the others.
fn overall(cases: &[Rivals], chosen: &[String], all: usize) -> Option<String> {
    if all < 2 {
        return None;
    }
    let count = |name: &String| chosen.iter().filter(|other| *other == name).count();
    let first = chosen.iter().max_by_key(|name| count(name))?;
    let times = count(first);
    let is_shared = chosen.iter().any(|name| name != first && count(name) == times);
    if is_shared || 2 * times <= all {
        return Some(format!("overall: no clear winner in {}", plural(all as u64, "case")));
    }
    let find = |rivals: &Rivals, name: &str| {
        rivals.rows.iter().find(|row| row.record.implementation == name).map(|row| row.record.clone())
    };
    let leads = cases.iter().filter_map(|rivals| {
        let (own, base) = (find(rivals, first)?, rivals.rows.first()?.record);
        own.lead_over(base).filter(|lead| own.implementation != base.implementation && lead.ratio().is_some())
    });
    let leads: Vec<Lead> = leads.collect();
    let worth = Lead::mean(&leads).and_then(|mean| mean.ratio()).map_or_else(String::new, |ratio| {
        format!(
            ", {} as fast as the simplest on average over {}",
            figures::speed(ratio),
            plural(leads.len() as u64, "case")
        )
    });
    Some(format!(
        "overall: {first} in {times} of {all} cases{worth}; `--wins` has the others, `roofline explain` why a row is as it is"
    ))
}
