//! Steps of a task: commands that say what they do, how long they took, and what to do when they fail.

use std::fmt;
use std::io::{self, BufRead, BufReader, PipeReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

/// Why a task ended, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) step: String,
    pub(crate) why: String,
    pub(crate) hint: String,
}

impl Failure {
    pub(crate) fn new(step: &str, why: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure { step: step.to_string(), why: why.into(), hint: hint.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: step `{}` failed: {}\n\nhint: {}", self.step, self.why, self.hint)
    }
}

/// Tells of every failure, in the end; the exit code says whether there was one.
pub(crate) fn conclude(failures: &[Failure]) -> ExitCode {
    for failure in failures {
        eprintln!("\n{failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs `work` under a heading and prints its duration.
pub(crate) fn timed<T>(name: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    println!("\n==> {name}");
    let start = Instant::now();
    let result = work();
    let verdict = if result.is_ok() { "done" } else { "failed" };
    println!("<== {name}: {verdict} after {:.1} s", start.elapsed().as_secs_f64());
    result
}

pub(crate) fn skip(name: &str, reason: &str) {
    println!("\n==> {name}\n<== {name}: skipped: {reason}");
}

/// Runs a command to its end; its output goes to the terminal.
pub(crate) fn command(name: &str, command: &mut Command, hint: &str) -> Result<(), Failure> {
    let status = command.status().map_err(|error| not_started(name, command, &error, hint))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(name, describe(command, &status.to_string()), hint))
    }
}

/// Runs a command to its end, passes its output on line by line, and gives each line to `look`.
pub(crate) fn watch(
    name: &str,
    command: &mut Command,
    hint: &str,
    mut look: impl FnMut(&str),
) -> Result<(), Failure> {
    listen(name, command, hint, |line| {
        println!("{line}");
        look(line);
    })
}

/// Runs a command to its end, and gives each line of its output to `look`.
pub(crate) fn listen(
    name: &str,
    command: &mut Command,
    hint: &str,
    mut look: impl FnMut(&str),
) -> Result<(), Failure> {
    let (mut child, output) = start(command).map_err(|error| not_started(name, command, &error, hint))?;
    for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
        look(&String::from_utf8_lossy(&line));
    }
    let status = child.wait().map_err(|error| not_started(name, command, &error, hint))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(name, describe(command, &status.to_string()), hint))
    }
}

/// Starts a command with both of its streams in one.
fn start(command: &mut Command) -> io::Result<(Child, PipeReader)> {
    let (output, both) = io::pipe()?;
    let child = command.stdout(both.try_clone()?).stderr(both).spawn();
    // The command must not hold the end that is written to, or reading would not come to an end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok((child?, output))
}

/// What a command prints; `None` when it cannot be started or fails.
pub(crate) fn answer(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// Whether a program is there: `PROGRAM --version` answers.
pub(crate) fn is_installed(program: &str) -> bool {
    answer(Command::new(program).arg("--version")).is_some()
}

/// The cargo that started this task.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo
}

/// The folder that holds the workspace.
pub(crate) fn workspace_root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// The folder of build outputs.
pub(crate) fn target_folder(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

fn not_started(name: &str, command: &Command, error: &std::io::Error, hint: &str) -> Failure {
    Failure::new(name, describe(command, &error.to_string()), hint)
}

fn describe(command: &Command, what: &str) -> String {
    let program = Path::new(command.get_program());
    let words = program.file_name().into_iter().chain(command.get_args());
    let line: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    format!("`{}`: {what}", line.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_are_watched_to_their_end() {
        let mut lines = Vec::new();
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo out; echo skipped: none >&2; echo more; exit 3"]);
        let ended = watch("shell", &mut shell, "none", |line| lines.push(line.to_owned()));
        assert_eq!(lines, ["out", "skipped: none", "more"]);
        assert!(ended.is_err_and(|failure| failure.why.contains('3')));
    }
}
