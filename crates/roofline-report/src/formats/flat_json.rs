//! A flat list of objects with ten fields that tables of model layers are made of, and a few more.
//!
//! `docs/format.md` says what each field means here. What a row does not have is null, and a row without
//! `ok` has none of the numbers.

use crate::order::shown;
use crate::row::Row;
use crate::{Report, Style};
use roofline_core::case::Device;
use serde_json::{Value, json};

/// Axes that hold the places of a sequence, and those that hold the elements of one place.
const SEQUENCE: [&str; 2] = ["rows", "m"];
const DIMENSION: [&str; 2] = ["cols", "k"];

pub(super) fn write(report: &Report, _: Style) -> String {
    let rows: Vec<Value> = shown(report).iter().map(object).collect();
    format!("{:#}\n", Value::Array(rows))
}

fn object(row: &Row) -> Value {
    let case = row.case.as_ref();
    let axis = |names: &[&str]| {
        let axes = case.map(|case| case.axes()).unwrap_or_default();
        names.iter().find_map(|name| axes.get(*name).copied())
    };
    let time = row.time(0.5).map(|time| time.0);
    let share = row.of_limit().map(|(share, _)| share.value);
    let is_gpu = case.is_some_and(|case| matches!(case.device, Device::Cuda(_)));
    let traffic = Some(row.traffic()).filter(|bytes| *bytes > 0.0);
    let memory = row.record.evidence.peak_memory.filter(|_| time.is_some());
    json!({
        "operation": case.map_or_else(|| row.record.case.clone(), |case| case.form()),
        "implementation": row.record.implementation,
        "batch_size": case.map(|_| 1),
        "sequence_length": axis(&SEQUENCE),
        "tensor_dimension": axis(&DIMENSION),
        "time_ms": time.map(|time| 1e3 * time),
        "memory_mb": memory.map(|bytes| bytes.0 as f64 / 1e6),
        "inference_speed": time.map(|time| 1.0 / time),
        "gpu_efficiency": share.filter(|_| is_gpu).map(|share| 100.0 * share),
        "throughput_gbps": time.zip(traffic).map(|(time, bytes)| bytes / time / 1e9),
        "case": row.record.case,
        "dtype": case.map(|case| case.precision.id),
        "status": row.record.status.name(),
        "why": row.record.why,
        "of_limit": share,
        "notes": row.notes(),
    })
}
