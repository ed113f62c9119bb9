//! What is compared: builds of a library, a Python file, a repository; and how it is asked about, as people ask.

use super::{Kind, Line, Size};
use crate::facts::now;
use crate::noise_study::load::Load;
use roofline_core::record::Record;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const CASE: &str = "add/f32/rows=64,cols=256";
/// Time for one comparison.
pub(super) const BUDGET: &str = "3s";
pub(super) const BUDGET_SECONDS: f64 = 3.0;
/// The difference that `--detect` is asked about.
const DETECT: &str = "1%";

impl Size {
    /// Passes over the tensors.
    fn passes(self) -> u32 {
        match self {
            Size::Short => 2,
            Size::Long => 50,
        }
    }
}

/// A folder with builds of a library, a Python file twice, and a repository.
pub(super) struct Scene {
    program: PathBuf,
    folder: PathBuf,
}

/// What a command said.
struct Said {
    code: i32,
    records: Vec<Record>,
    /// Seconds that were forecast, and those that it took from then on.
    forecast: Option<(f64, f64)>,
}

impl Scene {
    pub(super) fn new() -> io::Result<Scene> {
        let program = crate::bench::build(&["-p", "roofline"])?.join("roofline");
        let folder = std::env::temp_dir().join(format!("roofline-ab-study-{}", std::process::id()));
        let scene = Scene { program, folder };
        fs::create_dir_all(&scene.folder)?;
        let header = Command::new(&scene.program).arg("header").output()?;
        fs::write(scene.folder.join("roofline.h"), header.stdout)?;
        for size in [Size::Short, Size::Long] {
            for (side, more) in [("a", false), ("b", false), ("more", true)] {
                scene.library(&scene.file(size, side), size, more, "")?;
            }
        }
        for side in ["a", "b"] {
            fs::create_dir_all(scene.folder.join(side))?;
            fs::write(scene.folder.join(side).join("mine.py"), PYTHON)?;
        }
        scene.repository()?;
        Ok(scene)
    }

    /// The library of a side.
    fn file(&self, size: Size, side: &str) -> String {
        format!("{}-{side}/mine.so", size.name())
    }

    fn library(&self, file: &str, size: Size, more: bool, unused: &str) -> io::Result<()> {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        let source = self.folder.join("mine.c");
        fs::write(&source, library_source(size, more, unused))?;
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-shared", "-fPIC", "-I"]).arg(&self.folder).arg("-o").arg(path).arg(source);
        succeed(&mut cc)
    }

    fn repository(&self) -> io::Result<()> {
        let folder = self.folder.join("repository");
        fs::create_dir_all(&folder)?;
        fs::copy(self.folder.join("roofline.h"), folder.join("roofline.h"))?;
        fs::write(folder.join("mine.c"), library_source(Size::Short, false, ""))?;
        let build = "cc -O1 -shared -fPIC -o mine.so mine.c";
        let project = format!("[build]\ncommand = '{build}'\nartefacts = ['mine.so']\n");
        fs::write(folder.join("roofline.toml"), project)?;
        fs::write(folder.join(".gitignore"), "mine.so\n.roofline\ncomment.md\n")?;
        let who = ["-c", "user.name=study", "-c", "user.email=study@example.invalid"];
        for words in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "kernels"]] {
            succeed(Command::new("git").args(who).args(words).current_dir(&folder))?;
        }
        Ok(())
    }

    /// One comparison, as people make it.
    pub(super) fn compare(
        &self,
        (kind, size): (Kind, Size),
        loaded: bool,
        number: usize,
        revision: &str,
    ) -> io::Result<Line> {
        let at_home = self.folder.as_path();
        let repository = self.folder.join("repository");
        let [a, b, more] = ["a", "b", "more"].map(|side| self.file(size, side));
        let budget = format!("--budget {BUDGET}");
        let (folder, words) = match kind {
            Kind::SameLibrary => (at_home, format!("ab {a} {b} {CASE} {budget}")),
            Kind::SamePython => (at_home, format!("ab a/mine.py b/mine.py {CASE} {budget}")),
            Kind::SameRevision => (&*repository, format!("ab HEAD . {CASE} {budget}")),
            Kind::Workflow => (&*repository, compare_step()?),
            Kind::Detect => (at_home, format!("ab {a} {b} {CASE} --detect {DETECT}")),
            Kind::UnusedFunction => {
                let lines = "    x += 1;\n".repeat(1 + number % 97);
                let unused = format!("int unused_{number}(volatile int x) {{\n{lines}    return x;\n}}\n");
                self.library("c/mine.so", size, false, &unused)?;
                (at_home, format!("ab {a} c/mine.so {CASE} {budget}"))
            }
            Kind::MoreByAb => (at_home, format!("ab {a} {more} {CASE} {budget}")),
            Kind::MoreByBaseline => {
                let keep = format!("run {CASE} --lib mine.so -i mine/* --quick --save before");
                fs::copy(self.folder.join(a), self.folder.join("mine.so"))?;
                self.call(at_home, &keep)?;
                fs::copy(self.folder.join(more), self.folder.join("mine.so"))?;
                let beside = "--baseline before --fail-on slower";
                (at_home, format!("run {CASE} --lib mine.so -i mine/* {beside} {budget}"))
            }
            Kind::MoreByFailOn => {
                fs::copy(self.folder.join(a), self.folder.join("old.so"))?;
                fs::copy(self.folder.join(more), self.folder.join("new.so"))?;
                let both = "--lib old.so --lib new.so -i old/*,new/*";
                (at_home, format!("run {CASE} {both} --against old --fail-on slower {budget}"))
            }
        };
        let load = if loaded { Some(Load::start()?) } else { None };
        let start = Instant::now();
        let said =
            if kind == Kind::Workflow { self.step(folder, &words)? } else { self.call(folder, &words)? };
        let seconds = start.elapsed().as_secs_f64();
        drop(load);
        let rounds = said.records.iter().filter_map(|record| {
            let rounds = record.rounds.as_ref()?;
            (rounds.hub != record.implementation && !record.implementation.starts_with("limit/"))
                .then_some(rounds)
        });
        let rounds: Vec<_> = rounds.collect();
        let word =
            rounds.iter().find_map(|rounds| rounds.comparison()).map_or("none", |found| found.word.name());
        Ok(Line {
            revision: revision.to_owned(),
            finished: now(),
            kind,
            size,
            loaded,
            word: word.to_owned(),
            again: rounds.iter().any(|rounds| rounds.before.is_some()),
            first: rounds.iter().find_map(|rounds| Some(rounds.before.as_ref()?.spent?.0)),
            code: said.code,
            seconds,
            forecast: said.forecast,
        })
    }

    /// A step of the workflow, as a runner of CI has it: its table is a comment, and all that counts is how it ends.
    fn step(&self, folder: &Path, line: &str) -> io::Result<Said> {
        let bin = self.program.parent().unwrap_or(&self.folder).display().to_string();
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell
            .args(["-c", line])
            .current_dir(folder)
            .env("PATH", path)
            .env("BASE", "main")
            .env("SELECT", CASE);
        let output = shell.env("HOME", &self.folder).output()?;
        Ok(Said { code: output.status.code().unwrap_or(-1), records: Vec::new(), forecast: None })
    }

    fn call(&self, folder: &Path, words: &str) -> io::Result<Said> {
        let mut child = Command::new(&self.program)
            .args(words.split(' '))
            .args(["--format", "jsonl", "--store"])
            .arg(self.folder.join("store.db"))
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // Both are read at once: whoever cannot get rid of the one writes no more of the other.
        let stdout = child.stdout.take().map(|mut stdout| {
            std::thread::spawn(move || {
                let mut text = String::new();
                stdout.read_to_string(&mut text).map(|_| text)
            })
        });
        let mut told = String::new();
        let mut forecast = None;
        if let Some(stderr) = child.stderr.take() {
            for line in BufReader::new(stderr).lines() {
                let line = line?;
                forecast = forecast.or_else(|| Some((forecast_of(&line)?, Instant::now())));
                told += &format!("{line}\n");
            }
        }
        let text =
            stdout.map(|reader| reader.join().map_err(|_| io::Error::other("its output was not read")));
        let text = text.transpose()?.transpose()?.unwrap_or_default();
        let code = child.wait()?.code().unwrap_or(-1);
        let records: Vec<Record> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if records.is_empty() {
            return Err(io::Error::other(told));
        }
        let forecast = forecast.map(|(seconds, at)| (seconds, at.elapsed().as_secs_f64()));
        Ok(Said { code, records, forecast })
    }

    pub(super) fn end(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.folder)
    }
}

/// The step of the workflow that compares, as docs/ci.md prints it.
fn compare_step() -> io::Result<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ci.md"))?;
    let steps = page.lines().filter_map(|line| line.trim().strip_prefix("run: "));
    let step = steps.map(str::to_owned).find(|step| step.contains("roofline ab"));
    step.ok_or_else(|| io::Error::other("docs/ci.md has no step that compares"))
}

/// Seconds that a line forecasts: `it takes 12 more sets: about 9 s; …`.
pub(super) fn forecast_of(line: &str) -> Option<f64> {
    let (_, time) = line.strip_prefix("it takes ")?.split_once("about ")?;
    let (number, unit) = time.split(';').next()?.split_once(' ')?;
    let seconds = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|number| number * seconds)
}

fn succeed(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// A library that adds, pass after pass, and perhaps a fiftieth more. Only a number tells the two apart: as other code the
/// loop of the one might be the quicker.
fn library_source(size: Size, more: bool, unused: &str) -> String {
    let passes = size.passes();
    let more = u32::from(more);
    format!(
        r#"#include "roofline.h"

{unused}
static const volatile int64_t more = {more};

static int add(const DLTensor *in, const DLTensor *out, roofline_job *job) {{
    (void)job;
    const float *x = in[0].data, *y = in[1].data;
    volatile float *z = out[0].data;
    int64_t all = out[0].shape[0] * out[0].shape[1];
    for (int again = 0; again <= {passes}; again++) {{
        int64_t elements = again < {passes} ? all : more * all * {passes} / 50;
        for (int64_t i = 0; i < elements; i++) z[i] = x[i] + y[i];
    }}
    return ROOFLINE_OK;
}}

static const roofline_offer offers[] = {{{{.name = "loop", .operation = "add", .dtypes = "f32", .launch = add}}}};
static const roofline_library library = {{ROOFLINE_INTERFACE, "1", offers, 1}};
const roofline_library *roofline_offers(void) {{ return &library; }}
"#
    )
}

const PYTHON: &str = r#"from array import array
from operator import add
from roofline_runner import implementation


@implementation("add", dtypes=["f32"])
def loop(job):
    x, y, z = (memory.cast("f") for memory in job.buffers())

    def launch():
        z[:] = array("f", map(add, x, y))

    return launch
"#;
