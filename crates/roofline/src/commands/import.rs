//! `roofline import`: a file as runs of the store. That of another tool is a run of its own; what `export` wrote keeps its runs,
//! and is there once however often it is read.

use super::runs::counted;
use crate::args::Import;
use crate::error::{Problem, tell};
use roofline_core::record::{Record, Run, SCHEMA};
use roofline_report::{Content, FORMATS, File, ReadError, Reader, Report, Source};
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
    let (reader, content) = read(&args.path, args.format.as_deref())?;
    let (parts, words) = if reader.is_own() {
        let parts = by_run(content, &args.path);
        let merged = Store::open(&args.store)?.merge(&parts)?;
        let (new, known) = (counted(merged.records, "record"), merged.known);
        (parts, format!("{new} added, {known} in the store already"))
    } else {
        let part = begun(content.records);
        Store::open(&args.store)?.append_whole(&part.0, &part.1)?;
        let words = format!("{} added", counted(part.1.len(), "record"));
        (vec![part], words)
    };
    for (run, records) in &parts {
        super::print(&(FORMATS[0].write)(&Report::new(Some(run), records), super::style()))?;
    }
    tell(&words);
    Ok(ExitCode::SUCCESS)
}

/// What a file holds, and the reader that it is for.
pub fn read(path: &Path, format: Option<&str>) -> Result<(&'static Reader, Content), Problem> {
    let named = format.map(Reader::find).transpose();
    let named = named.map_err(|error| Problem::usage(error.to_string(), error.hint))?;
    let name = path.display().to_string();
    let source = load(path).map_err(|error| {
        let hint = "name a file, or a folder that Criterion made";
        Problem::usage(format!("{name} cannot be read: {error}"), hint)
    })?;
    let refused = |error: ReadError| Problem::usage(format!("{name}: {error}"), error.hint);
    let reader = named.map_or_else(|| Reader::guess(&source), Ok).map_err(refused)?;
    let content = reader
        .read(&source)
        .map_err(|error| Problem::usage(format!("{name}: as {}: {error}", reader.name), error.hint))?;
    if content.records.is_empty() {
        let hint = "nothing was stored";
        return Err(Problem::nothing(format!("{name}: as {}: it has no benchmark", reader.name), hint));
    }
    Ok((reader, content))
}

/// Records of another tool as a run that begins now.
fn begun(mut records: Vec<Record>) -> (Run, Vec<Record>) {
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let run = Run {
        schema: SCHEMA,
        id: new_id(),
        started: now(),
        command: arguments.join(" "),
        arguments,
        machine: serde_json::Value::Null,
        program: String::new(),
        revision: String::new(),
    };
    for record in &mut records {
        (record.id, record.run, record.at) = (new_id(), run.id.clone(), now());
    }
    (run, records)
}

/// Our own records with their runs. Of a run that the file does not tell, only its id and its first record's time are known.
fn by_run(content: Content, path: &Path) -> Vec<(Run, Vec<Record>)> {
    let mut parts: Vec<(Run, Vec<Record>)> = content.runs.into_iter().map(|run| (run, Vec::new())).collect();
    for record in content.records {
        let place = parts.iter().position(|(run, _)| run.id == record.run).unwrap_or_else(|| {
            let run = Run {
                schema: SCHEMA,
                id: record.run.clone(),
                started: record.at.clone(),
                command: format!("read from {}", path.display()),
                arguments: Vec::new(),
                machine: serde_json::Value::Null,
                program: String::new(),
                revision: String::new(),
            };
            parts.push((run, Vec::new()));
            parts.len() - 1
        });
        parts[place].1.push(record);
    }
    parts
}

/// A file with the folder `FILE-bin` beside it, in which nvbench leaves samples; or a folder's JSON files.
fn load(path: &Path) -> io::Result<Source> {
    let name = path.display().to_string();
    let mut held = Held::default();
    let is_folder = fs::metadata(path)?.is_dir();
    if is_folder {
        held.folder(path, "", "json", DEEPEST)?;
    } else {
        let own = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        held.file(path, own.clone())?;
        let beside = format!("{own}-bin");
        let folder = path.with_file_name(&beside);
        if folder.is_dir() {
            held.folder(&folder, &format!("{beside}/"), "bin", 0)?;
        }
    }
    Ok(Source { name, is_folder, files: held.files })
}

/// What was read so far.
#[derive(Default)]
struct Held {
    files: Vec<File>,
    bytes: u64,
}

impl Held {
    /// Files with this ending below a folder, links left out.
    fn folder(&mut self, folder: &Path, above: &str, ending: &str, deep: usize) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = format!("{above}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type()?;
            if kind.is_dir() && deep > 0 {
                self.folder(&entry.path(), &format!("{path}/"), ending, deep - 1)?;
            } else if kind.is_file() && entry.path().extension().is_some_and(|found| found == ending) {
                self.file(&entry.path(), path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, path: String) -> io::Result<()> {
        let mut bytes = Vec::new();
        fs::File::open(from)?.take(MOST_BYTES + 1 - self.bytes).read_to_end(&mut bytes)?;
        self.bytes += bytes.len() as u64;
        self.files.push(File { path, bytes });
        if self.bytes > MOST_BYTES {
            return Err(io::Error::other(format!("it holds more than {} MiB", MOST_BYTES >> 20)));
        }
        if self.files.len() > MOST_FILES {
            return Err(io::Error::other(format!("it holds more than {MOST_FILES} files")));
        }
        Ok(())
    }
}
