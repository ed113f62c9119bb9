//! `roofline runners`: present or what to do, version, operations covered.

use crate::args::{Runners, RunnersAction};
use crate::commands::install;
use crate::commands::offers::{HELLO, learn};
use crate::error::Problem;
use crate::places;
use roofline_conductor::offers::OfferCache;
use roofline_conductor::plan::is_limit;
use roofline_conductor::runners::RunnerSpec;
use roofline_core::protocol::{Hello, Offer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::ExitCode;

pub fn run(args: &Runners) -> Result<ExitCode, Problem> {
    if let Some(RunnersAction::Install(install)) = &args.action {
        return install::run(install);
    }
    let specs = places::runners(&args.places)?;
    let file = places::offers_file(&args.places);
    let mut cache = OfferCache::read(&file);
    let learned = specs.iter().map(|spec| (spec, learn(spec, &mut cache, &file, HELLO)));
    if args.json {
        let all: Vec<Value> = learned.map(|(spec, learned)| to_json(spec, learned)).collect();
        super::print(&format!("{:#}\n", Value::from(all)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for (spec, learned) in learned {
        match learned {
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
    super::show(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// All that is known of a runner; `why` and `hint` where it is absent.
fn to_json(spec: &RunnerSpec, learned: Result<Hello, String>) -> Value {
    match learned {
        Ok(hello) => json!({
            "name": spec.name,
            "about": spec.about,
            "version": hello.version,
            "devices": hello.devices,
            "offers": hello.offers,
            "notes": hello.notes,
        }),
        Err(why) => json!({ "name": spec.name, "about": spec.about, "why": why, "hint": spec.hint }),
    }
}

/// One line an operation: its implementations. Probes have every operation, and are none.
fn covered(hello: &Hello) -> Vec<String> {
    let offers: Vec<&Offer> = hello.offers.iter().filter(|offer| !is_limit(&offer.implementation)).collect();
    let operations: BTreeSet<&str> = offers.iter().map(|offer| offer.operation.as_str()).collect();
    let line = |operation: &&str| {
        let offers = offers.iter().filter(|offer| offer.operation == **operation);
        let mut names: Vec<&str> = offers.map(|offer| offer.implementation.as_str()).collect();
        // One that has other types on another device is two offers.
        names.dedup();
        format!("{operation}: {}", names.join(", "))
    };
    operations.iter().map(line).collect()
}
