//! What `ab`, `--baseline` and `--fail-on` say of changes whose truth is known: of none, of one that only moves code, and of
//! a fiftieth more work; half of all beside another load.
//!
//! Each comparison is a line of the study's journal as soon as it is known.

use crate::facts::{MEASURING, now};
use crate::journal::{self, Journal};
use crate::noise_study::load::Load;
use roofline_core::record::Record;
use roofline_core::stats::median;
use roofline_core::verdict::Word;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const CASE: &str = "add/f32/rows=64,cols=256";
/// Time for one comparison.
const BUDGET: &str = "3s";
/// Passes over the tensors; a fiftieth of them is what must be found.
const PASSES: u32 = 50;
/// Of a hundred comparisons of the same, so many may be called different; of a fiftieth, so many must be found.
const MOST_FALSE: f64 = 0.01;
const LEAST_FOUND: f64 = 0.95;

/// A change, and the way by which it is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    SameLibrary,
    SamePython,
    SameRevision,
    /// Libraries that differ in a function that nobody calls: what moves may really be slower.
    UnusedFunction,
    /// A fiftieth more work.
    MoreByAb,
    MoreByBaseline,
    MoreByFailOn,
}

impl Kind {
    const ALL: [Kind; 7] = [
        Kind::SameLibrary,
        Kind::MoreByAb,
        Kind::SamePython,
        Kind::MoreByBaseline,
        Kind::SameRevision,
        Kind::MoreByFailOn,
        Kind::UnusedFunction,
    ];

    fn name(self) -> &'static str {
        match self {
            Kind::SameLibrary => "the same library, `ab`",
            Kind::SamePython => "the same Python file, `ab`",
            Kind::SameRevision => "the same revision, `ab`",
            Kind::UnusedFunction => "an unused function more, `ab`",
            Kind::MoreByAb => "2 % more work, `ab`",
            Kind::MoreByBaseline => "2 % more work, `--baseline`",
            Kind::MoreByFailOn => "2 % more work, `--fail-on`",
        }
    }

    fn is_same(self) -> bool {
        matches!(self, Kind::SameLibrary | Kind::SamePython | Kind::SameRevision)
    }

    fn is_more(self) -> bool {
        matches!(self, Kind::MoreByAb | Kind::MoreByBaseline | Kind::MoreByFailOn)
    }
}

/// One comparison: a line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub revision: String,
    pub finished: String,
    pub kind: Kind,
    pub loaded: bool,
    /// The word of the new side, and whether its first sets called for others.
    pub word: String,
    pub again: bool,
    pub code: i32,
    pub seconds: f64,
}

impl journal::Line for Line {
    fn revision(&self) -> &str {
        &self.revision
    }
}

impl Line {
    fn is_different(&self) -> bool {
        self.code != 0 || matches!(self.word.as_str(), "faster" | "slower")
    }
}

/// What is asked for on the command line.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Settings {
    /// End after so long
    #[arg(long, default_value_t = 10)]
    pub minutes: u32,
}

/// Runs until the time is over; answers with the page and whether all is as it must be.
pub fn run(settings: &Settings, command: &str, mut report: impl FnMut(&str)) -> io::Result<(String, bool)> {
    let journal: Journal<Line> = Journal::open("ab-study", MEASURING)?;
    let deadline = Instant::now() + Duration::from_secs(60) * settings.minutes;
    let scene = Scene::new()?;
    for number in journal.lines()?.len().. {
        if Instant::now() > deadline {
            break;
        }
        let kind = Kind::ALL[number % Kind::ALL.len()];
        let loaded = (number / Kind::ALL.len()) % 2 == 1;
        let line = scene.compare(kind, loaded, number, &journal.revision)?;
        let how = if loaded { ", loaded" } else { "" };
        report(&format!("{}{how}: {}, exit code {}", kind.name(), line.word, line.code));
        journal.add(&line)?;
    }
    scene.end()?;
    let (tables, is_well) = describe(&journal.lines()?);
    Ok((journal.publish("What comparisons say of known changes", command, &tables)?, is_well))
}

/// A folder with two builds of a library, a Python file twice, and a repository.
struct Scene {
    program: PathBuf,
    folder: PathBuf,
}

impl Scene {
    fn new() -> io::Result<Scene> {
        let program = crate::bench::build(&["-p", "roofline"])?.join("roofline");
        let folder = std::env::temp_dir().join(format!("roofline-ab-study-{}", std::process::id()));
        let scene = Scene { program, folder };
        fs::create_dir_all(&scene.folder)?;
        let header = Command::new(&scene.program).arg("header").output()?;
        fs::write(scene.folder.join("roofline.h"), header.stdout)?;
        scene.library("a/mine.so", PASSES, "")?;
        scene.library("b/mine.so", PASSES, "")?;
        scene.library("more/mine.so", PASSES + PASSES / 50, "")?;
        for side in ["a", "b"] {
            fs::write(scene.folder.join(side).join("mine.py"), PYTHON)?;
        }
        scene.repository()?;
        Ok(scene)
    }

    fn library(&self, file: &str, passes: u32, unused: &str) -> io::Result<()> {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        let source = self.folder.join("mine.c");
        fs::write(&source, library_source(passes, unused))?;
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-shared", "-fPIC", "-I"]).arg(&self.folder).arg("-o").arg(path).arg(source);
        succeed(&mut cc)
    }

    fn repository(&self) -> io::Result<()> {
        let folder = self.folder.join("repository");
        fs::create_dir_all(&folder)?;
        fs::copy(self.folder.join("roofline.h"), folder.join("roofline.h"))?;
        fs::write(folder.join("mine.c"), library_source(PASSES, ""))?;
        let build = "cc -O1 -shared -fPIC -o mine.so mine.c";
        let project = format!("[build]\ncommand = '{build}'\nartefacts = ['mine.so']\n");
        fs::write(folder.join("roofline.toml"), project)?;
        fs::write(folder.join(".gitignore"), "mine.so\n.roofline\n")?;
        let who = ["-c", "user.name=study", "-c", "user.email=study@example.invalid"];
        for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "kernels"]] {
            succeed(Command::new("git").args(who).args(words).current_dir(&folder))?;
        }
        Ok(())
    }

    /// One comparison, as people make it.
    fn compare(&self, kind: Kind, loaded: bool, number: usize, revision: &str) -> io::Result<Line> {
        let at_home = self.folder.as_path();
        let (folder, words) = match kind {
            Kind::SameLibrary => (at_home, format!("ab a/mine.so b/mine.so {CASE}")),
            Kind::SamePython => (at_home, format!("ab a/mine.py b/mine.py {CASE}")),
            Kind::SameRevision => (&*self.folder.join("repository"), format!("ab HEAD . {CASE}")),
            Kind::UnusedFunction => {
                let more = "    x += 1;\n".repeat(1 + number % 97);
                let unused = format!("int unused_{number}(volatile int x) {{\n{more}    return x;\n}}\n");
                self.library("c/mine.so", PASSES, &unused)?;
                (at_home, format!("ab a/mine.so c/mine.so {CASE}"))
            }
            Kind::MoreByAb => (at_home, format!("ab a/mine.so more/mine.so {CASE}")),
            Kind::MoreByBaseline => {
                let keep = format!("run {CASE} --lib mine.so -i mine/* --quick --save before");
                fs::copy(self.folder.join("a/mine.so"), self.folder.join("mine.so"))?;
                self.call(at_home, &keep)?;
                fs::copy(self.folder.join("more/mine.so"), self.folder.join("mine.so"))?;
                (at_home, format!("run {CASE} --lib mine.so -i mine/* --baseline before --fail-on slower"))
            }
            Kind::MoreByFailOn => {
                fs::copy(self.folder.join("a/mine.so"), self.folder.join("old.so"))?;
                fs::copy(self.folder.join("more/mine.so"), self.folder.join("new.so"))?;
                let both = "--lib old.so --lib new.so -i old/*,new/*";
                (at_home, format!("run {CASE} {both} --against old --fail-on slower"))
            }
        };
        let load = if loaded { Some(Load::start()?) } else { None };
        let start = Instant::now();
        let (code, records) = self.call(folder, &format!("{words} --budget {BUDGET}"))?;
        let seconds = start.elapsed().as_secs_f64();
        drop(load);
        let rounds = records.iter().filter_map(|record| {
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
            loaded,
            word: word.to_owned(),
            again: rounds.iter().any(|rounds| rounds.before.is_some()),
            code,
            seconds,
        })
    }

    fn call(&self, folder: &Path, words: &str) -> io::Result<(i32, Vec<Record>)> {
        let output = Command::new(&self.program)
            .args(words.split(' '))
            .args(["--format", "jsonl", "--store"])
            .arg(self.folder.join("store.db"))
            .current_dir(folder)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let records: Vec<Record> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        match records.is_empty() {
            true => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
            false => Ok((output.status.code().unwrap_or(-1), records)),
        }
    }

    fn end(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.folder)
    }
}

fn succeed(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// A library that adds, pass after pass.
fn library_source(passes: u32, unused: &str) -> String {
    format!(
        r#"#include "roofline.h"

{unused}
static int add(const DLTensor *in, const DLTensor *out, roofline_job *job) {{
    (void)job;
    const float *x = in[0].data, *y = in[1].data;
    volatile float *z = out[0].data;
    for (int again = 0; again < {passes}; again++)
        for (int64_t i = 0; i < out[0].shape[0] * out[0].shape[1]; i++) z[i] = x[i] + y[i];
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

/// The table of a page, and whether it is as it must be.
fn describe(lines: &[Line]) -> (String, bool) {
    let mut groups: BTreeMap<(Kind, bool), Vec<&Line>> = BTreeMap::new();
    for line in lines {
        groups.entry((line.kind, line.loaded)).or_default().push(line);
    }
    let mut text = "\n| change | load | comparisons | faster | slower | same | inconclusive | ended with 3 | median time |\n\
        |---|---|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for ((kind, loaded), lines) in &groups {
        let words = [Word::Faster, Word::Slower, Word::Same, Word::Inconclusive];
        let counts = words.map(|word| lines.iter().filter(|line| line.word == word.name()).count());
        let ended = lines.iter().filter(|line| line.code == 3).count();
        let seconds = median(&lines.iter().map(|line| line.seconds).collect::<Vec<f64>>()).unwrap_or(0.0);
        let [faster, slower, same, inconclusive] = counts;
        text += &format!(
            "| {} | {} | {} | {faster} | {slower} | {same} | {inconclusive} | {ended} | {seconds:.1} s |\n",
            kind.name(),
            if *loaded { "another" } else { "none" },
            lines.len(),
        );
    }
    let share = |of: &dyn Fn(&&Line) -> bool, is: &dyn Fn(&&&Line) -> bool| {
        let all: Vec<&Line> = lines.iter().filter(of).collect();
        (all.iter().filter(is).count(), all.len())
    };
    let (different, same) = share(&|line| line.kind.is_same(), &|line| line.is_different());
    let (found, more) = share(&|line| line.kind.is_more(), &|line| line.word == "slower" || line.again);
    text += &format!(
        "\nThe same called different: {different} of {same}. 2 % found: {found} of {more}, in {BUDGET} a row; what was found is \
         taken again before a run ends with 3.\n"
    );
    let is_well = different as f64 <= MOST_FALSE * same as f64 && found as f64 >= LEAST_FOUND * more as f64;
    (text, is_well)
}
