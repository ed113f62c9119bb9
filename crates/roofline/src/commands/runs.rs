//! `roofline runs`: what the store has, run by run, and how to be rid of it.

use crate::args::{Prune, Runs, RunsAction};
use crate::error::{Problem, tell};
use jiff::{SignedDuration, Timestamp};
use roofline_core::case::Device;
use roofline_core::record::Run;
use roofline_core::units::Bytes;
use roofline_store::Store;
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &Runs) -> Result<ExitCode, Problem> {
    match &args.action {
        Some(RunsAction::Remove { ids, store }) => return remove(ids, store),
        Some(RunsAction::Prune(prune)) => return self::prune(prune),
        None => {}
    }
    let store = Store::open_read_only(&args.store)?;
    let (runs, counts) = (store.runs()?, store.counts()?);
    runs.damaged.iter().for_each(|damaged| tell(&format!("warning: {damaged}")));
    if runs.found.is_empty() {
        return Err(no_run());
    }
    let latest = &runs.found[runs.found.len().saturating_sub(args.last)..];
    super::show(&roofline_report::runs(latest, &counts))?;
    Ok(ExitCode::SUCCESS)
}

fn remove(ids: &[String], path: &Path) -> Result<ExitCode, Problem> {
    let store = Store::open_read_only(path)?;
    let runs: Vec<Run> = ids.iter().map(|id| find(&store, id)).collect::<Result<_, _>>()?;
    forget(&runs, path)
}

/// Removes what neither is among the latest nor young enough.
fn prune(args: &Prune) -> Result<ExitCode, Problem> {
    let mut runs = Store::open_read_only(&args.store)?.runs()?.found;
    runs.truncate(runs.len().saturating_sub(args.keep.unwrap_or(0)));
    if let Some(age) = args.older_than {
        let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
        let since = Timestamp::now().checked_sub(age).unwrap_or(Timestamp::MIN);
        // Whose time cannot be read is not known to be old.
        runs.retain(|run| run.started.parse::<Timestamp>().is_ok_and(|started| started < since));
    }
    if runs.is_empty() {
        tell("there is no such run: nothing was removed");
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        let counts = Store::open_read_only(&args.store)?.counts()?;
        super::show(&roofline_report::runs(&runs, &counts))?;
        tell(&format!("{} would be removed", counted(runs.len(), "run")));
        return Ok(ExitCode::SUCCESS);
    }
    forget(&runs, &args.store)
}

/// Removes runs, once none is being measured that could be one of them.
fn forget(runs: &[Run], path: &Path) -> Result<ExitCode, Problem> {
    let _lock = roofline_run::lock(Device::Cpu, None, None)?;
    let size = || std::fs::metadata(path).map_or(0, |file| file.len());
    let before = size();
    let store = Store::open(path)?;
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let records = store.remove_runs(&ids)?;
    let gone = format!("{} with {} removed", counted(ids.len(), "run"), counted(records, "record"));
    // They are gone by now; only the file may be as large as it was.
    match store.compact() {
        Ok(()) => tell(&format!("{gone}, {} freed", Bytes(before.saturating_sub(size())))),
        Err(why) => tell(&format!("{gone}; the file could not be made smaller: {why}")),
    }
    Ok(ExitCode::SUCCESS)
}

/// A number of things.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A run by its id, by the end of it that nobody shares, or `latest`.
pub fn find(store: &Store, id: &str) -> Result<Run, Problem> {
    if id == "latest" {
        return store.latest_run()?.ok_or_else(no_run);
    }
    let runs = store.runs()?.found;
    let latest: Vec<&str> = runs.iter().rev().take(3).map(|run| run.id.as_str()).collect();
    let hint = format!(
        "the last {SHORTEST} letters of an id or more are enough; the latest are {}; `roofline runs` shows more",
        latest.join(", ")
    );
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
