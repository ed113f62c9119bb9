//! `run --fail-on`: a slower row as an exit code.

use crate::scene::Scene;

/// Two of the house, one of them about ten times as fast.
const PAIR: &str = "run softmax/f32/rows=64,cols=256 -i cpu/three-pass,cpu/vector --quick";

#[test]
fn a_slower_row_ends_with_3_where_that_was_asked() {
    let scene = Scene::new();
    let against = |hub: &str, rest: &str| format!("{PAIR} --against {hub} {rest}");
    scene.call_with_store(&against("cpu/vector", "")).exits(0);
    let outcome = scene.call_with_store(&against("cpu/vector", "--fail-on slower")).exits(3);
    assert_eq!(outcome.stderr.trim(), "slower: softmax/f32/rows=64,cols=256@cpu/three-pass");
    let of = |name: &str| outcome.stdout.lines().find(|line| line.contains(name)).unwrap_or_default();
    assert!(
        of("cpu/three-pass").contains("slower") && outcome.stdout.contains("  a  measured again"),
        "{}",
        outcome.stdout
    );
    let notes = |name: &str| of(name).split_whitespace().rev().nth(1).unwrap_or_default().to_owned();
    assert!(
        notes("cpu/three-pass").contains('a') && !notes("cpu/vector").contains('a'),
        "{}",
        outcome.stdout
    );
    let row = "explain softmax/f32/rows=64,cols=256@cpu/three-pass";
    let explained = scene.call_with_store(row).exits(0).stdout;
    assert!(explained.contains("all were taken again"), "{explained}");
    scene.call_with_store(&against("cpu/vector", "--fail-on slower=100000%")).exits(0);
    scene.call_with_store(&against("cpu/three-pass", "--fail-on slower")).exits(0);
    let junit = scene.call_with_store(&against("cpu/vector", "--fail-on slower=20% --format junit")).exits(3);
    assert!(
        junit.stdout.contains("failures=\"1\"") && junit.stdout.contains("regression"),
        "{}",
        junit.stdout
    );
}

#[test]
fn what_cannot_be_failed_on_is_a_mistake() {
    let scene = Scene::new();
    let outcome = scene.call_with_store(&format!("{PAIR} --against cpu/vector --fail-on slow")).exits(2);
    assert!(outcome.stderr.contains("neither `slower`, `slower=2%`"), "{}", outcome.stderr);
    let outcome = scene.call_with_store(&format!("{PAIR} --fail-on slower")).exits(2);
    assert!(outcome.stderr.contains("--against"), "{}", outcome.stderr);
}
