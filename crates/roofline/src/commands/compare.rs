//! `roofline compare`: two stored runs, or files, beside each other.

use super::import;
use crate::args::Compare;
use crate::error::{Problem, tell};
use roofline_core::record::Record;
use roofline_report::Stored;
use roofline_store::{Filter, Store};
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &Compare) -> Result<ExitCode, Problem> {
    let (then, now) = (read(&args.old, &args.store)?, read(&args.new, &args.store)?);
    let old = Stored { revision: &then.0, records: &then.1 };
    let new = Stored { revision: &now.0, records: &now.1 };
    let Some(text) = roofline_report::compare(old, new, super::style()) else {
        let why = format!("`{}` and `{}` have no row in common", args.old, args.new);
        return Err(Problem::nothing(why, "`roofline runs` shows what each run measured"));
    };
    super::show(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The records of a file, or else of a run, and the commit that they were measured at.
fn read(word: &str, store: &Path) -> Result<(String, Vec<Record>), Problem> {
    if Path::new(word).exists() {
        let (_, content) = import::read(Path::new(word), None)?;
        let revision = content.runs.first().map_or(String::new(), |run| run.revision.clone());
        return Ok((revision, content.records));
    }
    // Ids of runs are letters, digits and `-`.
    if word.contains(['/', '.']) {
        let why = format!("there is no file `{}`", word.escape_debug());
        return Err(Problem::usage(
            why,
            "name a file that `import` reads, or a run; `roofline runs` shows them",
        ));
    }
    let store = Store::open_read_only(store)?;
    let run = super::runs::find(&store, word)?;
    let mut reading = store.records(&Filter { run: Some(run.id), ..Filter::default() })?;
    super::export::in_order(&mut reading.found);
    reading.damaged.iter().for_each(|damaged| tell(&format!("warning: {damaged}")));
    Ok((run.revision, reading.found))
}
