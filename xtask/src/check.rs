//! `cargo xtask check`: everything that needs no test run. All steps run, then the failures are listed. `cargo xtask
//! test` begins with those that need nothing built.

use crate::step::{self, Failure};
use crate::{generate, tidy};
use std::path::Path;
use std::process::{Command, ExitCode};

type Step = (&'static str, fn(&Path) -> Result<(), Failure>);

const STEPS: &[Step] = &[
    ("format", format),
    ("clippy", clippy),
    ("deny", deny),
    ("tidy", |root| tidy::hold(root)),
    ("crates", crates),
    ("ruff", ruff),
];

pub(crate) fn run(_: &[String]) -> Result<ExitCode, Failure> {
    let root = step::workspace_root();
    let mut failures = hold(&root);
    failures.extend(step::timed("generated", || generate::compare(&root)).err());
    Ok(step::conclude(&failures))
}

/// What is wrong with the sources as they stand.
pub(crate) fn hold(root: &Path) -> Vec<Failure> {
    STEPS.iter().filter_map(|(name, work)| step::timed(name, || work(root)).err()).collect()
}

/// Whether a tool of cargo's is there; a toolchain may come without it.
fn has(tool: &str) -> bool {
    let found = Command::new("cargo").args([tool, "--version"]).output();
    let is_there = found.is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: `cargo {tool}` is not installed");
    }
    is_there
}

fn format(root: &Path) -> Result<(), Failure> {
    if !has("fmt") {
        return Ok(());
    }
    step::command("format", step::cargo(root).args(["fmt", "--all", "--check"]), "run `cargo fmt --all`")
}

fn clippy(root: &Path) -> Result<(), Failure> {
    if !has("clippy") {
        return Ok(());
    }
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    step::command(
        "clippy",
        step::cargo(root).args(arguments),
        "follow the advice above; `cargo clippy --fix` does some",
    )
}

fn deny(root: &Path) -> Result<(), Failure> {
    if !step::is_installed("cargo-deny") {
        println!("skipped: cargo-deny is not installed");
        return Ok(());
    }
    let arguments = ["deny", "check", "licenses", "bans", "sources"];
    step::command("deny", step::cargo(root).args(arguments), "`deny.toml` says what is allowed and why")
}

/// Every crate can be packed: what it needs has a version beside its path, and its files are there. Nothing is compiled.
fn crates(root: &Path) -> Result<(), Failure> {
    let arguments = ["package", "--workspace", "--no-verify", "--allow-dirty", "--offline", "--quiet"];
    step::command("crates", step::cargo(root).args(arguments), "mend the manifest that is named")
}

fn ruff(root: &Path) -> Result<(), Failure> {
    if !step::is_installed("ruff") {
        println!("skipped: ruff is not installed");
        return Ok(());
    }
    let mut ruff = Command::new("ruff");
    step::command("ruff", ruff.current_dir(root).args(["check", "runners"]), "run `ruff check --fix runners`")
}
