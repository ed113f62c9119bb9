//! Long studies, in a crate of their own so that tasks stay quick to build.

use crate::step::Failure;
use std::process::{Command, ExitCode};

pub(crate) fn mutations(arguments: &[String]) -> Result<ExitCode, Failure> {
    run("gate-mutations", arguments)
}

pub(crate) fn study(arguments: &[String]) -> Result<ExitCode, Failure> {
    run("gate-study", arguments)
}

pub(crate) fn seeds(arguments: &[String]) -> Result<ExitCode, Failure> {
    run("seeds-study", arguments)
}

pub(crate) fn noise(arguments: &[String]) -> Result<ExitCode, Failure> {
    run("noise-study", arguments)
}

pub(crate) fn share(arguments: &[String]) -> Result<ExitCode, Failure> {
    run("share-study", arguments)
}

pub(crate) fn trust(arguments: &[String]) -> Result<ExitCode, Failure> {
    run("trust-study", arguments)
}

pub(crate) fn sandbox(arguments: &[String]) -> Result<ExitCode, Failure> {
    run("sandbox-study", arguments)
}

fn run(name: &str, arguments: &[String]) -> Result<ExitCode, Failure> {
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
