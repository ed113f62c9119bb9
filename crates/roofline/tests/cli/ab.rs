//! `roofline ab`, `run --save` and `--baseline`: one thing beside what it was.

use crate::scene::{Outcome, Scene};
use std::process::Command;

const CASE: &str = "add/f32/rows=64,cols=256";

/// A library that adds, and does so `times` times over.
pub fn source(times: u32) -> String {
    format!(
        r#"
#include "roofline.h"

static int add(const DLTensor *in, const DLTensor *out, roofline_job *job) {{
    (void)job;
    const float *x = in[0].data, *y = in[1].data;
    volatile float *z = out[0].data;
    for (int again = 0; again < {times}; again++)
        for (int64_t i = 0; i < out[0].shape[0] * out[0].shape[1]; i++) z[i] = x[i] + y[i];
    return ROOFLINE_OK;
}}

static const roofline_offer offers[] = {{{{.name = "loop", .operation = "add", .dtypes = "f32", .launch = add}}}};
static const roofline_library library = {{ROOFLINE_INTERFACE, "1", offers, 1}};
const roofline_library *roofline_offers(void) {{ return &library; }}
"#
    )
}

/// A scene with the header, a Makefile that builds `mine.so` of `mine.c`, and a function that does so.
pub fn scene() -> Scene {
    let scene = Scene::alone();
    let header = scene.call("header").exits(0).stdout;
    scene.write("roofline.h", &header);
    scene
}

pub fn build(scene: &Scene, file: &str, times: u32) {
    let code = scene.write("mine.c", &source(times));
    let mut cc = Command::new("cc");
    let path = scene.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    cc.args(["-O1", "-shared", "-fPIC", "-o"]).arg(path).arg(code);
    Outcome::of(cc.output()).exits(0);
}

pub fn row<'a>(outcome: &'a Outcome, name: &str) -> &'a str {
    // The header names the hub as well.
    let mut rows = outcome.stdout.lines().filter(|line| line.contains("/f32/"));
    rows.find(|line| line.contains(name)).unwrap_or_else(|| panic!("{}", outcome.stdout))
}

#[test]
fn a_difference_that_is_to_show_sizes_the_run() {
    let scene = scene();
    build(&scene, "before/mine.so", 1);
    build(&scene, "after/mine.so", 3);
    let ab = |new: &str, rest: &str| {
        scene.call_with_store(&format!("ab before/mine.so {new}/mine.so {CASE} {rest}"))
    };
    let slower = ab("after", "--detect 50%").exits(3);
    let is_said =
        [" more sets: about ", "the first sets are enough"].iter().any(|word| slower.stderr.contains(word));
    assert!(is_said, "{}", slower.stderr);
    assert!(row(&slower, "new/loop").contains("slower"), "{}", slower.stdout);
    for (words, why) in [
        ("--detect 0.1%", "from 0.5 to 100"),
        ("--detect 1% --quick", "cannot be used with"),
        ("--detect 1% --delta 2", "cannot be used with"),
    ] {
        let outcome = ab("after", words).exits(2);
        assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
    }
}

#[test]
fn a_policy_says_what_blocks_and_who_may_say_otherwise() {
    let scene = scene();
    build(&scene, "before/mine.so", 1);
    build(&scene, "after/mine.so", 3);
    let ab = |rest: &str| {
        scene.call_with_store(&format!(
            "ab before/mine.so after/mine.so {CASE} --quick --fail-on policy {rest}"
        ))
    };
    let waiver = |expires: &str| {
        format!(
            "[[policy.waivers]]\ncases = 'add/*'\nauthor = 'Ada'\nreason = 'exact'\nexpires = '{expires}'\n"
        )
    };
    let unexplained = ab("--format junit").exits(3);
    assert!(unexplained.stderr.contains("slower by more than 5 %; mend it"), "{}", unexplained.stderr);
    assert!(unexplained.stdout.contains("failures=\"1\""), "{}", unexplained.stdout);
    scene.write("roofline.toml", &waiver("2999-12-31"));
    let waived = ab("--format markdown").exits(0);
    assert!(waived.stdout.contains("waived by Ada until 2999-12-31: exact"), "{}", waived.stdout);
    scene.write("roofline.toml", &waiver("2020-01-01"));
    assert!(ab("").exits(3).stderr.contains("expired on 2020-01-01"));
    let critical = format!("[policy]\ncritical = ['add/*']\n{}", waiver("2999-12-31"));
    scene.write("roofline.toml", &critical);
    assert!(ab("").exits(3).stderr.contains("not to be waived"));
    scene.write("roofline.toml", "[policy]\nmust-exit = []\n");
    let unknown = ab("").exits(2);
    assert!(unknown.stderr.contains("roofline.toml:2:1: unknown field `must-exit`"), "{}", unknown.stderr);
}

#[test]
fn many_that_are_slower_alike_are_told_by_a_policy_too() {
    let scene = scene();
    build(&scene, "before/mine.so", 1);
    build(&scene, "after/mine.so", 3);
    let cases = "add --dtype f32 --axis rows=16,32,64,128,256 --axis cols=256";
    let words = format!("ab before/mine.so after/mine.so {cases} --quick --fail-on policy --format markdown");
    let outcome = scene.call_with_store(&words).exits(3);
    assert!(outcome.stderr.contains("every row that differs is slower"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("every row that differs is slower: look first"), "{}", outcome.stdout);
}

#[test]
fn two_libraries_of_one_name_stand_beside_each_other() {
    let scene = scene();
    build(&scene, "before/mine.so", 1);
    build(&scene, "after/mine.so", 3);
    let ab = |old: &str, new: &str, rest: &str| {
        scene.call_with_store(&format!("ab {old} {new} {CASE} --quick {rest}"))
    };
    let slower = ab("before/mine.so", "after/mine.so", "").exits(3);
    assert!(
        row(&slower, "new/loop").contains("slower") && row(&slower, "old/loop").contains("ok"),
        "{}",
        slower.stdout
    );
    assert_eq!(slower.stderr.trim(), format!("slower: {CASE}@new/loop"));
    let faster = ab("after/mine.so", "before/mine.so", "--format markdown").exits(0);
    assert!(row(&faster, "new/loop").contains("faster"), "{}", faster.stdout);
    ab("before/mine.so", "after/mine.so", "--fail-on slower=100000%").exits(0);
    // What is surely slower is no better than what is not known.
    let known = ab("before/mine.so", "after/mine.so", "--fail-on inconclusive").exits(3);
    assert_eq!(known.stderr.trim(), format!("slower: {CASE}@new/loop"));
    let junit = ab("before/mine.so", "after/mine.so", "--format junit").exits(3);
    assert!(
        junit.stdout.contains("failures=\"1\"") && junit.stdout.contains("regression"),
        "{}",
        junit.stdout
    );
    // What a row says is how to see it again.
    let explained = scene.call_with_store(&format!("explain {CASE}@new/loop")).exits(0).stdout;
    let again = explained.lines().find_map(|line| line.strip_prefix("reproduce"));
    let again = again.unwrap_or_else(|| panic!("{explained}")).trim().replace("roofline ", "");
    assert!(again.starts_with("ab before/mine.so after/mine.so add/f32"), "{again}");
    scene.call(&format!("{again} --dry-run")).exits(0);
}

#[test]
fn two_python_files_of_one_name_do_too() {
    let scene = Scene::away();
    for (folder, times) in [("before", 1), ("after", 3)] {
        let text = "from array import array\nfrom operator import add\nfrom roofline_runner import implementation\n\
             from helper import TIMES\n\n\n@implementation(\"add\", dtypes=[\"f32\"])\ndef loop(job):\n    \
             x, y, z = (memory.cast(\"f\") for memory in job.buffers())\n\n    def launch():\n        \
             for _ in range(TIMES):\n            z[:] = array('f', map(add, x, y))\n\n    return launch\n";
        scene.write(&format!("{folder}/mine.py"), text);
        scene.write(&format!("{folder}/helper.py"), &format!("TIMES = {times}\n"));
    }
    let words = format!("ab before/mine.py after/mine.py {CASE} --quick");
    let outcome = scene.call_with_store(&words).exits(3);
    assert!(row(&outcome, "new/loop").contains("slower"), "{}", outcome.stdout);
}

/// A file with an operation of its own, and how it is computed.
fn doubled(formula: &str) -> String {
    format!(
        "from roofline_runner import implementation, operation\n\n\n\
         @operation(\"x[rows, cols] -> y[rows, cols]\", bound=\"{formula}\")\ndef double(x):\n    return 2 * x\n\n\n\
         @implementation(\"double\", dtypes=[\"f32\"])\ndef loop(job):\n    \
         x, y = (memory.cast(\"f\") for memory in job.buffers())\n\n    def launch():\n        \
         y[:] = type(y[:])(memoryview(bytes(x)).cast(\"f\"))\n\n    return launch\n"
    )
}

#[test]
fn an_operation_must_mean_the_same_on_both_sides() {
    let scene = Scene::away();
    scene.write("before/mine.py", &doubled("elementwise"));
    scene.write("after/mine.py", &doubled("exact"));
    let outcome = scene.call_with_store("ab before/mine.py after/mine.py double/f32/rows=2,cols=3").exits(2);
    let part = "`new` and `old` declare the operation `double` differently";
    assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
}

#[test]
fn what_was_kept_is_measured_again() {
    let scene = scene();
    build(&scene, "mine.so", 1);
    let run =
        |rest: &str| scene.call_with_store(&format!("run {CASE} --lib ./mine.so -i mine/* --quick {rest}"));
    let kept = run("--save main").exits(0);
    assert!(kept.stderr.contains("baseline `main` is kept: 1 runner"), "{}", kept.stderr);
    build(&scene, "mine.so", 3);
    let outcome = run("--baseline main --fail-on slower").exits(3);
    assert!(row(&outcome, "mine/loop").contains("slower"), "{}", outcome.stdout);
    row(&outcome, "main/loop");
    let named = scene.call_with_store(&format!("ab main ./mine.so {CASE} --quick")).exits(3);
    row(&named, "old/loop");
    // With the kernels of the house beside it, at a store that is named as people do.
    let both =
        |rest: &str| scene.call(&format!("run {CASE} --lib ./mine.so -i mine/*,cpu/plain --quick {rest}"));
    both("--save both").exits(0);
    let outcome = both("--baseline both").exits(0);
    assert!(
        outcome.stdout.contains("both-cpu/plain") && outcome.stdout.contains("both-mine/loop"),
        "{}",
        outcome.stdout
    );
    scene.call(&format!("ab both ./mine.so {CASE} --quick")).exits(0);
    scene.call("baselines remove both").exits(0);
    let listed = scene.call_with_store("baselines").exits(0).stdout;
    assert!(listed.starts_with("main ") && listed.contains("mine: library, 1"), "{listed}");
    let absent = run("--baseline man").exits(2);
    assert!(absent.stderr.contains("did you mean `main`"), "{}", absent.stderr);
    let artefacts = scene.path(".roofline/artefacts");
    let file = std::fs::read_dir(&artefacts).unwrap().next().unwrap().unwrap().path().join("mine.so");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..100]).unwrap();
    let truncated = run("--baseline main").exits(2);
    assert!(truncated.stderr.contains("has 100 of its"), "{}", truncated.stderr);
    scene.call_with_store("baselines remove main").exits(0);
    assert_eq!(std::fs::read_dir(&artefacts).unwrap().count(), 0);
    scene.call_with_store("baselines remove main").exits(2);
    for name in ["cpu", "old", "A", "mine"] {
        run(&format!("--save {name}")).exits(2);
    }
}

#[test]
fn kernels_of_the_house_are_kept_as_the_program_that_has_them() {
    let scene = Scene::alone();
    let words = "run softmax/f32/rows=8,cols=64 -i cpu/vector,cpu/three-pass --quick";
    scene.call_with_store(&format!("{words} --save then")).exits(0);
    let outcome = scene.call_with_store(&format!("{words} --baseline then")).exits(0);
    row(&outcome, "then/vector");
    row(&outcome, "cpu/three-pass");
}

/// A repository whose Makefile builds `mine.so`.
fn repository() -> Scene {
    let scene = scene();
    scene.write("mine.c", &source(1));
    scene.write("Makefile", "mine.so: mine.c\n\tcc -O1 -shared -fPIC -o mine.so mine.c\n");
    scene.write("roofline.toml", "[build]\ncommand = \"make\"\nartefacts = [\"mine.so\"]\n");
    scene.write(".gitignore", "mine.so\n/home\n/store.db\n/roofline\n");
    let who = "-c user.name=A -c user.email=a@example.org";
    scene.shell(&format!("git init -q -b main && git add -A && git {who} commit -q -m one")).exits(0);
    scene
}

#[test]
fn a_revision_stands_beside_the_working_tree() {
    let scene = repository();
    let ab = |words: &str| scene.call_with_store(&format!("ab {words} --quick"));
    let same = ab(&format!("main . {CASE}")).exits(0);
    assert!(!row(&same, "new/loop").contains("slower"), "{}", same.stdout);
    scene.write("mine.c", &source(3));
    let slower = ab(&format!("main . {CASE}")).exits(3);
    assert!(row(&slower, "new/loop").contains("slower"), "{}", slower.stdout);
    assert!(
        slower.stderr.contains("building `old`") && slower.stderr.contains("building `new`"),
        "{}",
        slower.stderr
    );
    scene.write("mine.c", &source(1).replace("x[i] + y[i]", "x[i] - y[i]"));
    let wrong = ab(&format!("HEAD . {CASE}")).exits(4);
    assert!(row(&wrong, "new/loop").contains("wrong"), "{}", wrong.stdout);
    // Mended: what it was is nobody's to mend.
    let mended = "git -c user.name=A -c user.email=a@example.org commit -q -a -m wrong";
    scene.shell(mended).exits(0);
    scene.write("mine.c", &source(1));
    let outcome = ab(&format!("HEAD . {CASE}")).exits(0);
    assert!(outcome.stderr.contains("new/loop: `old/loop` is wrong"), "{}", outcome.stderr);
    scene.shell("git reset -q --soft HEAD~1").exits(0);
    ab("main . matmul").exits(5);
    scene.write("mine.c", &source(1).replace("\"loop\"", "\"renamed\""));
    let renamed = ab(&format!("HEAD . {CASE}")).exits(5);
    assert!(renamed.stderr.contains("`new/renamed` is new"), "{}", renamed.stderr);
    scene.write("Makefile", "other.so: mine.c\n\tcc -O1 -shared -fPIC -o other.so mine.c\n");
    let stale = ab(&format!("HEAD . {CASE}")).exits(2);
    assert!(stale.stderr.contains("has not made `mine.so`"), "{}", stale.stderr);
    scene.shell("git checkout -q HEAD -- Makefile").exits(0);
    scene.write("mine.c", "this is no C");
    let broken = ab(&format!("main . {CASE}")).exits(2);
    assert!(broken.stderr.contains("`new` cannot be built: `make` ended with"), "{}", broken.stderr);
    scene.write("roofline.toml", "[build]\ncommand = \"make\"\nartefacts = [\"mine.so\"]\nwho = 1\n");
    let policy = ab(&format!("main . {CASE}")).exits(2);
    assert!(policy.stderr.contains("roofline.toml:4:1: unknown field `who`"), "{}", policy.stderr);
}

#[test]
fn what_is_no_side_is_said() {
    let scene = scene();
    build(&scene, "mine.so", 1);
    scene.write("notes.txt", "");
    for (words, part) in [
        ("ab mine.so notes.txt", "`notes.txt` is neither a shared library"),
        ("ab mine.so main", "`main` is no file, no baseline and no git revision"),
        ("ab mine.so .", "no git"),
        ("ab mine.so", "NEW"),
        ("ab mine.so mine.so --fail-on slow", "neither `slower`"),
    ] {
        let outcome = scene.call_with_store(words).exits(2);
        assert!(outcome.stderr.contains(part), "{words}: {}", outcome.stderr);
    }
    scene.call_with_store("ab mine.so mine.so matmul").exits(5);
}
