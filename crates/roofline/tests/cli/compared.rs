//! What a gate was to compare and did not: it is named, and nothing passes by it alone.

use crate::ab::{build, row, scene, source};
use crate::scene::{Outcome, Scene};
use std::process::Command;

const CASE: &str = "add/f32/rows=64,cols=256";

fn build_of(scene: &Scene, file: &str, code: &str) {
    let code = scene.write("mine.c", code);
    let path = scene.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-shared", "-fPIC", "-o"]).arg(path).arg(code);
    Outcome::of(cc.output()).exits(0);
}

/// The library that adds, with something that it does first.
fn that_first(what: &str) -> String {
    source(1).replace("(void)job;", &format!("(void)job;\n    {what}"))
}

fn ab(scene: &Scene, rest: &str) -> Outcome {
    scene.call_with_store(&format!("ab before/mine.so after/mine.so {CASE} --quick {rest}"))
}

#[test]
fn what_became_too_slow_for_its_budget_is_compared_all_the_same() {
    let scene = scene();
    build(&scene, "before/mine.so", 1);
    // Tens of milliseconds a launch: six pairs of them take many times the budget.
    build(&scene, "after/mine.so", 4000);
    let outcome = ab(&scene, "--budget 20ms").exits(3);
    assert!(row(&outcome, "new/loop").contains("slower"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains(&format!("slower: {CASE}@new/loop")), "{}", outcome.stderr);
}

#[test]
fn a_row_that_says_no_where_it_did_not_is_found() {
    let scene = scene();
    build(&scene, "before/mine.so", 1);
    let code = that_first("if (out[0].shape[1] > 100) return ROOFLINE_UNSUPPORTED;");
    build_of(&scene, "after/mine.so", &code);
    let outcome = ab(&scene, "--format markdown").exits(3);
    let told = format!("unsupported, and was not: {CASE}@new/loop");
    assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
    let listed = format!("- `{CASE}@new/loop` is unsupported, and was not");
    assert!(outcome.stdout.contains(&listed), "{}", outcome.stdout);
    let policy = ab(&scene, "--fail-on policy --format junit").exits(3);
    assert!(policy.stderr.contains("has no time any more, it is unsupported"), "{}", policy.stderr);
    assert!(policy.stdout.contains("failures=\"1\""), "{}", policy.stdout);
}

#[test]
fn a_gate_whose_old_side_is_gone_does_not_pass() {
    let scene = scene();
    build_of(&scene, "before/mine.so", &that_first("*(volatile int *)0 = 1;"));
    build(&scene, "after/mine.so", 1);
    let outcome = ab(&scene, "--format markdown").exits(5);
    let told = format!("not compared: {CASE}@new/loop: `old/loop` is crashed");
    assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing was compared"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("- not compared: add/f32"), "{}", outcome.stdout);
    ab(&scene, "--fail-on inconclusive").exits(3);
    ab(&scene, "--fail-on policy").exits(5);
}

#[test]
fn a_deleted_kernel_stands_in_the_comment() {
    let scene = scene();
    let other = "static const roofline_offer offers[] = {{.name = \"gone\", .operation = \"add\", .dtypes = \"f32\", .launch = add},";
    let both = source(1)
        .replace("static const roofline_offer offers[] = {", other)
        .replace("offers, 1", "offers, 2");
    build_of(&scene, "before/mine.so", &both);
    build(&scene, "after/mine.so", 1);
    let outcome = ab(&scene, "--format markdown").exits(0);
    let line = "`old/gone` is gone: `new` has no such implementation";
    assert!(outcome.stderr.contains(line), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("old/gone\\` is gone"), "{}", outcome.stdout);
}

/// A library with two kernels, one of which takes its time.
fn two_kernels() -> String {
    let slow = "
static int slow(const DLTensor *in, const DLTensor *out, roofline_job *job) {
    add(in, out, job);
    add(in, out, job);
    return add(in, out, job);
}

static const roofline_offer offers[] = {{.name = \"slow\", .operation = \"add\", .dtypes = \"f32\", .launch = slow},";
    source(1).replace("static const roofline_offer offers[] = {", slow).replace("offers, 1", "offers, 2")
}

#[test]
fn providers_are_held_against_each_other_by_their_fastest() {
    let scene = scene();
    build_of(&scene, "old.so", &two_kernels());
    build_of(&scene, "new.so", &two_kernels());
    let words = format!("run {CASE} --lib ./old.so --lib ./new.so --against old --fail-on slower --quick");
    let outcome = scene.call_with_store(&format!("{words} --format jsonl")).exits(0);
    let against = |name: &str| outcome.row(name)["against"].clone();
    assert_eq!((against("new/loop"), against("new/slow")), ("old".into(), "old".into()));
    // The provider's other kernels, and those of the house, are nobody's to mend.
    for name in ["old/loop", "old/slow", "cpu/plain"] {
        assert!(against(name).is_null() && outcome.row(name)["rounds"]["before"].is_null(), "{name}");
    }
    let junit = scene.call_with_store(&format!("{words} --format junit")).exits(0).stdout;
    assert!(junit.contains("failures=\"0\""), "{junit}");
    build(&scene, "new.so", 3);
    scene.call_with_store(&words).exits(3);
}
