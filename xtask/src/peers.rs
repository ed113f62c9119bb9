//! `cargo xtask peers`: torch, onnxruntime and jax for tests of their runners, under the target folder, and the
//! libraries of Rust in `runners/rust-peers`.
//!
//! They are a gigabyte to download and minutes to compile, so `cargo xtask test` does without them and says what it skips.
//! torch comes without its CUDA libraries (`runners/torch/dev/cpu_only.py`); users get the ordinary wheel.

use crate::step::{self, Failure};
use crate::test::system_python;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const PEERS: [&str; 3] = ["torch", "onnxruntime", "jax"];

pub(crate) fn run(_: &[String]) -> Result<ExitCode, Failure> {
    let root = step::workspace_root();
    for name in PEERS {
        step::timed(name, || make(&root, name))?;
    }
    step::timed("rust-peers", || build_rust(&root))?;
    Ok(ExitCode::SUCCESS)
}

fn rust(root: &Path) -> PathBuf {
    root.join("runners/rust-peers")
}

/// Whether the libraries of Rust were built once.
pub(crate) fn has_rust(root: &Path) -> bool {
    rust(root).join("target").is_dir()
}

/// Builds the libraries of Rust, a workspace with a lock file of its own, where their `runner.toml` looks for them.
pub(crate) fn build_rust(root: &Path) -> Result<(), Failure> {
    let folder = rust(root);
    let mut build = step::cargo(&folder);
    build.args(["build", "--release", "--locked", "--target-dir"]).arg(folder.join("target"));
    step::command("rust-peers", &mut build, "mend the errors above; cargo must reach a registry")
}

/// Where the environments lie; tests of runners look there.
pub(crate) fn folder(root: &Path) -> PathBuf {
    step::target_folder(root).join("peers")
}

fn make(root: &Path, name: &str) -> Result<(), Failure> {
    let (system, folder) = (system_python()?, folder(root).join(name));
    let hint = "see the message above; pip must reach a package index, and gcc be there for torch";
    if name == "torch" {
        let script = root.join("runners/torch/dev/cpu_only.py");
        return step::command(name, Command::new(system).arg(script).arg(folder), hint);
    }
    step::command(name, Command::new(system).args(["-m", "venv"]).arg(&folder), hint)?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    step::command(name, pip.arg(root.join("runners").join(name).join("requirements.txt")), hint)
}
