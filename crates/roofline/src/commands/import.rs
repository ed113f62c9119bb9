//! `roofline import`: a file of another tool as a run of the store.

use crate::args::Import;
use crate::error::Problem;
use roofline_core::record::{Run, SCHEMA};
use roofline_report::{FORMATS, File, ReadError, Reader, Report, Source};
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
    let mut records = reader
        .read(&source)
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
        program: String::new(),
    };
    for record in &mut records {
        (record.id, record.run, record.at) = (new_id(), run.id.clone(), now());
    }
    Store::open(&args.store)?.append_whole(&run, &records)?;
    let report = Report::new(Some(&run), &records);
    super::print(&(FORMATS[0].write)(&report, super::style()))?;
    Ok(ExitCode::SUCCESS)
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
