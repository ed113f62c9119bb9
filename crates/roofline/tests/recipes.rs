//! The recipes of CONTRIBUTING.md, followed to the letter.
//!
//! A copy of the tree is changed by the blocks of the page, built, and what they add is checked by the gate. The
//! copy is kept under the target folder and built in there: files that stay the same are not written, so that a
//! second run builds nothing.

mod page;

use page::{Block, blocks, succeed, write_tree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Headings of the recipes.
const RECIPES: [&str; 5] = ["An operation", "An implementation", "A runner", "A suite", "A format"];

/// A recipe with more lines than this is no longer a thing one adds in passing.
const MOST_LINES: usize = 60;

const CASE: &str = "square/f32/rows=64,cols=1000";

#[test]
fn recipes_are_short() {
    let blocks: Vec<Block> = files(&page()).collect();
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

    let mut tree_files = tracked_files();
    for block in files(&page()) {
        block.apply(&mut tree_files);
    }
    write_tree(&tree, &tree_files);
    let program = build(&tree, &place.join("target"));
    let roofline = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        succeed(command.current_dir(&tree).args(arguments), "follow CONTRIBUTING.md by hand to see it")
    };

    assert!(roofline(&["list", "ops"]).contains("square "), "the operation is not listed");
    let cases = roofline(&["list", "cases", "--suite", "squares"]);
    let cases: Vec<&str> = cases.lines().collect();
    assert_eq!(cases.len(), 10, "{cases:?}");
    for case in ["square/bf16/rows=64,cols=17", "square/f32/rows=1024,cols=1024/threads=2"] {
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
    let report = check(&["square/bf16/rows=64,cols=1000", "square/f16/rows=3,cols=17"], "json");
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

/// The blocks of the page that write or change a file.
fn files(page: &str) -> impl Iterator<Item = Block> {
    blocks(page).into_iter().filter(|block| block.file().is_some())
}

fn page() -> String {
    fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md")
}

/// Files that are, or are about to be, under version control, with their content.
fn tracked_files() -> BTreeMap<String, Vec<u8>> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let names = succeed(&mut git, "run the tests in a clone, with git installed");
    let files = names.split('\0').filter(|name| !name.is_empty());
    files.filter_map(|name| Some((name.to_owned(), fs::read(root().join(name)).ok()?))).collect()
}

/// Builds the command line of the tree; everything it needs was fetched, and what others wrote was compiled, to build this
/// test.
fn build(tree: &Path, target: &Path) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(tree).args(["build", "--offline", "--quiet", "--package", "roofline"]);
    // What the blocks say is under test, not how fast it is: what is ours is built as quickly as can be.
    let ours = fs::read_dir(tree.join("crates")).expect("the crates of the tree").flatten();
    for name in ours.filter_map(|entry| entry.file_name().into_string().ok()) {
        cargo.args(["--config", &format!("profile.dev.package.{name}.opt-level=0")]);
    }
    cargo.env("CARGO_TARGET_DIR", target).env("CARGO_BUILD_BUILD_DIR", shared());
    succeed(&mut cargo, "a block of CONTRIBUTING.md no longer fits the code");
    target.join("debug/roofline")
}

/// Where this test was built.
fn shared() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder")
}
