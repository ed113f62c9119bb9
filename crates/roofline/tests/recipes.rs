//! The recipes of CONTRIBUTING.md, followed to the letter.
//!
//! A copy of the tree is changed by the blocks of the page, built, and what they add is checked by the gate. The
//! copy and its build are kept under the target folder: files that stay the same are not written, so that a
//! second run builds nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Headings of the recipes.
const RECIPES: [&str; 5] = ["An operation", "An implementation", "A runner", "A suite", "A format"];

/// A recipe with more lines than this is no longer a thing one adds in passing.
const MOST_LINES: usize = 60;

const CASE: &str = "mul/f32/rows=64,cols=1000";

#[test]
fn recipes_are_short() {
    let blocks = blocks(&page());
    for recipe in RECIPES {
        let lines: usize = blocks.iter().filter(|block| block.section == recipe).map(Block::lines).sum();
        assert!(lines > 0, "CONTRIBUTING.md has no block with `file=` under `## {recipe}`");
        assert!(lines < MOST_LINES, "`{recipe}` takes {lines} lines; {MOST_LINES} is too many");
    }
    let strangers = blocks.iter().find(|block| !RECIPES.contains(&block.section.as_str()));
    assert!(strangers.is_none(), "a block outside of the recipes: {strangers:?}");
}

#[test]
fn recipes_work() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recipes");
    let tree = place.join("tree");
    fs::create_dir_all(&tree).expect("a folder under the target folder");
    // Two runs at once would write each other's tree.
    let lock = File::create(place.join("lock")).expect("a lock file");
    lock.lock().expect("the lock of the recipes");

    let mut files = tracked_files();
    for block in blocks(&page()) {
        block.apply(&mut files);
    }
    write_tree(&tree, &files);
    let program = build(&tree, &place.join("target"));
    let roofline = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        succeed(command.current_dir(&tree).args(arguments), "follow CONTRIBUTING.md by hand to see it")
    };

    assert!(roofline(&["list", "ops"]).contains("mul "), "the operation is not listed");
    let cases = roofline(&["list", "cases", "--suite", "products"]);
    let cases: Vec<&str> = cases.lines().collect();
    assert_eq!(cases.len(), 10, "{cases:?}");
    for case in ["mul/bf16/rows=64,cols=17", "mul/f32/rows=1024,cols=1024/threads=2"] {
        assert!(cases.contains(&case), "the suite lacks {case}: {cases:?}");
    }

    let store = tempfile::tempdir().expect("a temporary folder");
    let store = store.path().join("roofline.db").display().to_string();
    let check = |select: &[&str], format: &str| {
        let arguments = [&["check"], select, &["--store", &store, "--format", format]].concat();
        roofline(&arguments)
    };
    let report = check(&[CASE, "-i", "cpu/*,mine/*"], "json");
    assert_eq!(statuses(&report), expected(&["cpu/plain", "mine/map"]), "{report}");
    let report = check(&["mul/bf16/rows=64,cols=1000", "mul/f16/rows=3,cols=17"], "json");
    assert_eq!(statuses(&report), expected(&["cpu/plain"]), "{report}");
    let report = check(&[CASE], "tsv");
    assert_eq!(report, format!("{CASE}\tcpu/plain\tok\t\n"));
}

/// What became of each implementation in a report as JSON.
fn statuses(report: &str) -> BTreeSet<(String, String)> {
    let report: serde_json::Value = serde_json::from_str(report).expect("`--format json` prints JSON");
    let records = report["records"].as_array().expect("a report has records");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    records.iter().map(|record| (text(&record["implementation"]), text(&record["status"]))).collect()
}

fn expected(implementations: &[&str]) -> BTreeSet<(String, String)> {
    implementations.iter().map(|name| ((*name).to_owned(), "ok".to_owned())).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md")
}

/// A code block with `file=PATH` in its first line.
#[derive(Debug)]
struct Block {
    section: String,
    path: String,
    is_change: bool,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let (mut blocks, mut section, mut lines) = (Vec::new(), String::new(), page.lines());
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut section);
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let text: String =
            lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        let Some((language, path)) = info.split_once(" file=") else { continue };
        let is_change = language == "diff";
        blocks.push(Block { section: section.clone(), path: path.trim().to_owned(), is_change, text });
    }
    blocks
}

impl Block {
    /// Lines that somebody who follows the recipe writes.
    fn lines(&self) -> usize {
        self.text.lines().filter(|line| !self.is_change || line.starts_with('+')).count()
    }

    fn apply(&self, files: &mut BTreeMap<String, Vec<u8>>) {
        let Block { path, text, .. } = self;
        if !self.is_change {
            let old = files.insert(path.clone(), text.clone().into_bytes());
            assert!(old.is_none(), "CONTRIBUTING.md adds `{path}`, which is there already");
            return;
        }
        let old =
            files.get(path).unwrap_or_else(|| panic!("CONTRIBUTING.md changes `{path}`, which is not there"));
        let mut new = String::from_utf8(old.clone()).expect("a changed file is text");
        for hunk in text.split("@@\n") {
            let side = |leave_out: char| -> String {
                let lines = hunk.lines().filter(|line| !line.starts_with(leave_out));
                lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
            };
            let (before, after) = (side('+'), side('-'));
            let found = new.matches(&before).count();
            assert!(
                found == 1 && !before.is_empty(),
                "CONTRIBUTING.md changes `{path}` where these lines stand, which is at {found} places:\n{before}"
            );
            new = new.replace(&before, &after);
        }
        files.insert(path.clone(), new.into_bytes());
    }
}

/// Files that are, or are about to be, under version control, with their content.
fn tracked_files() -> BTreeMap<String, Vec<u8>> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let names = succeed(&mut git, "run the tests in a clone, with git installed");
    let files = names.split('\0').filter(|name| !name.is_empty());
    files.filter_map(|name| Some((name.to_owned(), fs::read(root().join(name)).ok()?))).collect()
}

/// Makes `tree` hold exactly these files, and leaves alone those that do already.
fn write_tree(tree: &Path, files: &BTreeMap<String, Vec<u8>>) {
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(tree).expect("a path of the tree").display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if !files.contains_key(&name) {
                fs::remove_file(path).expect("a file that can be removed");
            }
        }
    }
    for (name, content) in files {
        let path = tree.join(name);
        if fs::read(&path).is_ok_and(|old| old == *content) {
            continue;
        }
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder of the tree");
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Builds the command line of the tree; everything it needs was fetched to build this test.
fn build(tree: &Path, target: &Path) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(tree).args(["build", "--offline", "--quiet", "--package", "roofline"]);
    // What the blocks say is under test, not how fast it is: build as quickly as can be.
    cargo
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    succeed(&mut cargo, "a block of CONTRIBUTING.md no longer fits the code");
    target.join("debug/roofline")
}

/// What a command prints, if it ends well.
fn succeed(command: &mut Command, hint: &str) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| {
        panic!("`{}` could not be started: {error}", command.get_program().display())
    });
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}\nhint: {hint}");
    stdout.into_owned()
}
