//! `roofline explain ROW`.

use crate::args::Explain;
use crate::error::Problem;
use roofline_core::case::{Case, parse_row};
use roofline_core::names::is_limit;
use roofline_core::record::Record;
use roofline_core::verdict;
use roofline_store::{Filter, Store, literal};
use std::process::ExitCode;

pub fn run(args: &Explain) -> Result<ExitCode, Problem> {
    let (case, implementation) = match parse_row(&args.row) {
        Ok(row) => row,
        Err(error) => {
            let Some(record) = foreign(args)? else {
                return Err(Problem::usage(error.to_string(), rows(args).unwrap_or(error.hint)));
            };
            super::print(&roofline_report::explain(&record, super::style()))?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let store = Store::open_read_only(&args.store)?;
    let run = args.run.as_deref().map(|id| super::runs::find(&store, id)).transpose()?;
    let filter = Filter {
        run: run.map(|run| run.id),
        case: Some(case.to_string()),
        implementation: Some(implementation.clone()),
        latest: Some(1),
    };
    let Some(record) = store.records(&filter)?.found.pop() else {
        let (why, hint) = match &filter.run {
            Some(run) => (
                format!("the run {run} has no record of `{}`", args.row),
                "`roofline history` shows which have one".to_owned(),
            ),
            None => (
                format!("the store has no record of `{}`", args.row),
                format!("`roofline run {case} -i {implementation}` measures it"),
            ),
        };
        return Err(Problem::nothing(why, hint));
    };
    let record = beside_hub(&store, record)?;
    super::print(&roofline_report::explain(&record, super::style()))?;
    Ok(ExitCode::SUCCESS)
}

/// The rows that the store has of a case that was named alone.
fn rows(args: &Explain) -> Option<String> {
    let case = args.row.parse::<Case>().ok()?.to_string();
    let filter = Filter { case: Some(literal(&case)), ..Filter::default() };
    let rows = Store::open_read_only(&args.store).ok()?.rows(&filter).ok()?;
    let rows = rows.iter().filter(|(_, implementation)| !is_limit(implementation));
    let rows: Vec<String> = rows.map(|(case, implementation)| format!("`{case}@{implementation}`")).collect();
    (!rows.is_empty()).then(|| format!("its rows in the store are {}", rows.join(", ")))
}

/// The record, which says that its hub failed where the hub's own record does.
fn beside_hub(store: &Store, record: Record) -> Result<Record, Problem> {
    let Some(rounds) = &record.rounds else { return Ok(record) };
    let hub = Filter {
        run: Some(record.run.clone()),
        case: Some(literal(&record.case)),
        implementation: Some(literal(&rounds.hub)),
        latest: Some(1),
    };
    let mut records = store.records(&hub)?.found;
    records.push(record.clone());
    verdict::drop_failed_hubs(&mut records);
    Ok(records.pop().unwrap_or(record))
}

/// A row whose case is not one of ours, as import leaves it.
fn foreign(args: &Explain) -> Result<Option<Record>, Problem> {
    let Some((case, implementation)) = args.row.rsplit_once('@').filter(|_| args.store.exists()) else {
        return Ok(None);
    };
    let store = Store::open_read_only(&args.store)?;
    let run = args.run.as_deref().map(|id| super::runs::find(&store, id)).transpose()?;
    let filter = Filter {
        run: run.map(|run| run.id),
        case: Some(literal(case)),
        implementation: Some(literal(implementation)),
        latest: Some(1),
    };
    Ok(store.records(&filter)?.found.pop())
}
