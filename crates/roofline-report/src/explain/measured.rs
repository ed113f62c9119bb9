//! What a row's time means, and how it was come by.

use crate::figures::{cost, fine_percent, percent, relative, signed_percent, times};
use crate::row::{Row, seconds};
use crate::spread::MEDIAN_ALPHA;
use crate::text::{count, plural};
use roofline_core::names::is_limit;
use roofline_core::record::{Ended, Rounds, Status};
use roofline_core::stats;
use roofline_core::units::Seconds;
use roofline_core::verdict::{ALPHA, FEWEST_SETS, Word};

/// A budget that is longer by so much halves an interval, were it for the number of samples alone.
const LONGER: f64 = 4.0;

/// Labels and words: limit, comparison, sets, pilot, spread; none for a row that was not measured.
pub(super) fn lines(row: &Row) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(rounds) = &row.record.rounds {
        if row.record.status == Status::Ok {
            lines.push(("limit", limit(row, rounds)));
            lines.extend(comparison(row, rounds).map(|words| ("against", words)));
            lines.extend(before(rounds).map(|words| ("before", words)));
        }
        lines.push(("sets", sets(rounds)));
        lines.push(("pilot", pilot(row, rounds)));
    }
    if row.time(0.5).is_some() {
        lines.push(("spread", spread(row)));
    }
    lines
}

fn limit(row: &Row, rounds: &Rounds) -> String {
    let Some(limit) = &rounds.limit else { return "none was measured beside the row".to_owned() };
    if let Some((share, limiter)) = row.of_limit() {
        return format!(
            "{} of what {} allows, between {} and {}; {} was measured beside it",
            fine_percent(share.value),
            limiter.name(),
            fine_percent(share.low),
            fine_percent(share.high),
            limit.probe
        );
    }
    if limit.probe == row.record.implementation {
        "this is the limit".to_owned()
    } else if rounds.to_hub.len() < FEWEST_SETS {
        format!("no share of {} {}", limit.probe, too_few(rounds))
    } else {
        format!("no share of {}: launches this short say more of the loop around them", limit.probe)
    }
}

/// The row beside its hub; `None` where the hub is the row itself, or a probe, which is the limit.
fn comparison(row: &Row, rounds: &Rounds) -> Option<String> {
    if rounds.hub == row.record.implementation || is_limit(&rounds.hub) {
        return None;
    }
    if rounds.ended == Ended::HubFailed {
        return Some(format!(
            "none: {} failed, and nothing is compared with a row that has no time",
            rounds.hub
        ));
    }
    let Some(comparison) = row.against() else {
        return Some(format!("no verdict beside {} {}", rounds.hub, too_few(rounds)));
    };
    let speed = comparison.speed;
    let word = match comparison.word {
        Word::Same => format!("the same within {}", relative(rounds.delta)),
        word => word.name().to_owned(),
    };
    Some(format!(
        "{word}: {} as fast as {}, between {} and {} with {} confidence, all looks together; a difference of {} would have \
         been seen nine times in ten",
        times(speed.value),
        rounds.hub,
        exact(speed.low),
        exact(speed.high),
        percent(1.0 - ALPHA),
        relative(comparison.smallest)
    ))
}

/// What the first sets had said, of a row that was measured again because the run would have failed by them.
fn before(rounds: &Rounds) -> Option<String> {
    let before = rounds.before.as_ref()?;
    let sets = plural(before.to_hub.len() as u64, "set");
    let interval = stats::t_interval(&before.to_hub, before.alpha);
    let found = interval.map_or_else(
        || "too little".to_owned(),
        |interval| {
            let (low, high) = (-interval.mean - interval.half, -interval.mean + interval.half);
            format!("between {} and {} as fast", exact(low.exp()), exact(high.exp()))
        },
    );
    Some(format!("{sets} had found {found}, by which the run would have failed: all were taken again"))
}

fn too_few(rounds: &Rounds) -> String {
    format!("from {}: it takes {FEWEST_SETS}", plural(rounds.to_hub.len() as u64, "set"))
}

/// A ratio with the digits that tell the ends of a narrow interval apart.
fn exact(ratio: f64) -> String {
    if (0.001..1000.0).contains(&ratio) { format!("{ratio:.4}×") } else { times(ratio) }
}

fn sets(rounds: &Rounds) -> String {
    let ended = match rounds.ended {
        Ended::Decided => "then all that was asked of the row was known",
        Ended::Looks => "the most that are taken",
        Ended::Budget => "then the row's budget was spent",
        Ended::TotalBudget => "then the run's budget was spent",
        Ended::Slow => "a launch takes too long for more: the row has a median, and no verdict",
        Ended::HubFailed => "then the hub failed, and there was nothing left to compare with",
    };
    format!("{}, each with processes started anew; {ended}", plural(rounds.to_hub.len() as u64, "set"))
}

fn pilot(row: &Row, rounds: &Rounds) -> String {
    let course = &rounds.course;
    let mut words = format!(
        "a first try chose {} turns: one (a visit) is {} and {} of {}; its turns take {} a set; reading the clock \
         takes {}",
        course.kind.name(),
        launches(course.warmup.into(), "launch to warm up", "launches to warm up"),
        plural(course.samples.into(), "sample"),
        launches(course.batch.into(), "launch", "launches"),
        seconds(course.block),
        seconds(course.timer)
    );
    if let Some(median) = row.time(0.5) {
        let share = course.timer.0 / (median.0 * f64::from(course.batch.max(1)));
        words += &format!(", {} of a sample", cost(share));
    }
    words
}

fn launches(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

fn spread(row: &Row) -> String {
    let (times, spread) = (row.times(), row.spread());
    let mut facts = Vec::new();
    if let Some(mad) = stats::mad(&times) {
        facts.push(format!("median absolute deviation {}", seconds(Seconds(mad))));
    }
    if let Some((low, high)) = stats::median_interval(&times, MEDIAN_ALPHA) {
        let (low, high) = (seconds(Seconds(low)), seconds(Seconds(high)));
        let sure = percent(1.0 - MEDIAN_ALPHA);
        facts.push(format!("median between {low} and {high} with {sure}, of this run and no other"));
    }
    facts.push(match spread.drift {
        Some(drift) => format!("drift within a set {}", signed_percent(drift)),
        None => "too few visits a set to tell a drift".to_owned(),
    });
    if spread.is_bimodal {
        facts.push("bimodal: visits fall in two heaps".to_owned());
    }
    facts.push(match spread.outliers {
        0 => "no outliers".to_owned(),
        outliers => {
            format!("{} of {}, kept", plural(outliers as u64, "outlier"), count(spread.samples as u64))
        }
    });
    facts.join("; ")
}

/// The command that would settle what the sets left open: the same with a longer budget.
pub(super) fn settle(row: &Row) -> Option<String> {
    let rounds = row.record.rounds.as_ref()?;
    row.against().filter(|comparison| comparison.word == Word::Inconclusive)?;
    let spent = rounds.course.block.0 * rounds.to_hub.len() as f64;
    let budget = (LONGER * spent).ceil().clamp(1.0, 86_400.0);
    let mut words: Vec<String> = row.record.reproduce.split(' ').map(str::to_owned).collect();
    if words[0] == "cargo" {
        // A bench has options of its own, and what it compares with is among them.
        let (time, share) = ("--measurement-time", "--noise-threshold");
        return Some(format!("{} {time} {budget} {share} {}", words.join(" "), rounds.delta));
    }
    // Quick blocks are short whatever the budget, and a budget stands in the place of the sets that `--detect` would take.
    words.retain(|word| word != "--quick");
    for option in ["--budget", "--detect"] {
        if let Some(at) = words.iter().position(|word| word == option) {
            words.drain(at..words.len().min(at + 2));
        }
    }
    let has = |words: &[String], option: &str| words.iter().any(|word| word == option);
    // Two sides of a change have their hub by being two sides.
    let is_pair = has(&words, "ab") || has(&words, "--baseline");
    let is_named = is_pair || has(&words, "--against");
    if !is_named {
        // The hub must be among the rows.
        if let Some(at) = words.iter().position(|word| word == "-i").filter(|at| at + 1 < words.len()) {
            words[at + 1] += &format!(",{}", rounds.hub);
        }
        words.push(format!("--against {}", rounds.hub));
    }
    if !has(&words, "--delta") {
        words.push(format!("--delta {}", (1e6 * rounds.delta).round() / 1e4));
    }
    Some(format!("{} --budget {budget}s", words.join(" ")))
}
