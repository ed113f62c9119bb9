//! Google Benchmark's JSON: one entry a set as a repetition, then the median of all samples.
//!
//! Times are nanoseconds. `cpu_time` is known only of a row that came from such a file, and 0 elsewhere. Rates, the share of
//! the limit and allocations are counters. A failed row is an entry with an error, one that does not
//! apply is skipped; a row that was not measured has no entry.

use crate::foreign::{name_of, reason};
use crate::order::shown;
use crate::row::{Rate, Row, Set};
use crate::{Report, Style};
use roofline_core::record::Status;
use serde_json::{Map, Value, json};

const NAME: &str = "google-benchmark";

pub(super) fn write(report: &Report, _: Style) -> String {
    let mut entries = Vec::new();
    for (family, row) in shown(report).iter().enumerate() {
        let name = name_of(row.record, NAME);
        let sets = row.sets();
        let entry = |name: &str, kind: &str| {
            let mut entry = Map::new();
            entry.insert("name".to_owned(), name.into());
            entry.insert("run_name".to_owned(), name_of(row.record, NAME).into());
            entry.insert("run_type".to_owned(), kind.into());
            entry.insert("family_index".to_owned(), family.into());
            entry.insert("per_family_instance_index".to_owned(), 0.into());
            entry.insert("repetitions".to_owned(), sets.len().max(1).into());
            entry.insert("threads".to_owned(), row.threads().or(row.thread_limit()).unwrap_or(1).into());
            entry
        };
        if row.record.status != Status::Ok {
            let mut failed = entry(&name, "iteration");
            let (flag, message) = if row.record.status.is_failure() {
                ("error_occurred", "error_message")
            } else {
                ("skipped", "skip_message")
            };
            failed.insert(flag.to_owned(), true.into());
            failed.insert(message.to_owned(), reason(row.record).into());
            failed.insert("repetition_index".to_owned(), 0.into());
            fill(&mut failed, row, 0.0, 0);
            entries.push(failed);
            continue;
        }
        for (index, set) in sets.iter().enumerate() {
            let mut repetition = entry(&name, "iteration");
            repetition.insert("repetition_index".to_owned(), index.into());
            fill(&mut repetition, row, set.nanoseconds, set.launches);
            counters(&mut repetition, row, set);
            entries.push(repetition);
        }
        if let Some(median) = row.time(0.5).filter(|_| !sets.is_empty()) {
            let mut aggregate = entry(&format!("{name}_median"), "aggregate");
            aggregate.insert("aggregate_name".to_owned(), "median".into());
            aggregate.insert("aggregate_unit".to_owned(), "time".into());
            fill(&mut aggregate, row, median.0 * 1e9, sets.len() as u64);
            entries.push(aggregate);
        }
    }
    let document = json!({ "context": context(report), "benchmarks": entries });
    format!("{document:#}\n")
}

fn context(report: &Report) -> Value {
    let mut context = json!({
        "caches": [],
        "load_avg": [],
        "library_version": concat!("roofline ", env!("CARGO_PKG_VERSION")),
        "json_schema_version": 1,
    });
    if let Some(record) = report.records.first() {
        context["host_name"] = record.provenance.machine.clone().into();
    }
    if let Some(run) = report.run {
        context["date"] = run.started.clone().into();
        context["executable"] = run.command.clone().into();
        if let Some(cores) = run.machine.pointer("/processor/threads").filter(|cores| cores.is_u64()) {
            context["num_cpus"] = cores.clone();
        }
    }
    context
}

fn fill(entry: &mut Map<String, Value>, row: &Row, nanoseconds: f64, iterations: u64) {
    // What is measured here is the share of a whole visit, which says nothing of one launch.
    let share = row.record.evidence.cpu_share.filter(|_| row.record.is_imported());
    let cpu = share.map_or(0.0, |share| share * nanoseconds);
    entry.insert("iterations".to_owned(), iterations.into());
    entry.insert("real_time".to_owned(), nanoseconds.into());
    entry.insert("cpu_time".to_owned(), if cpu.is_finite() && cpu > 0.0 { cpu } else { 0.0 }.into());
    entry.insert("time_unit".to_owned(), "ns".into());
}

fn counters(entry: &mut Map<String, Value>, row: &Row, set: &Set) {
    let mut counter = |name: &str, value: f64| {
        if value.is_finite() {
            entry.insert(name.to_owned(), value.into());
        }
    };
    if let Some(rate) = row.rate() {
        let name = match rate {
            Rate::Bytes(_) => "bytes_per_second",
            Rate::Flops(_) => "flops_per_second",
            Rate::Ops(_) => "ops_per_second",
        };
        counter(name, row.rate_of(rate, set.nanoseconds));
    }
    if let Some(share) = set.share {
        counter("of_limit", share);
    }
    if let Some(allocations) = row.record.evidence.allocations {
        counter("allocs_per_iter", allocations.count);
        counter("allocated_bytes_per_iter", allocations.bytes);
    }
}
