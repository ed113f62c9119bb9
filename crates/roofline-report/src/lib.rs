//! Records as text: tables for people, formats for programs, why a row is as it is; a machine's roofs; and
//! files of other tools as records.
//!
//! Functions between records and text and nothing else: no file, no terminal, no clock. Records may come
//! from an old or hostile store, so nothing here panics on what they say, and text that reaches a
//! terminal has its control characters escaped. To add a format, write `formats/<name>.rs` and add
//! its line to [`FORMATS`]; to read one, `readers/<name>.rs` and [`READERS`].
#![forbid(unsafe_code)]

mod columns;
mod compare;
mod derived;
mod explain;
mod figures;
mod foreign;
mod formats;
mod grid;
mod history;
mod notes;
mod order;
mod past;
mod plot;
mod readers;
mod readings;
mod regressions;
mod roofline_plot;
mod roofs;
mod row;
mod runs;
mod spread;
mod svg;
mod targets;
mod text;

pub use compare::{Stored, compare};
pub use explain::explain;
pub use formats::csv::columns as csv_columns;
pub use formats::{FOLDERS, FORMATS, Folder, Format, UnknownFormat};
pub use history::history;
pub use order::Sort;
pub use readers::{Content, File, READERS, ReadError, Reader, Source};
pub use readings::{Reading, UnknownAxis, scaling};
pub use roofline_plot::roofline_plot;
pub use roofs::roofs_table;
pub use runs::runs;
pub use svg::roofline_svg;
pub use text::to_ascii;

use roofline_core::policy::Finding;
use roofline_core::record::{Record, Run};
use roofline_core::target::Reached;

/// What is reported: records, and the run that they are of where there is one.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    pub run: Option<&'a Run>,
    pub records: &'a [Record],
    /// Order of the rows.
    pub sort: Sort,
    /// Targets of its suite, where they were asked for.
    pub targets: &'a [Reached],
    /// What broke a rule of a policy, where it was held to one.
    pub findings: &'a [Finding],
    /// What was said of its comparisons beside that, for whoever reads the report alone.
    pub notices: &'a [String],
    /// Tables list rows that a runner does not offer, too, instead of counting them.
    pub all: bool,
}

impl<'a> Report<'a> {
    /// Records in the order of their run, and nothing more to say.
    pub fn new(run: Option<&'a Run>, records: &'a [Record]) -> Report<'a> {
        Report { run, records, sort: Sort::default(), targets: &[], findings: &[], notices: &[], all: false }
    }
}

/// How text for people looks; formats for programs ignore it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Escape sequences of ANSI. What colour says, a word says as well.
    pub colour: bool,
    /// Columns of the terminal; `None` wraps nothing.
    pub width: Option<u16>,
    /// No character beyond ASCII, for a locale that has none.
    pub ascii: bool,
}
