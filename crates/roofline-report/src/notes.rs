//! What to know of a time before believing it. Tables have a letter in the row and its meaning below; where there is
//! room, words with their numbers. Everything else about a row is in `roofline explain`.

use crate::figures;
use crate::row::{Row, is_sane};
use crate::text::{count, escape};
use roofline_core::check::{Checked, Standing};
use roofline_core::protocol::OutputMode;
use roofline_core::record::{Ended, Kind};
use roofline_core::verdict::FEWEST_SETS;

/// Steal and the cost of the clock are noted from this share on.
const NOTABLE: f64 = 0.01;
/// What other programs used of the machine is noted from this share on.
pub(crate) const BUSY: f64 = 0.1;
/// An interval is wide from this half width on.
const WIDE: f64 = 0.05;

/// The letter of checks that saw less than usual.
const WEAKER: char = 'w';

/// One remark about a row.
pub(crate) struct Note {
    /// The letter in the row.
    pub(crate) mark: char,
    /// What the letter means, whatever the row.
    pub(crate) meaning: &'static str,
    /// The same of this row.
    pub(crate) words: String,
}

/// What is there to remark on a row; a row without a time has nothing, but that another tool measured it.
pub(crate) fn notes(row: &Row) -> Vec<Note> {
    let record = row.record;
    let mut notes = Vec::new();
    let mut say = |mark, meaning, words: String| notes.push(Note { mark, meaning, words });
    if let Some(from) = &record.provenance.imported {
        let words = format!("imported from {}", escape(&from.format));
        say('i', "imported: another tool measured it, and nothing was judged here", words);
    }
    let Some(median) = row.time(0.5) else { return notes };
    let evidence = &record.evidence;
    if let Some(condition) = record.provenance.notes.get("requires").filter(|_| !record.is_imported()) {
        say('r', "right only under a condition that it declares", format!("requires {}", escape(condition)));
    }
    if let Some(rounds) = &record.rounds {
        let sets = rounds.to_hub.len();
        match rounds.ended {
            Ended::Slow => {
                let launches: u64 = record.samples.iter().map(|sample| u64::from(sample.batch.max(1))).sum();
                let noun = if launches == 1 { "launch" } else { "launches" };
                let words = format!("slow: {} {noun}", count(launches));
                say('s', "so slow that there are only a few launches: a median, and no verdict", words);
            }
            Ended::HubFailed => {
                say('h', "what it was compared with failed", "hub failed".to_owned());
            }
            _ if sets < FEWEST_SETS => {
                say(
                    'n',
                    "no verdict: the time ended before there were enough sets",
                    format!("{sets} sets, too few"),
                );
            }
            _ => {}
        }
        if rounds.before.is_some() {
            say('a', "measured again, because the run would have failed by it", "taken again".to_owned());
        }
        let timer = rounds.course.timer.0 / (median.0 * f64::from(rounds.course.batch.max(1)));
        if timer > NOTABLE {
            say(
                't',
                "reading the clock takes a notable part of its time",
                format!("timer {}", figures::percent(timer)),
            );
        }
        if rounds.course.kind == Kind::Cold {
            say('c', "caches were emptied before each launch", "cold".to_owned());
        }
    }
    if record.of_limit().is_some_and(|(share, _)| is_sane(&share) && share.low > 1.0) {
        say('l', "faster than the limit that was measured beside it", "above its limit".to_owned());
    }
    if let Some(drift) = row.spread().drift.filter(|drift| drift.abs() > 0.1) {
        say(
            'd',
            "its times drift by over 10 % while it runs",
            format!("drift {}", figures::signed_percent(drift)),
        );
    }
    if row.spread().is_bimodal {
        say('b', "its times fall in two heaps", "bimodal".to_owned());
    }
    let steal = evidence.steal.filter(|steal| *steal > NOTABLE).map(|steal| ("steal", steal));
    let others = evidence.others.filter(|others| *others > BUSY).map(|others| ("others", others));
    if let Some((who, share)) = others.or(steal) {
        say(
            'm',
            "the machine was busy with other things meanwhile",
            format!("{who} {}", figures::percent(share)),
        );
    }
    if evidence.output == OutputMode::Fresh {
        let copy = evidence.copy.map(|copy| format!(" copied in {copy}")).unwrap_or_default();
        say('o', "its output is memory of its own, copied off the clock", format!("fresh output{copy}"));
    }
    let weaker: Vec<&str> = weaker(row).collect();
    if !weaker.is_empty() {
        say(WEAKER, "a check could see less than usual", format!("weaker: {}", weaker.join(" ")));
    }
    notes
}

/// The letters that rows have with what they mean, each once, by letter; of checks it says which.
pub(crate) fn legend(rows: &[Row]) -> Vec<(char, String)> {
    let mut used: Vec<(char, &str)> =
        rows.iter().flat_map(notes).map(|note| (note.mark, note.meaning)).collect();
    used.sort_unstable();
    used.dedup();
    let mut checks: Vec<&str> = rows.iter().flat_map(weaker).collect();
    checks.sort_unstable();
    checks.dedup();
    let meaning = |(mark, meaning): (char, &str)| match mark {
        WEAKER => (mark, format!("{meaning}: {}", checks.join(", "))),
        _ => (mark, meaning.to_owned()),
    };
    used.into_iter().map(meaning).collect()
}

/// The checks that saw less of a row than usual.
fn weaker<'a>(row: &Row<'a>) -> impl Iterator<Item = &'static str> + use<'a> {
    let is_weaker = |checked: &&Checked| checked.standing == Standing::Weaker;
    row.record.evidence.checks.iter().filter(is_weaker).map(|checked| checked.check.name())
}

/// That others kept the machine busy, where that is why intervals are wide.
pub(crate) fn load(rows: &[Row]) -> Option<String> {
    let is_wide = |row: &&Row| {
        let share = row.of_limit().map(|(share, _)| share.half_width());
        let speed = row.against().map(|comparison| comparison.speed.half_width());
        share.into_iter().chain(speed).any(|half| half > WIDE)
    };
    let taken = |row: &Row| {
        let evidence = &row.record.evidence;
        evidence.others.unwrap_or(0.0).max(0.0) + evidence.steal.unwrap_or(0.0).max(0.0)
    };
    let most = rows.iter().filter(is_wide).map(taken).fold(0.0, f64::max);
    (most > BUSY).then(|| {
        format!(
            "other programs took up to {} of the machine while this was measured, and so intervals are wide: ask \
             again when it is idle, or with a longer `--budget`",
            figures::percent(most.min(1.0))
        )
    })
}
