//! `roofline runners`: present or what to do, version, operations covered.

use crate::args::{Runners, RunnersAction};
use crate::commands::install;
use crate::commands::offers::{HELLO, learn};
use crate::error::Problem;
use crate::places;
use roofline_conductor::offers::OfferCache;
use roofline_core::protocol::Hello;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::ExitCode;

pub fn run(args: &Runners) -> Result<ExitCode, Problem> {
    if let Some(RunnersAction::Install(install)) = &args.action {
        return install::run(install, &args.places);
    }
    let specs = places::runners(&args.places)?;
    let mut cache = OfferCache::read(&places::offers_file(&args.places));
    let mut text = String::new();
    for spec in &specs {
        match learn(spec, &mut cache, &places::offers_file(&args.places), HELLO) {
            Ok(hello) => {
                let _ = writeln!(text, "{:<12} present   {}", spec.name, hello.version);
                let _ = writeln!(text, "{:<12}           {}", "", spec.about);
                for line in covered(&hello) {
                    let _ = writeln!(text, "{:<12}           {line}", "");
                }
            }
            Err(why) => {
                let _ = writeln!(text, "{:<12} absent    {why}", spec.name);
                let _ = writeln!(text, "{:<12}           hint: {}", "", spec.hint);
            }
        }
    }
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// One line an operation: its implementations.
fn covered(hello: &Hello) -> Vec<String> {
    let operations: BTreeSet<&str> = hello.offers.iter().map(|offer| offer.operation.as_str()).collect();
    let line = |operation: &&str| {
        let offers = hello.offers.iter().filter(|offer| offer.operation == **operation);
        let names: Vec<&str> = offers.map(|offer| offer.implementation.as_str()).collect();
        format!("{operation}: {}", names.join(", "))
    };
    operations.iter().map(line).collect()
}
