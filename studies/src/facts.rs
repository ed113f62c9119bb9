//! What a page of results says of how it was made.

use roofline_conductor::machine::Machine;
use std::path::Path;
use std::process::Command;

/// What was used, for whoever does it again: the command, when it was done, and [`setting`].
pub(crate) fn facts(machine: &Machine, root: &Path, command: &str) -> Vec<(&'static str, String)> {
    let mut facts = vec![("command", format!("`{command}`")), ("finished", now())];
    facts.extend(setting(machine, &revision(root, ALL)));
    facts
}

/// The program and the machine.
pub(crate) fn setting(machine: &Machine, revision: &str) -> Vec<(&'static str, String)> {
    let lines = machine.to_string();
    let fact = |name: &str| {
        let line = lines.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("  "));
        line.unwrap_or("not visible").trim().to_owned()
    };
    vec![
        ("Roofline", format!("{}, revision {revision}", env!("CARGO_PKG_VERSION"))),
        ("machine", format!("`{}`", machine.fingerprint())),
        ("processor", fact("processor")),
        ("cores", fact("cores")),
        ("system", fact("kernel")),
        ("compiler", fact("compiler")),
    ]
}

/// All sources. What studies write is no change of what they study.
const ALL: &[&str] = &[":!results"];
/// What measures and decides: whatever else changes, what was found about that stays true.
pub(crate) const MEASURING: &[&str] = &[
    "crates/roofline-conductor/src",
    "crates/roofline-runner/src",
    "runners/python",
    "crates/roofline-core/src/stats*",
    "crates/roofline-core/src/verdict.rs",
    "crates/roofline-core/src/decision.rs",
    "crates/roofline-core/src/turn.rs",
    "crates/roofline-core/src/policy.rs",
    "crates/roofline-core/src/judge.rs",
    "crates/roofline-core/src/bound.rs",
];

/// The same for what is asked by commands that compare, and ends with their code.
pub(crate) fn comparing() -> Vec<&'static str> {
    let commands = [
        "crates/roofline-run/src",
        "crates/roofline/src/commands/ab*",
        "crates/roofline/src/commands/kept.rs",
        "crates/roofline/src/commands/measure*",
        "crates/roofline/src/commands/take.rs",
    ];
    [MEASURING, &commands].concat()
}

/// The last revision that changed any of these sources; empty where nobody knows it.
pub(crate) fn revision(root: &Path, of: &[&str]) -> String {
    // Binaries that were carried to another machine bring their revision along.
    std::env::var("ROOFLINE_REVISION").unwrap_or_else(|_| {
        let git = |arguments: &[&str]| {
            let output = Command::new("git").args(arguments).current_dir(root).output();
            output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
        };
        let revision = git(&[&["log", "-1", "--format=%h", "--abbrev=10", "--"], of].concat());
        let changed = git(&[&["status", "--porcelain", "--untracked-files=no", "--"], of].concat());
        if changed.is_empty() { revision } else { format!("{revision}-dirty") }
    })
}

/// The time of day to the minute.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%MZ").to_string()
}
