//! `roofline export`: records of the store in the formats of other programs.

use crate::args::Export;
use crate::error::{Problem, tell};
use roofline_core::case::Case;
use roofline_core::names::matches;
use roofline_core::record::Record;
use roofline_core::verdict;
use roofline_report::{Folder, Format, Reader, Reading, Report, Style};
use roofline_store::{Filter, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &Export) -> Result<ExitCode, Problem> {
    let write = Write::find(&args.format, args.to.as_deref())?;
    let store = Store::open_read_only(&args.store)?;
    let run = super::runs::find(&store, &args.run)?;
    let filter = Filter { run: Some(run.id.clone()), ..Filter::default() };
    let reading = store.records(&filter)?;
    for damaged in &reading.damaged {
        tell(&format!("warning: {damaged}"));
    }
    let mut records = reading.found;
    // Before a selection leaves hubs out.
    verdict::drop_failed_hubs(&mut records);
    records.retain(|record| is_selected(args, record));
    in_order(&mut records);
    if records.is_empty() {
        let why = format!("nothing is selected: no such row in the run {}", run.id);
        let hint = "leave out the selection, or name another run with `--run`";
        return Err(Problem::nothing(why, hint));
    }
    let report = Report { sort: args.sort, all: args.all, ..Report::new(Some(&run), &records) };
    if let Some(reading) = args.read.reading() {
        if matches!(reading, Reading::Best(_)) {
            let why = "`--best` goes by the order in which a runner offers, which is not stored";
            return Err(Problem::usage(why, "`roofline run --best` has it"));
        }
        let cases: Vec<Case> = records.iter().filter_map(|record| record.case.parse().ok()).collect();
        reading.check(&cases).map_err(|error| Problem::usage(error.to_string(), error.hint()))?;
        match &args.to {
            None => super::print(&reading.write(&report, super::style()))?,
            Some(file) => save(file, &reading.write(&report, Style::default()))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    match write {
        Write::Text(format, None) => super::print(&(format.write)(&report, super::style()))?,
        Write::Text(format, Some(file)) => {
            save(file, &(format.write)(&report, Style::default()))?;
            tell(&format!("written to {}", file.display()));
        }
        Write::Files(folder, to) => {
            let files = (folder.write)(&report);
            for (path, text) in &files {
                save(&to.join(path), text)?;
            }
            tell(&format!("{} files written to {}", files.len(), to.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is written where.
enum Write<'a> {
    /// To a file, or to standard output.
    Text(&'static Format, Option<&'a Path>),
    Files(&'static Folder, &'a Path),
}

impl Write<'_> {
    fn find<'a>(name: &str, to: Option<&'a Path>) -> Result<Write<'a>, Problem> {
        match (Folder::find(name), to) {
            (Some(folder), Some(to)) => Ok(Write::Files(folder, to)),
            (Some(folder), None) => {
                let why =
                    format!("`{}` is a folder of files, which standard output cannot take", folder.name);
                Err(Problem::usage(why, "name a folder with `--to`"))
            }
            (None, to) => {
                let format = Format::find(name).map_err(|error| {
                    let hint = match Reader::find(name) {
                        Ok(_) => format!("it is read alone: `roofline import FILE --format {name}`"),
                        Err(_) => error.hint(),
                    };
                    Problem::usage(error.to_string(), hint)
                })?;
                Ok(Write::Text(format, to))
            }
        }
    }
}

/// Whether a record is of a case and an implementation that were named; all are by default.
fn is_selected(args: &Export, record: &Record) -> bool {
    let form = record.case.parse::<Case>().map(|case| case.form()).unwrap_or_default();
    let named = |word: &String| *word == record.case || matches(word, &record.case) || matches(word, &form);
    let wanted = |pattern: &String| matches(pattern, &record.implementation);
    (args.select.is_empty() || args.select.iter().any(named))
        && (args.implementation.is_empty() || args.implementation.iter().any(wanted))
}

/// Brings rows in the order of their run: case by case as they were planned, probes after the rows of their case. The
/// store has them as they were finished, and records of before know no place: their cases stay in that order.
pub(super) fn in_order(records: &mut [Record]) {
    let mut cases: BTreeMap<String, (u32, usize)> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        let place = record.place.unwrap_or(u32::MAX);
        let first = cases.entry(record.case.clone()).or_insert((place, index));
        first.0 = first.0.min(place);
    }
    records.sort_by_key(|record| (cases[&record.case], record.place.unwrap_or(u32::MAX)));
}

/// Writes a file, with the folders above it.
fn save(path: &Path, text: &str) -> Result<(), Problem> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, text)).map_err(|error| {
        Problem::own(format!("{} cannot be written: {error}", path.display()))
            .with_hint("name another place with `--to`")
    })
}
