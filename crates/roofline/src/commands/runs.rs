//! `roofline runs`: what the store has, run by run.

use crate::args::Runs;
use crate::error::{Problem, tell};
use roofline_core::record::Run;
use roofline_store::Store;
use std::process::ExitCode;

pub fn run(args: &Runs) -> Result<ExitCode, Problem> {
    let store = Store::open_read_only(&args.store)?;
    let (runs, counts) = (store.runs()?, store.counts()?);
    runs.damaged.iter().for_each(|damaged| tell(&format!("warning: {damaged}")));
    if runs.found.is_empty() {
        return Err(no_run());
    }
    let latest = &runs.found[runs.found.len().saturating_sub(args.last)..];
    super::print(&roofline_report::runs(latest, &counts))?;
    Ok(ExitCode::SUCCESS)
}

/// A run by its id, by the end of it that nobody shares, or `latest`.
pub fn find(store: &Store, id: &str) -> Result<Run, Problem> {
    if id == "latest" {
        return store.latest_run()?.ok_or_else(no_run);
    }
    let runs = store.runs()?.found;
    let latest: Vec<&str> = runs.iter().rev().take(3).map(|run| run.id.as_str()).collect();
    let hint = format!("the latest are {}; `roofline runs` shows more", latest.join(", "));
    let mut found = runs.iter().filter(|run| run.id == id || id.len() >= SHORTEST && run.id.ends_with(id));
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(run.clone()),
        (Some(_), Some(_)) => Err(Problem::usage(format!("several runs end in `{id}`"), hint)),
        (None, _) => Err(Problem::usage(format!("the store has no run `{id}`"), hint)),
    }
}

/// Fewer letters than this name nobody. Ids begin with the time, so that their ends tell them apart.
const SHORTEST: usize = 6;

fn no_run() -> Problem {
    Problem::nothing("the store has no run", "`roofline run` makes one, `roofline import` reads one")
}
