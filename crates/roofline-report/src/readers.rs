//! Files of other tools as records, one file a format.
//!
//! Bytes come from outside and are not trusted: what cannot be read is an error that names the entry
//! and the field. Unknown fields are passed over, absent optional ones too. To add a reader, write
//! `readers/<name>.rs` and add its line to [`READERS`].

mod criterion;
mod go;
mod google_benchmark;
mod hyperfine;
mod nvbench;

use roofline_core::nearest::nearest;
use roofline_core::record::Record;

/// Every reader, in the order of `roofline list formats`.
pub const READERS: &[Reader] = &[
    Reader { name: "go", about: "Go benchmark text", is_it: go::is_it, parse: go::read },
    Reader {
        name: "google-benchmark",
        about: "Google Benchmark's JSON",
        is_it: google_benchmark::is_it,
        parse: google_benchmark::read,
    },
    Reader {
        name: "criterion",
        about: "Criterion's folder",
        is_it: criterion::is_it,
        parse: criterion::read,
    },
    Reader { name: "nvbench", about: "nvbench's JSON", is_it: nvbench::is_it, parse: nvbench::read },
    Reader { name: "hyperfine", about: "hyperfine's JSON", is_it: hyperfine::is_it, parse: hyperfine::read },
];

/// One format that can be read.
#[derive(Debug)]
pub struct Reader {
    pub name: &'static str,
    /// One line for the list.
    pub about: &'static str,
    /// Whether the content looks like this format.
    pub is_it: fn(&Source) -> bool,
    parse: fn(&Source) -> Result<Vec<Record>, ReadError>,
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
    /// Records without id, run and time, in the order of the file; every one can be kept.
    pub fn read(&self, source: &Source) -> Result<Vec<Record>, ReadError> {
        let records = (self.parse)(source)?;
        match records.iter().find(|record| !reads_back(record)) {
            Some(record) => {
                let row = record.row();
                Err(ReadError::new(format!("a number of `{}` is too large to be kept", row.escape_debug())))
            }
            None => Ok(records),
        }
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
