//! `roofline baselines`: what was kept under which name, how large it is, and how to be rid of it.

use crate::args::{Baselines, BaselinesAction};
use crate::error::Problem;
use roofline_core::units::Bytes;
use roofline_run::baseline::Shelf;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// The store of a crate's benches, where cargo builds them.
const OF_BENCHES: &str = "target/roofline/roofline.db";

pub fn run(args: &Baselines) -> Result<ExitCode, Problem> {
    let shelves = [Shelf::beside(&args.store), Shelf::beside(Path::new(OF_BENCHES))];
    if let Some(BaselinesAction::Remove { name }) = &args.action {
        let has = |shelf: &&Shelf| shelf.names().contains(name);
        shelves.iter().find(has).unwrap_or(&shelves[0]).remove(name)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text: String = shelves.iter().map(list).collect();
    if text.is_empty() {
        text = "there is no baseline; `roofline run --save NAME` keeps one\n".to_owned();
    }
    super::show(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn list(shelf: &Shelf) -> String {
    let mut text = String::new();
    for name in shelf.names() {
        match shelf.read(&name) {
            Ok(baseline) => {
                let (size, saved) = (Bytes(baseline.bytes()).to_string(), &baseline.saved);
                let _ = writeln!(text, "{name:<16} {size:>9}  {saved}  machine {}", baseline.machine);
                for kept in &baseline.runners {
                    let (runner, kind, version) = (&kept.runner, kept.kind(), &kept.version);
                    let _ = writeln!(text, "{:<16} {:>9}  {runner}: {kind}, {version}", "", "");
                }
            }
            // One that cannot be read is no reason to hide the others.
            Err(why) => {
                let _ = writeln!(text, "{name:<16} {:>9}  {why}", "");
            }
        }
    }
    text
}
