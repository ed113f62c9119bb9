//! `roofline history`: rows over the runs of the store.

use crate::args::History;
use crate::error::{Problem, tell};
use roofline_core::case::Case;
use roofline_core::names::is_limit;
use roofline_core::record::Record;
use roofline_store::{Filter, Store};
use std::collections::BTreeMap;
use std::process::ExitCode;

pub fn run(args: &History) -> Result<ExitCode, Problem> {
    let store = Store::open_read_only(&args.store)?;
    let mut records: Vec<Record> = Vec::new();
    for word in &args.rows {
        let (case, implementation) = match word.rsplit_once('@') {
            Some((case, implementation)) => (case, Some(implementation.to_owned())),
            None => (word.as_str(), None),
        };
        // Ids may be written with defaults, which stored ones leave out.
        let case = case.parse::<Case>().map_or_else(|_| case.to_owned(), |case| case.to_string());
        let filter = Filter { case: Some(case), implementation, ..Filter::default() };
        let reading = store.records(&filter)?;
        reading.damaged.iter().for_each(|damaged| tell(&format!("warning: {damaged}")));
        let mut found = reading.found;
        found.retain(|record| word.contains('@') || !is_limit(&record.implementation));
        let before = records.len();
        records.extend(latest_of_each(found, args.last));
        if records.len() == before {
            let hint = "`roofline runs` shows what there is; a case is written as `roofline list cases` shows it, globs allowed";
            return Err(Problem::nothing(format!("the store has no record of `{word}`"), hint));
        }
    }
    super::print(&roofline_report::history(&records, super::style()))?;
    Ok(ExitCode::SUCCESS)
}

/// The latest so many records of each row, in the order they came.
fn latest_of_each(mut records: Vec<Record>, most: usize) -> Vec<Record> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    records.reverse();
    records.retain(|record| {
        let count = counts.entry(record.row()).or_default();
        *count += 1;
        *count <= most
    });
    records.reverse();
    records
}
