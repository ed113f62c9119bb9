//! Which rows a run failed on, though each of them is right.

use crate::Report;
use crate::row::{Row, provider};
use roofline_core::decision::{FailOn, flagged, withdrawn};
use roofline_core::record::Record;
use roofline_core::verdict::Word;

/// Options of a bench by which a slower row is a regression.
const BASELINE: [&str; 2] = ["--baseline", "--baseline-lenient"];

/// The rows that a run failed on, because it held them against what they were, or was asked to by `--fail-on`. The
/// record of a run has no other word for it than its command line. With `--against` alone a slower row is an answer, no
/// regression.
pub(crate) fn regressions<'a>(report: &Report<'a>) -> Vec<&'a Record> {
    let Some(run) = report.run else { return Vec::new() };
    let words = &run.arguments;
    let given = |(index, word): (usize, &String)| match word.split_once('=') {
        Some(("--fail-on", value)) => Some(value.to_owned()),
        _ => words.get(index + 1).filter(|_| word == "--fail-on").cloned(),
    };
    let fail_on = words.iter().enumerate().find_map(given).and_then(|value| value.parse().ok());
    let has_baseline = |word: &String| {
        let option = word.split_once('=').map_or(word.as_str(), |(option, _)| option);
        BASELINE.contains(&option) || word.starts_with("-b")
    };
    // Rows of the house are peers in a bench: nobody merges a change of theirs there.
    let command = words.get(1).map_or("", String::as_str);
    let is_bench = !["run", "ab"].contains(&command);
    let own = report.records.iter().filter(|record| !is_bench || provider(&record.implementation) != "cpu");
    let is_slower = |record: &&Record| {
        Row::new(record).against().is_some_and(|comparison| comparison.word == Word::Slower)
    };
    let has_baseline = words.iter().any(has_baseline);
    // What was, and is no more, is found where rows are held against what they were.
    let fails = |what: FailOn| {
        let own: Vec<&Record> = own.clone().collect();
        let is_beside_itself =
            (command == "ab" || has_baseline) && !matches!(what, FailOn::Policy | FailOn::Missed);
        let withdrawn = if is_beside_itself { withdrawn(&own, report.records) } else { Vec::new() };
        flagged(own, what).into_iter().chain(withdrawn).collect()
    };
    match fail_on {
        Some(what) => fails(what),
        None if command == "ab" => fails(FailOn::Slower(0.0)),
        None if is_bench && has_baseline => own.filter(is_slower).collect(),
        None => Vec::new(),
    }
}
