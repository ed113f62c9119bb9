//! `roofline merge`: what other stores hold, added to this one.

use super::runs::counted;
use crate::args::Merge;
use crate::error::{Problem, tell};
use roofline_store::Store;
use std::process::ExitCode;

pub fn run(args: &Merge) -> Result<ExitCode, Problem> {
    // One that cannot be opened is told before anything is taken.
    let others: Vec<Store> = args.from.iter().map(Store::open_read_only).collect::<Result<_, _>>()?;
    let store = Store::open(&args.store)?;
    for (path, other) in args.from.iter().zip(&others) {
        let (merged, damaged) = store.merge_store(other)?;
        damaged.iter().for_each(|damaged| tell(&format!("warning: {}: {damaged}", path.display())));
        let (runs, records) = (counted(merged.runs, "run"), counted(merged.records, "record"));
        let known = merged.known;
        super::show(&format!(
            "{}: {runs} and {records} added, {known} in the store already\n",
            path.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
