//! One JSON object: `schema` (of the records), `run` (or null), `records`, a record a line.

use super::jsonl;
use crate::order::sorted;
use crate::{Report, Style};
use roofline_core::record::SCHEMA;

pub(super) fn write(report: &Report, _: Style) -> String {
    let run = serde_json::to_string(&report.run).expect("a run is strings, numbers and lists");
    let records: Vec<String> = sorted(report).iter().map(jsonl::line).collect();
    let records = if records.is_empty() { String::new() } else { format!("\n{}\n", records.join(",\n")) };
    format!("{{\"schema\":{SCHEMA},\"run\":{run},\"records\":[{records}]}}\n")
}
