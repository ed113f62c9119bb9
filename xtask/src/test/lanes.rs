//! Tests of cargo: those that only compute run beside those that measure.
//!
//! A test that measures waits most of its time: for its turn, for an answer, for a budget to pass. Meanwhile tests that
//! only compute take what the processors have left, as idle tasks of the system: whoever measures has a core the moment
//! that it wants one. The tests of clocks, who is honest and who lies about time, have the machine to themselves.

use super::tally::Tally;
use crate::step::{self, Failure};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Folders of packages whose tests only compute: references, kernels, texts.
const COMPUTING: [&str; 8] = [
    "crates/roofline-core",
    "crates/roofline-cpu",
    "crates/roofline-cuda",
    "crates/roofline-lanes",
    "crates/roofline-protocol",
    "crates/roofline-report",
    "crates/roofline-store",
    "xtask",
];

/// Folders of packages whose tests are of clocks: beside company, these excuse more, or doubt the honest.
const UNDISTURBED: [&str; 2] = ["crates/roofline", "studies"];

/// What makes a command an idle task.
const IDLE: [&str; 3] = ["chrt", "--idle", "0"];

/// A program that runs tests.
struct Tests {
    name: String,
    program: PathBuf,
    arguments: &'static [&'static str],
    /// The folder of its package, in which cargo runs it too.
    folder: PathBuf,
}

/// What became of tests so far.
struct Ended<'a> {
    tally: &'a mut Tally,
    /// Programs that failed.
    fallen: Vec<String>,
}

/// All tests of the workspace.
pub(super) fn run(root: &Path, python: &Path, tally: &mut Tally) -> Result<(), Failure> {
    let split = |tests: Vec<Tests>, folders: &[&str]| -> (Vec<Tests>, Vec<Tests>) {
        let is_of = |tests: &Tests| folders.iter().any(|folder| tests.folder.ends_with(folder));
        tests.into_iter().partition(is_of)
    };
    let (undisturbed, others) = split(programs(root)?, &UNDISTURBED);
    let (mut computing, measuring) = split(others, &COMPUTING);
    computing.push(documentation(root));
    let ended = Mutex::new(Ended { tally, fallen: Vec::new() });
    let run = |all: &[Tests], is_idle| all.iter().for_each(|tests| tests.run(is_idle, python, &ended));
    let can_be_idle = step::answer(Command::new(IDLE[0]).args(&IDLE[1..]).arg("true")).is_some();
    std::thread::scope(|scope| {
        let beside = can_be_idle.then(|| scope.spawn(|| run(&computing, true)));
        run(&measuring, false);
        if beside.is_none() {
            run(&computing, false);
        }
    });
    run(&undisturbed, false);
    let fallen = ended.into_inner().unwrap_or_else(PoisonError::into_inner).fallen;
    if fallen.is_empty() {
        return Ok(());
    }
    let hint = "run one test alone with `cargo test -p CRATE NAME`";
    Err(Failure::new("cargo test", format!("tests failed: {}", fallen.join("; ")), hint))
}

/// What the build made of the workspace's tests.
fn programs(root: &Path) -> Result<Vec<Tests>, Failure> {
    let mut cargo = step::cargo(root);
    cargo.args(["test", "--workspace", "--no-run", "--quiet", "--message-format=json"]);
    let said = step::answer(&mut cargo);
    let said =
        said.ok_or_else(|| Failure::new("cargo test", "no tests to run", "see `cargo test --no-run`"))?;
    Ok(said.lines().filter_map(|line| program(&serde_json::from_str(line).ok()?)).collect())
}

/// The program that a message of cargo's is about, if it is one that runs tests.
fn program(message: &Value) -> Option<Tests> {
    let program = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?.into();
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
    let (package, target) = (folder.file_name()?.to_string_lossy(), &message["target"]);
    let name = format!("tests of {package}, {} {}", target["kind"][0].as_str()?, target["name"].as_str()?);
    Some(Tests { name, program, arguments: &[], folder })
}

/// What comments show, which is compiled first.
fn documentation(root: &Path) -> Tests {
    let arguments = &["test", "--workspace", "--doc", "--no-fail-fast"];
    let (name, program) = ("tests of comments".to_owned(), step::cargo(root).get_program().into());
    Tests { name, program, arguments, folder: root.to_owned() }
}

impl Tests {
    /// Runs them. Of an idle task all that it has printed is shown when it ends, so that lines of two do not mix.
    fn run(&self, is_idle: bool, python: &Path, ended: &Mutex<Ended<'_>>) {
        let mut words: Vec<&OsStr> = if is_idle { IDLE.map(OsStr::new).to_vec() } else { Vec::new() };
        words.push(self.program.as_os_str());
        words.extend(self.arguments.iter().map(OsStr::new));
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.folder);
        command.env("CARGO_MANIFEST_DIR", &self.folder).env("ROOFLINE_PYTHON", python);
        let (mut own, start) = (Tally::default(), Instant::now());
        let mut said = format!("\n==> {}\n", self.name);
        let result = step::listen(&self.name, &mut command, "", |line| {
            own.add_cargo(line);
            said += line;
            said.push('\n');
            if !is_idle {
                print!("{}", std::mem::take(&mut said));
            }
        });
        let verdict = if result.is_ok() { "done" } else { "failed" };
        println!("{said}<== {}: {verdict} after {:.1} s", self.name, start.elapsed().as_secs_f64());
        let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(failure) = result {
            ended.fallen.push(failure.why);
            // Whoever died has counted nothing, and is no test that could be tried again.
            own.failed = own.failed.max(1);
        }
        ended.tally.add(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tests_of(script: &str) -> Tests {
        let script: &'static str = script.to_owned().leak();
        let arguments: &'static [&'static str] = vec!["-c", script].leak();
        Tests { name: "some".to_owned(), program: "sh".into(), arguments, folder: "/".into() }
    }

    #[test]
    fn who_dies_has_failed_without_a_name() {
        let mut tally = Tally::default();
        let ended = Mutex::new(Ended { tally: &mut tally, fallen: Vec::new() });
        let one = "echo test a ... FAILED; echo 'test result: FAILED. 1 passed; 1 failed'; exit 101";
        for script in ["echo 'test result: ok. 2 passed; 0 failed'", one, "kill -9 $$"] {
            tests_of(script).run(false, Path::new("python3"), &ended);
        }
        assert_eq!(ended.into_inner().unwrap().fallen.len(), 2);
        assert_eq!((tally.passed, tally.failed, &tally.fallen[..]), (3, 2, &["a".to_owned()][..]));
    }

    #[test]
    fn messages_of_cargo_name_programs_that_run_tests() {
        let message = |is_test: bool| {
            json!({
                "manifest_path": "/w/crates/roofline/Cargo.toml", "target": {"kind": ["test"], "name": "cli"},
                "profile": {"test": is_test}, "executable": "/w/target/debug/deps/cli-1",
            })
        };
        let tests = program(&message(true)).unwrap();
        assert_eq!(
            (tests.name.as_str(), tests.folder),
            ("tests of roofline, test cli", "/w/crates/roofline".into())
        );
        assert!(
            program(&message(false)).is_none() && program(&json!({"reason": "build-finished"})).is_none()
        );
    }

    #[test]
    fn folders_that_are_named_are_there() {
        let root = step::workspace_root();
        for folder in COMPUTING.into_iter().chain(UNDISTURBED) {
            assert!(root.join(folder).join("Cargo.toml").is_file(), "{folder}");
        }
    }
}
