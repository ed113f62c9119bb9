//! `cargo xtask test`: from a bare machine with Rust and Python to a count of passed and failed tests.
//!
//! It begins with what `cargo xtask check` holds the sources to. Setting up and building end the task when they
//! fail; test runners all run, so that one failing test hides no other.

mod again;
mod lanes;
mod tally;

use crate::check;
use crate::generate;
use crate::peers;
use crate::step::{self, Failure};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use tally::Tally;

/// What Python runners under test need, and what our statistics are held to.
const PYTHON_PACKAGES: [(&str, &str); 2] = [("numpy", "2.4.6"), ("scipy", "1.17.1")];
/// NVRTC of CUDA 13, by the name that its package has there.
const CUDA_COMPILER: &str = "nvidia-cuda-nvrtc==13.2.86";
/// The oldest Python that these packages accept.
const OLDEST_PYTHON: (u32, u32) = (3, 11);

pub(crate) fn run(_: &[String]) -> Result<ExitCode, Failure> {
    let root = step::workspace_root();
    let mut tally = Tally::default();
    let mut failures = check::hold(&root);
    match set_up(&root) {
        Ok(python) => test(&root, &python, &mut tally, &mut failures),
        Err(failure) => failures.push(failure),
    }
    // A step that broke without a failing test is a failure too; the count must not read as success.
    if tally.failed == 0 {
        tally.failed = failures.len() as u64;
    }
    let code = step::conclude(&failures);
    println!();
    tally.left_out.iter().for_each(|line| println!("{line}"));
    if tally.skipped > 0 {
        println!("{} skipped", tally.skipped);
    }
    tally.fallen.iter().for_each(|name| println!("{}", again::told(name)));
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(code)
}

/// Installs and builds; answers with the Python that has what runners need.
fn set_up(root: &Path) -> Result<PathBuf, Failure> {
    step::timed("compiler", || c_compiler(root))?;
    benchmark_tools(root);
    let python = step::timed("python", || python_environment(root))?;
    cuda_compiler(root, &python);
    step::timed("build", || {
        let arguments = ["build", "--workspace", "--all-targets"];
        step::command("build", step::cargo(root).args(arguments), "mend the errors above")
    })?;
    build_c_example(root)?;
    if peers::has_rust(root) {
        step::timed("rust-peers", || peers::build_rust(root))?;
    } else {
        step::skip("rust-peers", "they take minutes; `cargo xtask peers` builds them, and then this does");
    }
    Ok(python)
}

fn test(root: &Path, python: &Path, tally: &mut Tally, failures: &mut Vec<Failure>) {
    failures.extend(step::timed("cargo test", || cargo_test(root, python, tally)).err());
    let folders = python_test_folders(root);
    if folders.is_empty() {
        step::skip("python tests", "no `tests/*.py` in a folder of `runners` or `studies`");
    }
    for folder in folders {
        let name = format!("python tests of {}", folder.file_name().unwrap_or_default().to_string_lossy());
        failures.extend(step::timed(&name, || python_tests(root, &name, python, &folder, tally)).err());
    }
    failures.extend(step::timed("generated", || generate::compare(root)).err());
}

fn c_compiler(root: &Path) -> Result<(), Failure> {
    if step::is_installed("cc") { Ok(()) } else { install(root, "compiler", "gcc") }
}

/// The tools whose files are read and that read ours: a program or file of each, and its package. Without them
/// their tests say so and pass.
const BENCHMARK_TOOLS: [(&str, &str); 4] = [
    ("/usr/bin/hyperfine", "hyperfine"),
    ("/usr/bin/g++", "g++"),
    ("/usr/include/benchmark/benchmark.h", "libbenchmark-dev"),
    ("/usr/share/benchmark/compare.py", "libbenchmark-tools"),
];

fn benchmark_tools(root: &Path) {
    for (place, package) in BENCHMARK_TOOLS {
        if !Path::new(place).exists() && step::timed(package, || install(root, package, package)).is_err() {
            step::skip(package, "it cannot be installed here; tests that need it are skipped");
        }
    }
}

/// The compiler of CUDA kernels, which needs no card: 50 MB to download, once. Without it their test says so and passes.
fn cuda_compiler(root: &Path, python: &Path) {
    let folder = step::target_folder(root).join("cuda-wheels");
    if folder.join("nvidia/cu13/lib/libnvrtc.so.13").is_file() {
        return;
    }
    let install = || {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"]);
        step::command("nvrtc", pip.arg(&folder).arg(CUDA_COMPILER), "pip must reach a package index")
    };
    if step::timed("nvrtc", install).is_err() {
        step::skip("nvrtc", "it cannot be installed here; CUDA kernels are not compiled");
    }
}

/// A virtual environment under the target folder, made once and kept.
fn python_environment(root: &Path) -> Result<PathBuf, Failure> {
    let folder = step::target_folder(root).join("venv");
    let python = folder.join("bin/python");
    let is_complete = || PYTHON_PACKAGES.iter().all(|(name, version)| has_package(&python, name, version));
    if is_complete() {
        return Ok(python);
    }
    let system_python = system_python()?;
    let make = || {
        let mut command = Command::new(&system_python);
        command.args(["-m", "venv", "--clear"]).arg(&folder);
        step::command(
            "python",
            &mut command,
            "`python3 -m venv` must work: on Debian, `apt-get install python3-venv`",
        )
    };
    if make().is_err() {
        install(root, "python", "python3-venv")?;
        make()?;
    }
    let wanted = PYTHON_PACKAGES.map(|(name, version)| format!("{name}=={version}"));
    step::command(
        "python",
        Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(wanted),
        "pip must reach a package index; see its message above",
    )?;
    if !is_complete() {
        let why = format!("packages are missing in {}", folder.display());
        return Err(Failure::new("python", why, "remove that folder and try again"));
    }
    Ok(python)
}

fn has_package(python: &Path, name: &str, version: &str) -> bool {
    let program = format!("import {name}; print({name}.__version__)");
    step::answer(Command::new(python).args(["-c", &program])).is_some_and(|found| found == version)
}

pub(crate) fn system_python() -> Result<String, Failure> {
    let candidates = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];
    let is_recent = |python: &&str| {
        let program = format!("import sys; sys.exit(sys.version_info < {OLDEST_PYTHON:?})");
        step::answer(Command::new(python).args(["-c", &program])).is_some()
    };
    candidates.iter().find(|python| is_recent(python)).map(ToString::to_string).ok_or_else(|| {
        let (major, minor) = OLDEST_PYTHON;
        Failure::new("python", format!("no Python {major}.{minor} or later"), "install one, as `python3`")
    })
}

fn build_c_example(root: &Path) -> Result<(), Failure> {
    let folder = root.join("runners/c-example");
    if !folder.join("c-example.c").exists() {
        step::skip("c-example", "no `runners/c-example`");
        return Ok(());
    }
    let arguments = ["-O2", "-Wall", "-Wextra", "-o", "c-example", "c-example.c", "-lm"];
    step::timed("c-example", || {
        step::command(
            "c-example",
            Command::new("cc").current_dir(&folder).args(arguments),
            "mend the errors above",
        )
    })
}

fn cargo_test(root: &Path, python: &Path, tally: &mut Tally) -> Result<(), Failure> {
    again::those_that_fall(tally, |more, tally| {
        if more.is_empty() {
            return lanes::run(root, python, tally);
        }
        let mut command = step::cargo(root);
        command.args(["test", "--workspace", "--no-fail-fast"]).args(more).env("ROOFLINE_PYTHON", python);
        let hint = "run one test alone with `cargo test -p CRATE NAME`";
        step::watch("cargo test", &mut command, hint, |line| tally.add_cargo(line))
    })
}

/// Folders of runners and of studies that have Python tests.
fn python_test_folders(root: &Path) -> Vec<PathBuf> {
    let paths =
        |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_python = |path: PathBuf| path.extension().is_some_and(|ending| ending == "py");
    let has_tests = |folder: &PathBuf| paths(folder.join("tests")).any(is_python);
    let all = ["runners", "studies"].into_iter().flat_map(|place| paths(root.join(place)));
    let mut folders: Vec<PathBuf> = all.filter(has_tests).collect();
    folders.sort();
    folders
}

fn python_tests(
    root: &Path,
    name: &str,
    python: &Path,
    folder: &Path,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let mut command = Command::new(python);
    command
        .args(["-m", "unittest", "discover", "-s", "tests"])
        .current_dir(folder)
        .env("PYTHONPATH", root.join("runners/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("ROOFLINE_PEERS", peers::folder(root))
        .env("ROOFLINE_PYTHON", python);
    let hint = format!("run them alone: `python -m unittest discover -s tests` in {}", folder.display());
    step::watch(name, &mut command, &hint, |line| tally.add_unittest(line))
}

/// Installs a package of the system, where this user may.
fn install(root: &Path, step_name: &str, package: &str) -> Result<(), Failure> {
    let is_root = step::answer(Command::new("id").arg("-u")).is_some_and(|id| id == "0");
    let apt = |arguments: &[&str]| {
        let mut command = if is_root { Command::new("apt-get") } else { Command::new("sudo") };
        if !is_root {
            command.args(["-n", "apt-get"]);
        }
        command.current_dir(root).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        step::command(
            step_name,
            &mut command,
            &format!("install the package `{package}` by hand, then try again"),
        )
    };
    let install = ["install", "-y", "--no-install-recommends", package];
    // Package lists of a fresh machine are often empty or old.
    apt(&install).or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
}
