//! What a runner has: a table of its implementations, an operation a column, element types in the cells.
//!
//! Runners that are not installed here are left as they are: their part was made where they were.

use super::cli_help;
use crate::step::{self, Failure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What `roofline runners --json` prints of each runner, as far as it is used here.
#[derive(Deserialize)]
struct Runner {
    name: String,
    /// Absent where the runner does not start.
    version: Option<String>,
    #[serde(default)]
    devices: Vec<String>,
    #[serde(default)]
    offers: Vec<Offer>,
}

#[derive(Deserialize)]
struct Offer {
    implementation: String,
    operation: String,
    dtypes: Vec<String>,
    devices: Vec<String>,
}

pub(super) fn make(root: &Path, runner: &str) -> Result<Option<String>, Failure> {
    let program = cli_help::program(root)?;
    let store = step::target_folder(root).join("xtask/support.db");
    let mut ask = Command::new(program);
    ask.current_dir(root).args(["runners", "--json", "--store"]).arg(store);
    let failure =
        |why: &str| Failure::new("support", why, "`roofline runners --json` must print what there is");
    let answer = step::answer(&mut ask).ok_or_else(|| failure("the runners could not be asked"))?;
    let runners: Vec<Runner> =
        serde_json::from_str(&answer).map_err(|error| failure(&format!("its answer is no JSON: {error}")))?;
    let found = runners.iter().find(|found| found.name == runner);
    let found = found.ok_or_else(|| failure(&format!("there is no runner `{runner}`")))?;
    Ok(found.version.as_deref().map(|version| describe(found, version)))
}

/// Whether the page lacks something of the version that it tells of. A machine may have less than the one
/// that it was made on, whose processor has other units, or another version.
pub(super) fn is_stale(old: &str, new: &str) -> bool {
    let version = |text: &str| text.trim().lines().next().map(str::to_owned);
    let columns =
        |text: &str| text.lines().find(|line| line.starts_with("| implementation")).map(str::to_owned);
    let rows = new.lines().filter(|line| line.starts_with("| `"));
    old.trim().is_empty()
        || version(old) == version(new)
            && (columns(old) != columns(new)
                || rows.into_iter().any(|row| !old.lines().any(|line| line == row)))
}

fn describe(runner: &Runner, version: &str) -> String {
    // In the order of the offers, which is that of the registry.
    let mut operations: Vec<&str> = Vec::new();
    let mut rows: Vec<(&str, BTreeMap<&str, String>)> = Vec::new();
    for offer in runner.offers.iter().filter(|offer| !offer.implementation.starts_with("limit/")) {
        if !operations.contains(&offer.operation.as_str()) {
            operations.push(&offer.operation);
        }
        let index = rows.iter().position(|(name, _)| *name == offer.implementation).unwrap_or_else(|| {
            rows.push((&offer.implementation, BTreeMap::new()));
            rows.len() - 1
        });
        let mut types = offer.dtypes.join(" ");
        if offer.devices != ["cpu"] {
            types = format!("{types} on {}", offer.devices.join(", "));
        }
        let cell = rows[index].1.entry(&offer.operation).or_default();
        *cell = if cell.is_empty() { types } else { format!("{cell}; {types}") };
    }
    let devices = if runner.devices.is_empty() { "cpu".to_owned() } else { runner.devices.join(", ") };
    let mut text = format!("Version {version}, on {devices}.\n\n| implementation |");
    operations.iter().for_each(|operation| text += &format!(" {operation} |"));
    text += &format!("\n|---|{}\n", "---|".repeat(operations.len()));
    for (implementation, dtypes) in &rows {
        text += &format!("| `{implementation}` |");
        for operation in &operations {
            text += &format!(" {} |", dtypes.get(operation).map_or("", String::as_str));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_has_more_is_not_stale() {
        let page = "\nVersion 1.2, on cpu.\n\n| implementation | add |\n|---|---|\n| `x/a` | f32 |\n| `x/b` | f32 |\n";
        assert!(!is_stale(page, &page.replace("| `x/b` | f32 |\n", "")));
        assert!(!is_stale(page, &page.replace("1.2", "1.3").replace("f32", "f64")));
        assert!(is_stale(page, &page.replace("`x/b` | f32", "`x/b` | f32 f64")));
        assert!(is_stale(page, &page.replace("add |", "softmax |")));
        assert!(is_stale("", page));
    }

    #[test]
    fn an_operation_is_a_column_and_probes_are_left_out() {
        let offer = |implementation: &str, operation: &str, dtypes: &[&str]| Offer {
            implementation: implementation.to_owned(),
            operation: operation.to_owned(),
            dtypes: dtypes.iter().map(|dtype| (*dtype).to_owned()).collect(),
            devices: vec!["cpu".to_owned()],
        };
        let on_gpu = |offer: Offer| Offer { devices: vec!["cuda".to_owned()], ..offer };
        let offers = vec![
            offer("x/a", "add", &["f32", "bf16"]),
            offer("limit/traffic-1", "add", &["f32"]),
            offer("x/b", "softmax", &["f64"]),
            offer("x/a", "softmax", &["f32"]),
            on_gpu(offer("x/a", "softmax", &["f16"])),
        ];
        let runner = Runner { name: "x".to_owned(), version: None, devices: Vec::new(), offers };
        assert_eq!(
            describe(&runner, "1.2"),
            "Version 1.2, on cpu.\n\n| implementation | add | softmax |\n|---|---|---|\n\
             | `x/a` | f32 bf16 | f32; f16 on cuda |\n| `x/b` |  | f64 |\n"
        );
    }
}
