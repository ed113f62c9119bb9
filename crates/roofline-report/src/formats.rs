//! The formats, one file each.

pub(crate) mod csv;
mod json;
mod jsonl;
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
];

/// One way to write a report.
#[derive(Debug)]
pub struct Format {
    pub name: &'static str,
    /// One line for the list.
    pub about: &'static str,
    /// The whole text, with its last newline.
    pub write: fn(&Report, Style) -> String,
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
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        match nearest(&self.name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the formats are {}", names.join(", ")),
        }
    }
}
