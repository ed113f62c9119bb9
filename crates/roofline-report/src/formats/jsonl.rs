//! One record a line, as it is stored, but for seeds, which are text here, and with the figures that follow from it.

use crate::order::sorted;
use crate::row::Row;
use crate::{Report, Style};
use serde::Serialize;
use serde_json::Value;

pub(super) fn write(report: &Report, _: Style) -> String {
    sorted(report).iter().map(|row| line(row) + "\n").collect()
}

pub(super) fn line(row: &Row) -> String {
    let record = text(row.record);
    let provenance = text(&row.record.provenance);
    let mut exported: Value = serde_json::from_str(&provenance).unwrap_or_default();
    // Programs that read numbers as floats would lose the last digits of a seed.
    exported["seed"] = row.record.provenance.seed.to_string().into();
    // Where a record comes from is its last field.
    let before =
        record.strip_suffix('}').and_then(|record| record.strip_suffix(&*provenance)).unwrap_or(&record);
    format!("{before}{exported},\"derived\":{}}}", text(row.derived()))
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a record is strings, numbers and lists")
}
