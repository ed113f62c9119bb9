//! The formats, one file each.

mod bencher;
mod criterion;
pub(crate) mod csv;
mod flat_json;
mod github_action;
pub(crate) mod go;
mod google_benchmark;
mod json;
mod jsonl;
mod junit;
mod libtest;
mod markdown;
pub(crate) mod table;

use crate::{Report, Style};
use roofline_core::nearest::nearest;

/// Every format, in the order of `roofline list formats`; the first is the default.
pub const FORMATS: &[Format] = &[
    Format { name: "table", about: "aligned columns for the terminal, reasons below", write: table::write },
    Format { name: "json", about: "one object: schema, run, records with all samples", write: json::write },
    Format { name: "jsonl", about: "one record a line, with all samples", write: jsonl::write },
    Format { name: "csv", about: "one line a row with fixed columns, no samples", write: csv::write },
    Format { name: "markdown", about: "a table for GitHub, reasons below", write: markdown::write },
    Format { name: "go", about: "Go benchmark text for benchstat, one line a set", write: go::write },
    Format {
        name: "google-benchmark",
        about: "Google Benchmark's JSON, one entry a set",
        write: google_benchmark::write,
    },
    Format {
        name: "libtest",
        about: "lines of cargo bench, as Criterion's `bencher` has them",
        write: libtest::write,
    },
    Format { name: "bencher", about: "Bencher Metric Format", write: bencher::write },
    Format {
        name: "github-action-benchmark",
        about: "its JSON for customSmallerIsBetter: times",
        write: github_action::times,
    },
    Format {
        name: "github-action-benchmark-rates",
        about: "its JSON for customBiggerIsBetter: rates, shares of the limit",
        write: github_action::rates,
    },
    Format { name: "junit", about: "JUnit's XML, a test a row", write: junit::write },
    Format { name: "flat-json", about: "a list of flat objects, one a row", write: flat_json::write },
];

/// Formats that are a folder of files, which `roofline export` writes.
pub const FOLDERS: &[Folder] = &[Folder {
    name: "criterion",
    about: "Criterion's folder, as its last result and its base",
    write: criterion::write,
}];

/// One way to write a report.
#[derive(Debug)]
pub struct Format {
    pub name: &'static str,
    /// One line for the list.
    pub about: &'static str,
    /// The whole text, with its last newline.
    pub write: fn(&Report, Style) -> String,
}

/// One way to write a report as several files.
#[derive(Debug)]
pub struct Folder {
    pub name: &'static str,
    /// One line for the list.
    pub about: &'static str,
    /// Paths within the folder, with slashes, and what each file holds.
    pub write: fn(&Report) -> Vec<(String, String)>,
}

impl Folder {
    pub fn find(name: &str) -> Option<&'static Folder> {
        FOLDERS.iter().find(|folder| folder.name == name)
    }
}

impl Format {
    pub fn find(name: &str) -> Result<&'static Format, UnknownFormat> {
        FORMATS
            .iter()
            .find(|format| format.name == name)
            .ok_or_else(|| UnknownFormat { name: name.to_owned() })
    }
}

/// There is no format of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{}`", .name.escape_debug())]
pub struct UnknownFormat {
    pub name: String,
}

impl UnknownFormat {
    /// What to write instead.
    pub fn hint(&self) -> String {
        if let Some(Folder { name, .. }) = Folder::find(&self.name) {
            return format!("it is a folder: `roofline export --format {name} --to FOLDER` writes it");
        }
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        match nearest(&self.name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the formats are {}", names.join(", ")),
        }
    }
}
