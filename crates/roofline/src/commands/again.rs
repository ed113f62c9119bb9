//! The command that shows a row again: with the files, and with every option that decides what it finds.

use crate::args::{Ab, EvidenceArg, How, Measure, Places, SandboxArg};
use roofline_conductor::job::quoted;
use roofline_core::record::{Record, Status};
use std::path::Path;
use std::time::Duration;

/// Of a row of `roofline run`, or of `check`, which measures nothing.
pub fn measure(record: &Record, args: &Measure, is_check: bool) -> String {
    let verb = if is_check { "check" } else { "run" };
    let mut command = format!("roofline {verb} {}", quoted(&record.case));
    match &args.baseline {
        Some(name) => {
            // Of an older self the row is one of the pair.
            let (provider, bare) = record.implementation.split_once('/').unwrap_or_default();
            let is_older = provider == name || provider.starts_with(&format!("{name}-"));
            let pattern = if is_older { format!("*/{bare}") } else { record.implementation.clone() };
            command += &format!(" -i {} --baseline {}", quoted(&pattern), quoted(name));
        }
        None => command += &format!(" -i {}", quoted(&record.implementation)),
    }
    command += &places(&args.places);
    let against = args.against.as_ref().filter(|_| !is_check);
    let hub = against.map(|against| record.rounds.as_ref().map_or(against, |rounds| &rounds.hub));
    if !args.places.sweep.is_empty() {
        command += &sweep(&record.implementation, hub);
    }
    if let Some(hub) = hub.filter(|hub| **hub != record.implementation) {
        command += &format!(" --against {}", quoted(hub));
    }
    command + &options(record, &args.how, !is_check) + &store(&args.places.store) + &seed(record)
}

/// The values of a row's own parameters and of its hub's, and no others of the sweep.
fn sweep(row: &str, hub: Option<&String>) -> String {
    let mut values: Vec<(&str, Vec<&str>)> = Vec::new();
    let both = [Some(row), hub.map(String::as_str)];
    for (name, value) in
        both.iter().flatten().flat_map(|row| row.split(':').skip(1)).filter_map(|one| one.split_once('='))
    {
        match values.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) if known.contains(&value) => {}
            Some((_, known)) => known.push(value),
            None => values.push((name, vec![value])),
        }
    }
    let options = values
        .iter()
        .map(|(name, values)| format!(" --sweep {}", quoted(&format!("{name}={}", values.join(",")))));
    options.collect()
}

/// Of a row of `roofline ab`.
pub fn ab(record: &Record, args: &Ab) -> String {
    let bare = record.implementation.split_once('/').map_or("", |(_, bare)| bare);
    let (old, new, case) = (quoted(&args.old), quoted(&args.new), quoted(&record.case));
    let mut command = format!("roofline ab {old} {new} {case} -i {}", quoted(bare));
    if let Some(percent) = args.detect {
        command += &format!(" --detect {percent}");
    }
    let how =
        How { budget: if args.detect.is_some() { BUDGET } else { args.how.budget }, ..args.how.clone() };
    command + &options(record, &how, args.detect.is_none()) + &store(&args.store) + &seed(record)
}

/// What `--budget`, `--delta` and `--timeout` are where nobody says.
const BUDGET: Duration = Duration::from_secs(2);
const DELTA: f64 = 1.0;
const TIMEOUT: Duration = Duration::from_secs(30);

/// The files and folders that take part, by paths that hold in any folder.
fn places(places: &Places) -> String {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let named =
        |option: &str, path: &Path| format!(" {option} {}", quoted(&whole(path).display().to_string()));
    let libs = places.lib.iter().map(|file| named("--lib", file));
    let cudas = places.cuda.iter().map(|file| named("--cuda", file));
    let pythons = places.python.iter().map(|file| named("--python", file));
    let runners = places.runner.iter().map(|place| match Path::new(place).is_dir() {
        true => named("--runner", Path::new(place)),
        false => format!(" --runner {}", quoted(place)),
    });
    let variables =
        places.env.iter().map(|(name, value)| format!(" --env {}", quoted(&format!("{name}={value}"))));
    libs.chain(cudas).chain(pythons).chain(runners).chain(variables).collect()
}

/// The options that are not what they are by default.
fn options(record: &Record, how: &How, has_times: bool) -> String {
    let mut words = String::new();
    if has_times {
        if how.bounds.quick {
            words += " --quick";
        }
        if how.budget != BUDGET {
            words += &format!(" --budget {}ms", how.budget.as_millis());
        }
        if how.delta.to_bits() != DELTA.to_bits() {
            words += &format!(" --delta {}", how.delta);
        }
    }
    if how.bounds.require_evidence == EvidenceArg::Held {
        words += " --require-evidence held";
    }
    if how.bounds.sandbox == SandboxArg::Required {
        words += " --sandbox required";
    }
    if how.bounds.timeout != TIMEOUT || record.status == Status::Timeout {
        words += &format!(" --timeout {}ms", how.bounds.timeout.as_millis());
    }
    if let Some(bytes) = how.bounds.memory {
        words += &format!(" --memory {bytes}");
    }
    words
}

/// The store, where it is not the one of the folder: baselines lie beside it.
fn store(path: &Path) -> String {
    if path == Path::new(roofline_store::DEFAULT_PATH) {
        return String::new();
    }
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    format!(" --store {}", quoted(&whole.display().to_string()))
}

fn seed(record: &Record) -> String {
    format!(" --seed {}", record.provenance.seed)
}
