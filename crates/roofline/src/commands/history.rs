//! `roofline history`: rows over the runs of the store.

use crate::args::History;
use crate::error::{Problem, tell};
use roofline_core::case::Case;
use roofline_core::names::is_limit;
use roofline_core::record::Record;
use roofline_store::{Filter, Store};
use std::process::ExitCode;

pub fn run(args: &History) -> Result<ExitCode, Problem> {
    let store = Store::open_read_only(&args.store)?;
    let mut records: Vec<Record> = Vec::new();
    for word in &args.rows {
        let (case, implementation) = match word.rsplit_once('@') {
            Some((case, implementation)) => (case, Some(all_of(implementation))),
            None => (word.as_str(), None),
        };
        // Ids may be written with defaults, which stored ones leave out.
        let id = case.parse::<Case>().map_or_else(|_| case.to_owned(), |case| case.to_string());
        let find = |case| {
            store.rows(&Filter {
                case: Some(case),
                implementation: implementation.clone(),
                ..Filter::default()
            })
        };
        let mut rows = find(id)?;
        // Names that were imported have no slash either, and come first.
        if rows.is_empty() {
            rows = find(all_of(case))?;
        }
        rows.retain(|(_, implementation)| word.contains('@') || !is_limit(implementation));
        let before = records.len();
        for (case, implementation) in rows {
            let reading = store.past(&case, &implementation, args.last)?;
            reading.damaged.iter().for_each(|damaged| tell(&format!("warning: {damaged}")));
            records.extend(reading.found);
        }
        if records.len() == before {
            let hint = "`roofline runs` shows what there is; name an operation, a case as `roofline list cases` shows it, or globs of them";
            return Err(Problem::nothing(format!("the store has no record of `{word}`"), hint));
        }
    }
    let revision = |run: &str| store.run(run).ok().flatten().map_or(String::new(), |run| run.revision);
    super::print(&roofline_report::history(&records, revision, super::style()))?;
    Ok(ExitCode::SUCCESS)
}

/// An operation alone is all its cases, a provider alone all that it has.
fn all_of(name: &str) -> String {
    if name.contains(['/', '*']) { name.to_owned() } else { format!("{name}/*") }
}
