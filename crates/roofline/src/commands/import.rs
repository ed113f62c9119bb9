//! `roofline import`: a file of another tool as a run of the store.

use crate::args::Import;
use crate::error::Problem;
use roofline_core::record::{Run, SCHEMA};
use roofline_report::{FORMATS, File, ReadError, Reader, Report, Sort, Source};
use roofline_run::{new_id, now};
use roofline_store::Store;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

/// More than this is no file of measurements.
const MOST_BYTES: u64 = 512 << 20;
const MOST_FILES: usize = 100_000;
const DEEPEST: usize = 16;

pub fn run(args: &Import) -> Result<ExitCode, Problem> {
    let named = args.format.as_deref().map(Reader::find).transpose();
    let named = named.map_err(|error| Problem::usage(error.to_string(), error.hint))?;
    let name = args.path.display().to_string();
    let source = load(&args.path).map_err(|error| {
        let hint = "name a file, or a folder that Criterion made";
        Problem::usage(format!("{name} cannot be read: {error}"), hint)
    })?;
    let refused = |error: ReadError| Problem::usage(format!("{name}: {error}"), error.hint);
    let reader = named.map_or_else(|| Reader::guess(&source), Ok).map_err(refused)?;
    let mut records = (reader.read)(&source)
        .map_err(|error| Problem::usage(format!("{name}: as {}: {error}", reader.name), error.hint))?;
    if records.is_empty() {
        let hint = "nothing was stored";
        return Err(Problem::nothing(format!("{name}: as {}: it has no benchmark", reader.name), hint));
    }
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let run = Run {
        schema: SCHEMA,
        id: new_id(),
        started: now(),
        command: arguments.join(" "),
        arguments,
        machine: serde_json::Value::Null,
    };
    let store = Store::open(&args.store)?;
    store.append_run(&run)?;
    for record in &mut records {
        (record.id, record.run, record.at) = (new_id(), run.id.clone(), now());
        store.append(record)?;
    }
    let report = Report { run: Some(&run), records: &records, sort: Sort::default() };
    super::print(&(FORMATS[0].write)(&report, super::style()))?;
    Ok(ExitCode::SUCCESS)
}

/// A file with the folder `FILE-bin` beside it, in which nvbench leaves samples; or a folder's JSON files.
fn load(path: &Path) -> io::Result<Source> {
    let name = path.display().to_string();
    let mut files = Vec::new();
    let is_folder = fs::metadata(path)?.is_dir();
    if is_folder {
        collect(path, "", "json", DEEPEST, &mut files)?;
    } else {
        let own = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push(File { path: own.clone(), bytes: bytes(path, 0)? });
        let beside = format!("{own}-bin");
        let folder = path.with_file_name(&beside);
        if folder.is_dir() {
            collect(&folder, &format!("{beside}/"), "bin", 0, &mut files)?;
        }
    }
    Ok(Source { name, is_folder, files })
}

/// Files with this ending below a folder, links left out.
fn collect(folder: &Path, above: &str, ending: &str, deep: usize, files: &mut Vec<File>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{above}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() && deep > 0 {
            collect(&entry.path(), &format!("{path}/"), ending, deep - 1, files)?;
        } else if kind.is_file() && entry.path().extension().is_some_and(|found| found == ending) {
            let held = files.iter().map(|file| file.bytes.len() as u64).sum();
            let bytes = bytes(&entry.path(), held)?;
            files.push(File { path, bytes });
        }
        if files.len() > MOST_FILES {
            return Err(io::Error::other(format!("it holds more than {MOST_FILES} files")));
        }
    }
    Ok(())
}

/// The bytes of a file, beside those that are held.
fn bytes(path: &Path, held: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES + 1 - held.min(MOST_BYTES)).read_to_end(&mut bytes)?;
    if held + bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it holds more than {} MiB", MOST_BYTES >> 20)));
    }
    Ok(bytes)
}
