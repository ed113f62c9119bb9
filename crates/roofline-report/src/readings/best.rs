//! Which implementation for which case.
//!
//! The fastest, unless a simpler one of the same provider is about as fast: whoever offers several has them with the
//! simplest first.

use super::{Rivals, speed_over, table};
use crate::Style;
use crate::figures;
use crate::row::{Row, provider};
use crate::text::escape;
use roofline_core::verdict::Ratio;

/// Less than this is no reason for more code; more than that is one. In between somebody has to weigh it.
const NEGLIGIBLE: f64 = 1.05;
const SIGNIFICANT: f64 = 1.10;

pub(super) fn write(cases: &[Rivals], style: Style) -> String {
    const HEADS: [(&str, bool); 5] =
        [("case", false), ("fastest", false), ("median", true), ("of limit", true), ("recommended", false)];
    let line = |rivals: &Rivals| {
        let best = rivals.fastest()?;
        let name = escape(&best.record.implementation);
        let advice = escape(&recommend(best, &simpler(rivals, best)));
        Some(vec![rivals.case.to_string(), name, best.median_text(), best.of_limit_text(), advice])
    };
    table(&HEADS, cases.iter().filter_map(line).collect(), style)
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

/// The implementation to take, and why.
fn recommend(best: &Row, simpler: &[(&str, Option<Ratio>)]) -> String {
    let own = &best.record.implementation;
    if let Some((name, Some(ratio))) =
        simpler.iter().find(|(_, ratio)| ratio.is_some_and(|ratio| ratio.high < NEGLIGIBLE))
    {
        return format!("{name}: simpler, and {} is no reason for more", figures::speed(*ratio));
    }
    let nearest = simpler.iter().filter_map(|(name, ratio)| Some((*name, (*ratio)?)));
    let Some((name, ratio)) = nearest.min_by(|(_, one), (_, other)| one.value.total_cmp(&other.value)) else {
        return match simpler {
            [] => format!("{own}: nothing simpler was measured"),
            _ => format!("{own}: it was not measured in the same sets as what is simpler"),
        };
    };
    let speed = figures::speed(ratio);
    if ratio.low > SIGNIFICANT {
        format!("{own}: {speed} as fast as {name}")
    } else if ratio.low > NEGLIGIBLE && ratio.high < SIGNIFICANT {
        format!("{own} or {name}: {speed} is to be weighed against more code")
    } else {
        format!("undecided between {own} and {name}, at {speed}: measure longer")
    }
}
