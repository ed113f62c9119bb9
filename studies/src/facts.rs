//! What a page of results says of how it was made.

use roofline_conductor::machine::Machine;
use std::path::Path;
use std::process::Command;

/// What was used, for whoever does it again.
pub(crate) fn facts(machine: &Machine, root: &Path, command: &str) -> Vec<(&'static str, String)> {
    // Binaries that were carried to another machine bring their revision along.
    let revision = std::env::var("ROOFLINE_REVISION").or_else(|_| {
        let git = Command::new("git")
            .args(["describe", "--always", "--dirty", "--abbrev=10"])
            .current_dir(root)
            .output();
        git.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    });
    let lines = machine.to_string();
    let fact = |name: &str| {
        let line = lines.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("  "));
        line.unwrap_or("not visible").trim().to_owned()
    };
    vec![
        ("command", format!("`{command}`")),
        ("finished", jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%MZ").to_string()),
        ("Roofline", format!("{}, revision {}", env!("CARGO_PKG_VERSION"), revision.unwrap_or_default())),
        ("machine", format!("`{}`", machine.fingerprint())),
        ("processor", fact("processor")),
        ("cores", fact("cores")),
        ("system", fact("kernel")),
        ("compiler", fact("compiler")),
    ]
}
