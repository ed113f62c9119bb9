//! `roofline runners install`: what a Python runner needs, in an environment of Roofline's own.
//!
//! The environment is made where it stays, for it cannot be moved, and counts from the moment that its
//! marker is written: after pip has ended well. Whatever ends this before leaves none.

use crate::args::{Install, Places};
use crate::commands::offers::{HELLO, learn};
use crate::error::{Problem, tell};
use crate::places;
use roofline_conductor::home;
use roofline_conductor::offers::OfferCache;
use roofline_conductor::runners::RunnerSpec;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

pub fn run(args: &Install) -> Result<ExitCode, Problem> {
    let places = &args.places();
    let specs = places::runners(places)?;
    let spec = super::offers::find(&specs, &args.name)?;
    let Some(requirements) = &spec.requirements else {
        let why = format!("`{}` has no requirements.txt, so that there is nothing to install", spec.name);
        return Err(Problem::usage(why, spec.hint.clone()));
    };
    let (Some(folder), Some(marker)) = (home::environment(&spec.name), home::marker(&spec.name)) else {
        let hint = "set HOME, or ROOFLINE_HOME to the folder in which environments shall lie";
        return Err(Problem::own("there is no place for an environment").with_hint(hint));
    };
    let failed = |error: io::Error| {
        Problem::own(format!("`{}`: {error}", folder.display()))
            .with_hint("ROOFLINE_HOME names another place")
    };
    fs::create_dir_all(&folder).map_err(failed)?;
    let _lock = lock(&folder).map_err(failed)?;
    let python = match &args.python {
        Some(python) => named(python)?,
        None => {
            if marker.exists() {
                fs::remove_file(&marker).map_err(failed)?;
            }
            make(spec, &folder, requirements, args.index_url.as_deref())?
        }
    };
    // An interpreter that is there already changes nothing in the environment of before: where it will not do, that one stays.
    let now = format!("{}\n", python.display());
    let before = fs::read_to_string(&marker).ok().filter(|before| *before != now);
    fs::write(&marker, now).map_err(failed)?;
    let answer = answer(spec, places, &python, requirements);
    if answer.is_err() {
        let _ = before.map_or_else(|| fs::remove_file(&marker), |before| fs::write(&marker, before));
    }
    answer
}

/// Keeps a second installation of the same runner waiting, until this process ends.
fn lock(folder: &Path) -> io::Result<File> {
    let file = File::create(folder.with_extension("lock"))?;
    file.lock()?;
    Ok(file)
}

/// The full path of an interpreter that is there already.
fn named(python: &Path) -> Result<PathBuf, Problem> {
    let mut command = Command::new(python);
    command.args(["-c", "import sys; print(sys.executable)"]).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| {
        let why = format!("`{}` could not be started: {error}", python.display());
        Problem::usage(why, NO_PROGRAM)
    })?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if output.status.success() && path.is_absolute() {
        return Ok(path);
    }
    let why = format!("`{}` is no Python interpreter that works: {}", python.display(), output.status);
    Err(Problem::usage(why, NO_PROGRAM))
}

const NO_PROGRAM: &str = "name the program itself, such as `/usr/bin/python3`";

fn not_started(python: &Path, error: &io::Error) -> Problem {
    let why = format!("`{}` could not be started: {error}", python.display());
    Problem::usage(why, "install Python 3.11 or later, or name an interpreter by ROOFLINE_PYTHON")
}

/// A fresh environment with the runner's packages; gives its interpreter.
fn make(
    spec: &RunnerSpec,
    folder: &Path,
    requirements: &Path,
    index: Option<&str>,
) -> Result<PathBuf, Problem> {
    let size = if spec.download.is_empty() { "an unknown amount" } else { &spec.download };
    tell(&format!("{}: about {size} to download, into {}", spec.name, folder.display()));
    let system = std::env::var_os("ROOFLINE_PYTHON").filter(|python| !python.is_empty());
    let system = PathBuf::from(system.unwrap_or_else(|| "python3".into()));
    let mut venv = Command::new(&system);
    venv.args(["-m", "venv", "--clear"]).arg(folder);
    step(&mut venv, &system, "could not make a virtual environment", || {
        "Python's module `venv` must work: on Debian, `apt-get install python3-venv`".to_owned()
    })?;
    let python = folder.join("bin/python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--requirement"]).arg(requirements);
    if let Some(index) = index {
        pip.args(["--index-url", index]);
    }
    step(&mut pip, &python, &format!("pip could not install what `{}` needs", spec.name), || {
        format!(
            "see pip's message above; `--index-url URL` names another package index, `--python INTERPRETER` \
             an interpreter that has the packages of {}",
            requirements.display()
        )
    })?;
    Ok(python)
}

/// Runs a command whose output is talk.
fn step(command: &mut Command, program: &Path, what: &str, hint: impl Fn() -> String) -> Result<(), Problem> {
    let status = command.stdin(Stdio::null()).stdout(io::stderr()).status();
    let status = status.map_err(|error| not_started(program, &error))?;
    if status.success() { Ok(()) } else { Err(Problem::own(format!("{what}: {status}")).with_hint(hint())) }
}

/// Asks the runner by its new interpreter, for an environment that does not work is none.
fn answer(
    spec: &RunnerSpec,
    places: &Places,
    python: &Path,
    requirements: &Path,
) -> Result<ExitCode, Problem> {
    let specs = places::runners(places)?;
    let spec = super::offers::find(&specs, &spec.name)?;
    let file = places::offers_file(places);
    match learn(spec, &mut OfferCache::read(&file), &file, HELLO) {
        Ok(hello) => {
            super::show(&format!("{} {} is ready, by {}\n", spec.name, hello.version, python.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => {
            let packages = format!("`{} -m pip install -r {}`", python.display(), requirements.display());
            Err(Problem::nothing(
                format!("runner `{}`: {why}", spec.name),
                format!("install its packages: {packages}"),
            ))
        }
    }
}
