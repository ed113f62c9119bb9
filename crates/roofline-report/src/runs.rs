//! The runs of a store, a line each.

use crate::text::escape;
use roofline_core::record::Run;
use std::collections::BTreeMap;

/// Id, when, how many rows ended how (by the run's id, status and count), and the command.
pub fn runs(runs: &[Run], counts: &BTreeMap<String, Vec<(String, u64)>>) -> String {
    let line = |run: &Run| {
        let statuses = counts.get(&run.id).into_iter().flatten();
        let rows: Vec<String> = statuses.map(|(status, count)| format!("{count} {status}")).collect();
        let rows = if rows.is_empty() { "no rows".to_owned() } else { rows.join(", ") };
        let minute = run.started.get(..16).unwrap_or(&run.started);
        let words = [run.id.as_str(), minute, &rows, &run.command].map(escape);
        format!("{}\n", words.join("  "))
    };
    runs.iter().map(line).collect()
}
