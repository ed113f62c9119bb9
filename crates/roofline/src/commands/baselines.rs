//! `roofline baselines`: what was kept under which name, how large it is, and how to be rid of it.

use crate::args::{Baselines, BaselinesAction};
use crate::error::Problem;
use roofline_core::units::Bytes;
use roofline_run::baseline::Shelf;
use std::fmt::Write;
use std::process::ExitCode;

pub fn run(args: &Baselines) -> Result<ExitCode, Problem> {
    let shelf = Shelf::beside(&args.store);
    if let Some(BaselinesAction::Remove { name }) = &args.action {
        shelf.remove(name)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for name in shelf.names() {
        match shelf.read(&name) {
            Ok(baseline) => {
                let saved = &baseline.saved;
                let _ = writeln!(
                    text,
                    "{name:<16} {:>9}  {saved}  machine {}",
                    Bytes(baseline.bytes()).to_string(),
                    baseline.machine
                );
                for kept in &baseline.runners {
                    let _ = writeln!(
                        text,
                        "{:<16} {:>9}  {}: {}, {}",
                        "",
                        "",
                        kept.runner,
                        kept.kind(),
                        kept.version
                    );
                }
            }
            // One that cannot be read is no reason to hide the others.
            Err(why) => {
                let _ = writeln!(text, "{name:<16} {:>9}  {why}", "");
            }
        }
    }
    if text.is_empty() {
        text = "there is no baseline; `roofline run --save NAME` keeps one\n".to_owned();
    }
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
