//! What a runner has: a table of its operations, an implementation a column, element types in the cells.
//!
//! Runners that are not installed here are left as they are: their part was made where they were.

use super::cli_help;
use crate::step::{self, Failure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
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
    #[serde(default)]
    requires: String,
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

/// What the page has and not every machine, for its processor or its libraries: beginnings of names.
const NOT_EVERYWHERE: [&str; 5] =
    ["cpu/amx ", "c-peers/openblas ", "c-peers/onednn ", "c-peers/mkl ", "c-peers/fftw "];

/// What is offered here and not on the page, and the other way round. Versions may differ, and conditions,
/// which may hang on the processor.
pub(super) fn at_odds(old: &str, new: &str) -> Vec<String> {
    let (page, here) = (names(old), names(new));
    let is_elsewhere = |name: &str| NOT_EVERYWHERE.iter().any(|start| name.starts_with(start));
    let surplus = page.difference(&here).filter(|name| !is_elsewhere(name));
    let missing = here.difference(&page).map(|name| format!("`{name}` is offered and not on the page"));
    missing.chain(surplus.map(|name| format!("`{name}` is on the page and not offered"))).collect()
}

/// Every `IMPLEMENTATION OPERATION DTYPE on DEVICE` of a table.
fn names(table: &str) -> BTreeSet<String> {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<String>>();
    let mut lines = table.lines().filter(|line| line.starts_with("| ")).map(cells);
    let implementations = lines.next().unwrap_or_default();
    let mut names = BTreeSet::new();
    for row in lines {
        for (implementation, cell) in implementations.iter().zip(&row).skip(2) {
            for offer in cell.split("; ").filter(|offer| !offer.is_empty()) {
                let offer = offer.split(" if ").next().unwrap_or_default();
                let (dtypes, devices) = offer.split_once(" on ").unwrap_or((offer, "cpu"));
                let pairs = devices
                    .split(", ")
                    .flat_map(|device| dtypes.split(' ').map(move |dtype| (dtype, device)));
                let (implementation, operation) = (implementation.trim_matches('`'), &row[1]);
                names.extend(
                    pairs.map(|(dtype, device)| format!("{implementation} {operation} {dtype} on {device}")),
                );
            }
        }
    }
    names
}

fn describe(runner: &Runner, version: &str) -> String {
    // In the order of the offers, which is that of the registry.
    let mut implementations: Vec<&str> = Vec::new();
    let mut rows: Vec<(&str, BTreeMap<&str, String>)> = Vec::new();
    for offer in runner.offers.iter().filter(|offer| !offer.implementation.starts_with("limit/")) {
        if !implementations.contains(&offer.implementation.as_str()) {
            implementations.push(&offer.implementation);
        }
        let index = rows.iter().position(|(name, _)| *name == offer.operation).unwrap_or_else(|| {
            rows.push((&offer.operation, BTreeMap::new()));
            rows.len() - 1
        });
        let mut types = offer.dtypes.join(" ");
        if offer.devices != ["cpu"] {
            types = format!("{types} on {}", offer.devices.join(", "));
        }
        // That it takes any address leaves out no case.
        if !["", "align 1"].contains(&offer.requires.as_str()) {
            types = format!("{types} if {}", offer.requires);
        }
        let cell = rows[index].1.entry(&offer.implementation).or_default();
        *cell = if cell.is_empty() { types } else { format!("{cell}; {types}") };
    }
    let devices = if runner.devices.is_empty() { "cpu".to_owned() } else { runner.devices.join(", ") };
    let mut text = format!("Version {version}, on {devices}.\n\n| operation |");
    implementations.iter().for_each(|implementation| text += &format!(" `{implementation}` |"));
    text += &format!("\n|---|{}\n", "---|".repeat(implementations.len()));
    for (operation, dtypes) in &rows {
        text += &format!("| {operation} |");
        for implementation in &implementations {
            text += &format!(" {} |", dtypes.get(implementation).map_or("", String::as_str));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_what_is_offered_and_nothing_else() {
        let page = "\nVersion 1.2, on cpu.\n\n| operation | `x/a` | `x/b` | `cpu/amx` |\n|---|---|---|---|\n\
                    | add | f32 bf16; f16 on cuda |  | i8 |\n| softmax |  | f32 |  |\n";
        let odd = |old: &str, new: &str| at_odds(page, &page.replace(old, new));
        assert_eq!(odd("1.2, on cpu", "1.3 for AVX2, on cpu, cuda:0"), [""; 0]);
        assert_eq!(odd("| i8 |", "|  |"), [""; 0], "not every processor has it");
        assert_eq!(
            odd("f16 on cuda", "f16 on cuda if cols > 1, finite"),
            [""; 0],
            "a condition is none of its names"
        );
        assert_eq!(
            odd("|  | f32 |  |", "|  | f32 f64 |  |"),
            ["`x/b softmax f64 on cpu` is offered and not on the page"]
        );
        assert_eq!(
            odd("f16 on cuda", "f16"),
            [
                "`x/a add f16 on cpu` is offered and not on the page",
                "`x/a add f16 on cuda` is on the page and not offered",
            ]
        );
        assert_eq!(
            odd("x/b", "x/c"),
            [
                "`x/c softmax f32 on cpu` is offered and not on the page",
                "`x/b softmax f32 on cpu` is on the page and not offered",
            ]
        );
        assert_eq!(odd("| i8 |", "| i8 bf16 |").len(), 1, "the page has all");
        assert_eq!(odd("| softmax |", "| rms-norm |").len(), 2);
        assert_eq!(at_odds("", page).len(), 5);
    }

    #[test]
    fn an_operation_is_a_row_and_probes_are_left_out() {
        let offer = |implementation: &str, operation: &str, dtypes: &[&str]| Offer {
            implementation: implementation.to_owned(),
            operation: operation.to_owned(),
            dtypes: dtypes.iter().map(|dtype| (*dtype).to_owned()).collect(),
            devices: vec!["cpu".to_owned()],
            requires: String::new(),
        };
        let under = |offer: Offer| Offer { requires: "cols > 1, finite".to_owned(), ..offer };
        let on_gpu = |offer: Offer| Offer { devices: vec!["cuda".to_owned()], ..offer };
        let offers = vec![
            offer("x/a", "add", &["f32", "bf16"]),
            offer("limit/traffic-1", "add", &["f32"]),
            offer("x/b", "softmax", &["f64"]),
            offer("x/a", "softmax", &["f32"]),
            under(on_gpu(offer("x/a", "softmax", &["f16"]))),
        ];
        let runner = Runner { name: "x".to_owned(), version: None, devices: Vec::new(), offers };
        assert_eq!(
            describe(&runner, "1.2"),
            "Version 1.2, on cpu.\n\n| operation | `x/a` | `x/b` |\n|---|---|---|\n\
             | add | f32 bf16 |  |\n| softmax | f32; f16 on cuda if cols > 1, finite | f64 |\n"
        );
    }
}
