//! Files as records, one file a format: those of other tools, and what `roofline export` writes.
//!
//! Bytes come from outside and are not trusted: what cannot be read is an error that names the entry
//! and the field. Unknown fields are passed over, absent optional ones too. To add a reader, write
//! `readers/<name>.rs` and add its line to [`READERS`].

mod criterion;
mod csv;
mod go;
mod google_benchmark;
mod hyperfine;
mod nvbench;
mod own;

use roofline_core::nearest::nearest;
use roofline_core::record::{Record, Run};

/// Every reader, in the order of `roofline list formats`.
pub const READERS: &[Reader] = &[
    Reader { name: "json", about: "what `export` writes", is_it: own::is_json, parse: Parse::Own(own::json) },
    Reader {
        name: "jsonl",
        about: "what `export` writes",
        is_it: own::is_jsonl,
        parse: Parse::Own(own::jsonl),
    },
    Reader {
        name: "csv",
        about: "what `export` writes",
        is_it: csv::is_it,
        parse: Parse::Foreign(csv::read),
    },
    Reader { name: "go", about: "Go benchmark text", is_it: go::is_it, parse: Parse::Foreign(go::read) },
    Reader {
        name: "google-benchmark",
        about: "Google Benchmark's JSON",
        is_it: google_benchmark::is_it,
        parse: Parse::Foreign(google_benchmark::read),
    },
    Reader {
        name: "criterion",
        about: "Criterion's folder",
        is_it: criterion::is_it,
        parse: Parse::Foreign(criterion::read),
    },
    Reader {
        name: "nvbench",
        about: "nvbench's JSON",
        is_it: nvbench::is_it,
        parse: Parse::Foreign(nvbench::read),
    },
    Reader {
        name: "hyperfine",
        about: "hyperfine's JSON",
        is_it: hyperfine::is_it,
        parse: Parse::Foreign(hyperfine::read),
    },
];

/// One format that can be read.
#[derive(Debug)]
pub struct Reader {
    pub name: &'static str,
    /// One line for the list.
    pub about: &'static str,
    /// Whether the content looks like this format.
    pub is_it: fn(&Source) -> bool,
    parse: Parse,
}

/// Whose records a file holds.
#[derive(Debug)]
enum Parse {
    /// Records without id, run and time.
    Foreign(fn(&Source) -> Result<Vec<Record>, ReadError>),
    /// Records as they were stored.
    Own(fn(&Source) -> Result<Content, ReadError>),
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// Runs of its records, as far as it tells them.
    pub runs: Vec<Run>,
    /// In the order of the file. Those of other tools have no id, no run and no time.
    pub records: Vec<Record>,
}

/// A file or a folder with what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// As it was named.
    pub name: String,
    pub is_folder: bool,
    /// The file itself and then what belongs to it; or all files of the folder.
    pub files: Vec<File>,
}

/// One file of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Within the folder, with slashes.
    pub path: String,
    pub bytes: Vec<u8>,
}

impl Source {
    /// The bytes of a source that is one file.
    pub(crate) fn bytes(&self) -> Result<&[u8], ReadError> {
        match self.files.first().filter(|_| !self.is_folder) {
            Some(file) => Ok(&file.bytes),
            None => Err(ReadError::new("it is a folder; this format is a file")),
        }
    }
}

impl Reader {
    /// What a file holds; every record of it can be kept.
    pub fn read(&self, source: &Source) -> Result<Content, ReadError> {
        let content = match self.parse {
            Parse::Foreign(parse) => Content { runs: Vec::new(), records: parse(source)? },
            Parse::Own(parse) => parse(source)?,
        };
        match content.records.iter().find(|record| !reads_back(record)) {
            Some(record) => {
                let row = record.row();
                Err(ReadError::new(format!("a number of `{}` is too large to be kept", row.escape_debug())))
            }
            None => Ok(content),
        }
    }

    /// Whether its records are ours, with their ids and runs.
    pub fn is_own(&self) -> bool {
        matches!(self.parse, Parse::Own(_))
    }

    pub fn find(name: &str) -> Result<&'static Reader, ReadError> {
        READERS.iter().find(|reader| reader.name == name).ok_or_else(|| {
            let hint = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("these are read: {}", names().join(", ")),
            };
            ReadError { why: format!("unknown format `{}`", name.escape_debug()), hint }
        })
    }

    /// The reader that the content is for.
    pub fn guess(source: &Source) -> Result<&'static Reader, ReadError> {
        let likely: Vec<&Reader> = READERS.iter().filter(|reader| (reader.is_it)(source)).collect();
        match likely[..] {
            [reader] => Ok(reader),
            [] => Err(ReadError {
                why: "it looks like none of the formats that are read".to_owned(),
                hint: format!("name it with `--format`: {}", names().join(", ")),
            }),
            _ => {
                let names: Vec<&str> = likely.iter().map(|reader| reader.name).collect();
                Err(ReadError {
                    why: format!("it could be {}", names.join(" or ")),
                    hint: "name the format with `--format`".to_owned(),
                })
            }
        }
    }
}

/// JSON has no word for a number that overflowed on the way into a record.
fn reads_back(record: &Record) -> bool {
    let again = serde_json::to_string(record).and_then(|text| serde_json::from_str::<Record>(&text));
    again.is_ok_and(|again| again == *record)
}

fn names() -> Vec<&'static str> {
    READERS.iter().map(|reader| reader.name).collect()
}

/// Why a source cannot be read, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ReadError {
    pub why: String,
    pub hint: String,
}

impl ReadError {
    pub(crate) fn new(why: impl Into<String>) -> ReadError {
        let hint = "nothing was stored; mend the file, or write it again with the tool that made it";
        ReadError { why: why.into(), hint: hint.to_owned() }
    }
}
