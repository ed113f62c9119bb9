//! One record a line, as it is stored.

use crate::{Report, Style};
use roofline_core::record::Record;

pub(super) fn write(report: &Report, _: Style) -> String {
    report.records.iter().map(|record| line(record) + "\n").collect()
}

pub(super) fn line(record: &Record) -> String {
    serde_json::to_string(record).expect("a record is strings, numbers and lists")
}
