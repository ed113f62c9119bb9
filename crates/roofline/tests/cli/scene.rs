//! A folder in which a test calls `roofline`, and what it can look at afterwards.

use roofline_core::record::Record;
use roofline_store::{Filter, Store};
use serde_json::Value;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What is given to a machine that is busy with other things before a test says that it hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Says what a test leaves out, past what captures its output.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

pub struct Scene {
    folder: tempfile::TempDir,
    /// The binary, at a path that belongs to this test alone.
    program: PathBuf,
    /// The name of a lock of its own; the machine's where there is none.
    lock: Option<String>,
    /// The home of a user of its own, who has not set `ROOFLINE_HOME`.
    home: Option<PathBuf>,
}

impl Scene {
    /// A folder with no runners, no suites but the one inside the binary, and no store.
    pub fn new() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        // This is the house, then, and nobody is in.
        std::fs::create_dir_all(folder.path().join("runners/python/roofline_runner")).unwrap();
        let original = Path::new(env!("CARGO_BIN_EXE_roofline"));
        Scene { folder, program: original.to_owned(), lock: None, home: None }
    }

    /// As [`Scene::new`], with a lock and a binary of its own, so that its processes can be told from others.
    pub fn alone() -> Scene {
        let mut scene = Scene::new();
        let copy = scene.path("roofline");
        if std::fs::hard_link(&scene.program, &copy).is_err() {
            std::fs::copy(&scene.program, &copy).unwrap();
        }
        scene.program = copy;
        scene.lock = Some(scene.folder.path().display().to_string());
        scene
    }

    /// As [`Scene::alone`], with the runners that are inside the binary: this folder `runners` is not the house.
    pub fn away() -> Scene {
        let scene = Scene::alone();
        std::fs::remove_dir_all(scene.path("runners/python")).unwrap();
        scene
    }

    /// Gives the user of this scene an empty home.
    pub fn home(&mut self, name: &str) {
        let home = self.path(name);
        std::fs::create_dir(&home).unwrap();
        self.home = Some(home);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        // Without links, as the process table shows it.
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The name of its own lock.
    pub fn lock(&self) -> Option<&str> {
        self.lock.as_deref()
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn store(&self) -> PathBuf {
        self.path("store.db")
    }

    /// A command with the environment that the binary sees everywhere in these tests.
    pub fn dress(&self, mut command: Command) -> Command {
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        if let Some(lock) = &self.lock {
            command.env("ROOFLINE_LOCK", lock);
        }
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM", "ROOFLINE_PYTHON"] {
            command.env_remove(name);
        }
        // Environments and caches of whoever runs the tests are none of theirs.
        match &self.home {
            Some(home) => command.env("HOME", home).env_remove("ROOFLINE_HOME"),
            None => command.env("ROOFLINE_HOME", self.path("home")),
        };
        for name in ["XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
        command
    }

    /// `roofline` with words that a space separates.
    pub fn command(&self, words: &str) -> Command {
        let mut command = self.dress(Command::new(&self.program));
        command.args(words.split_whitespace());
        command
    }

    /// `roofline check` or another verb, with this scene's store.
    pub fn with_store(&self, words: &str) -> Command {
        let mut command = self.command(words);
        command.arg("--store").arg(self.store());
        command
    }

    pub fn call(&self, words: &str) -> Outcome {
        self.outcome(self.command(words))
    }

    pub fn call_with_store(&self, words: &str) -> Outcome {
        self.outcome(self.with_store(words))
    }

    /// A line of shell, with `roofline` in the path.
    pub fn shell(&self, line: &str) -> Outcome {
        let mut command = self.dress(Command::new("bash"));
        let mut path = self.program.parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.args(["-c", line]).env("PATH", path);
        self.outcome(command)
    }

    /// A Python script, for what has to be done between fork and exec, or on a terminal.
    pub fn python(&self, script: &str, words: &[&str]) -> Outcome {
        let mut command = self.dress(Command::new("python3"));
        command.arg("-c").arg(script).arg(&self.program).args(words);
        self.outcome(command)
    }

    pub fn outcome(&self, command: Command) -> Outcome {
        Outcome::again(command, self.lock.is_none())
    }

    /// Records in the store, read by another process than the one that writes them.
    pub fn records(&self) -> Vec<Record> {
        let store = Store::open_read_only(self.store()).unwrap();
        let reading = store.records(&Filter::default()).unwrap();
        assert!(reading.damaged.is_empty(), "{:?}", reading.damaged);
        reading.found
    }

    /// Records in a store that may not be there yet, or be locked by its writer.
    pub fn records_so_far(&self) -> Vec<Record> {
        let read = || Store::open_read_only(self.store()).ok()?.records(&Filter::default()).ok();
        read().map(|reading| reading.found).unwrap_or_default()
    }

    /// Processes of this scene: those of its binary, and those that work in its folder.
    pub fn processes(&self) -> Vec<u32> {
        let own = self.path("");
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_own = |pid: &u32| {
            ["exe", "cwd"].iter().any(|link| {
                std::fs::read_link(format!("/proc/{pid}/{link}")).is_ok_and(|path| path.starts_with(&own))
            })
        };
        pids.filter(is_own).collect()
    }

    /// A runner of one Python file that uses the package of `runners/python`, called as its folder.
    pub fn python_runner(&self, folder: &str, code: &str) -> PathBuf {
        let name = folder.rsplit('/').next().unwrap();
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runners/python").canonicalize();
        let package = package.unwrap();
        let toml = format!(
            "name = \"{name}\"\ncommand = [\"{{python}}\", \"main.py\"]\nhint = \"read main.py\"\n\
             [environment]\nPYTHONPATH = \"{}\"\nPYTHONDONTWRITEBYTECODE = \"1\"\n",
            package.display()
        );
        self.write(&format!("{folder}/main.py"), code);
        self.write(&format!("{folder}/runner.toml"), &toml).parent().unwrap().to_owned()
    }

    /// A runner that is a shell script, called as its folder.
    pub fn shell_runner(&self, folder: &str, script: &str) -> PathBuf {
        let name = folder.rsplit('/').next().unwrap();
        let program = self.write(&format!("{folder}/go"), &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let toml = format!("name = \"{name}\"\ncommand = [\"./go\"]\nhint = \"read the script\"\n");
        self.write(&format!("{folder}/runner.toml"), &toml).parent().unwrap().to_owned()
    }
}

/// Waits until `done`, at most [`PATIENCE`].
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "still waiting: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process, or with a minus before the number to its group.
pub fn send(signal: &str, target: &str) {
    let sent = Command::new("kill").args([signal, "--", target]).status().unwrap();
    assert!(sent.success(), "kill {signal} {target}");
}

/// Starts a command in a process group of its own, with pipes.
pub fn start(mut command: Command) -> Child {
    use std::os::unix::process::CommandExt;
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What a command printed and how it ended.
pub struct Outcome {
    /// 128 and the signal for a command that a signal ended.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// The command, where it can be called again as it was, and whether it shares the machine's lock.
    command: Option<(Command, bool)>,
}

impl Outcome {
    pub fn of(output: std::io::Result<Output>) -> Outcome {
        use std::os::unix::process::ExitStatusExt;
        let output = output.unwrap();
        let code = output.status.code().or(output.status.signal().map(|signal| 128 + signal));
        let outcome = Outcome {
            code: code.unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            command: None,
        };
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        outcome
    }

    /// What a command did, but for having waited for another test where both share a lock.
    fn again(mut command: Command, shares_lock: bool) -> Outcome {
        let mut outcome = Outcome::of(command.output());
        if shares_lock {
            let said = outcome.stderr.split_inclusive('\n');
            outcome.stderr = said.filter(|line| !line.starts_with("another run is going on ")).collect();
        }
        Outcome { command: Some((command, shares_lock)), ..outcome }
    }

    /// Ends with `code`. What clocks have decided is decided anew, twice at most: their promise is that of an interval,
    /// on a machine that others use as well.
    #[track_caller]
    pub fn exits(mut self, code: i32) -> Outcome {
        for _ in 0..2 {
            let is_decision = [self.code, code].iter().all(|code| [0, 3].contains(code));
            // A row that was measured anew has no sets in common with the others.
            let is_undecided = self.code == 5 && self.stderr.contains("no target was decided");
            let is_doubted = self.code == 4 && self.stdout.contains("suspect") || is_undecided;
            let Some((command, shares_lock)) =
                self.command.take().filter(|_| self.code != code && (is_decision || is_doubted))
            else {
                break;
            };
            say(&format!("{} instead of {code}, once more: {command:?}\n{}", self.code, self.stdout));
            self = Outcome::again(command, shares_lock);
        }
        let start: String = self.stdout.chars().take(3000).collect();
        assert_eq!(self.code, code, "stdout:\n{start}\nstderr:\n{}", self.stderr);
        self
    }

    /// Ends with `code`, prints no result, and has each of `parts` in its message on standard error.
    #[track_caller]
    pub fn complains(self, code: i32, parts: &[&str]) -> Outcome {
        let outcome = self.exits(code);
        assert_eq!(outcome.stdout, "", "a message belongs on standard error: {}", outcome.stderr);
        for part in parts {
            assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
        }
        let messages = outcome.stderr.lines().filter(|line| line.starts_with("error") || line.contains("× "));
        assert_eq!(messages.count(), 1, "one message:\n{}", outcome.stderr);
        assert!(!outcome.stderr.contains('\x1b'), "colours on a pipe: {:?}", outcome.stderr);
        outcome
    }

    /// The records of `--format jsonl`.
    #[track_caller]
    pub fn rows(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The one row of `implementation`.
    #[track_caller]
    pub fn row(&self, implementation: &str) -> Value {
        let mut rows = self.rows();
        rows.retain(|row| row["implementation"] == implementation);
        assert_eq!(rows.len(), 1, "{implementation}: {}", self.stdout);
        rows.remove(0)
    }
}

/// Whether a table ends with this summary, and below it with the run that it is of.
pub fn is_end(table: &str, summary: &str) -> bool {
    // A busy machine is told of behind the summary.
    let mut lines = table.lines().rev().filter(|line| !line.starts_with("other programs took "));
    let is_run = |line: &str| line.strip_prefix("run ").is_some_and(|id| id.len() == 36);
    lines.next().is_some_and(is_run) && lines.next() == Some(summary)
}
