//! Long studies, in a crate of their own so that tasks stay quick to build.

use crate::step::Failure;
use std::process::{Command, ExitCode};

/// Runs a study, which reads the arguments: `--help` tells them.
pub(crate) fn run(name: &str, arguments: &[String]) -> Result<ExitCode, Failure> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--release", "-p", "studies", "--", name])
        .args(arguments)
        .status()
        .map_err(|error| {
            Failure::new(name, format!("cargo could not be started: {error}"), "run it by `cargo xtask`")
        })?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
