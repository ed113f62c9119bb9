//! `runs`, `history` and `explain --run`: what the store has seen.

use crate::scene::Scene;

const CASE: &str = "add/f32/rows=4,cols=64";

/// The ids of the runs, as `runs` shows them.
fn ids(scene: &Scene) -> Vec<String> {
    let shown = scene.call_with_store("runs").exits(0).stdout;
    shown.lines().filter_map(|line| Some(line.split("  ").next()?.to_owned())).collect()
}

#[test]
fn runs_and_rows_are_found_again() {
    let scene = Scene::new();
    scene.call_with_store("runs").complains(1, &["roofline run"]);
    for _ in 0..2 {
        scene.call_with_store(&format!("run {CASE} --quick --budget 100ms")).exits(0);
    }
    scene.call_with_store("check mul/f32/rows=2,cols=8 -i cpu/plain").exits(0);

    let shown = scene.call_with_store("runs").exits(0).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 3, "{shown}");
    assert!(lines[0].contains("  3 ok  ") && lines[0].contains("--budget 100ms"), "{shown}");
    assert!(lines[2].contains("  1 ok  ") && lines[2].contains("check mul"), "{shown}");
    assert_eq!(scene.call_with_store("runs --last 1").exits(0).stdout.lines().count(), 1);

    let history = scene.call_with_store(&format!("history {CASE}@cpu/plain")).exits(0).stdout;
    let runs = ids(&scene);
    for run in &runs[..2] {
        assert!(history.contains(run.as_str()), "{history}");
    }
    assert!(history.contains("roofline ab"), "{history}");
    let all = scene.call_with_store("history add/*").exits(0).stdout;
    for name in ["cpu/plain", "cpu/vector", "cpu/parallel"] {
        assert!(all.contains(&format!("{CASE}@{name}")), "{all}");
    }
    assert!(!all.contains("@limit/"), "{all}");
    // Defaults may be written out.
    scene.call_with_store(&format!("history {CASE}/threads=1")).exits(0);
    scene.call_with_store("history sub/f32/rows=1,cols=1").complains(5, &["no record", "roofline runs"]);

    let row = format!("explain {CASE}@cpu/plain");
    scene.call_with_store(&format!("{row} --run {}", runs[0])).exits(0);
    let end = &runs[1][runs[1].len() - 8..];
    scene.call_with_store(&format!("{row} --run {end}")).exits(0);
    scene.call_with_store(&format!("{row} --run {}", runs[2])).complains(5, &["has no record", "history"]);
    scene.call_with_store(&format!("{row} --run nobody")).complains(2, &["no run `nobody`", "roofline runs"]);
}
