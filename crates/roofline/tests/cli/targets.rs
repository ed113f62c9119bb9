//! `run --targets`: what a suite wants of its rows, as an exit code.

use crate::scene::Scene;

const CASES: &str = "\
[[cases]]
operation = 'softmax'
dtype = 'f32'
axes = { rows = 64, cols = 256 }
";

/// A target that holds the vector kernel against the definition.
fn target(id: &str, bound: &str) -> String {
    let sides = "of = 'cpu/vector'\nagainst = 'cpu/three-pass'";
    format!("[[targets]]\nid = '{id}'\ncases = 'softmax/*'\n{sides}\n{bound}\n")
}

#[test]
fn a_target_is_met_missed_or_undecided() {
    let scene = Scene::new();
    let wanted = [
        target("a-little", "at-least = 1.2"),
        target("the-impossible", "at-least = 1000"),
        target("for-the-record", "at-least = 1000\nseverity = 'info'"),
        "[[targets]]\nid = 'nobody'\ncases = '*'\nagainst = 'torch'\nat-least = 1\n".to_owned(),
    ];
    scene.write("mine.toml", &format!("{CASES}{}", wanted.concat()));
    let run = "run --suite mine.toml -i cpu/three-pass,cpu/vector --budget 100ms";
    scene.call_with_store(run).exits(0);
    let outcome = scene.call_with_store(&format!("{run} --targets")).exits(3);
    assert_eq!(outcome.stderr.trim(), "missed: the-impossible");
    for (id, standing) in [
        ("a-little", "met"),
        ("the-impossible", "missed"),
        ("for-the-record", "missed, for information"),
        ("nobody", "undecided"),
    ] {
        let line = outcome.stdout.lines().find(|line| line.starts_with(id)).unwrap_or_default();
        assert!(line.ends_with(standing), "{id}: {line}\n{}", outcome.stdout);
    }
    let junit = scene.call_with_store(&format!("{run} --fail-on missed --format junit")).exits(3).stdout;
    assert!(junit.contains("<testsuite name=\"targets\" tests=\"4\" failures=\"1\""), "{junit}");
    let markdown = scene.call_with_store(&format!("{run} --targets --format markdown")).exits(3).stdout;
    assert!(markdown.contains("| the-impossible |"), "{markdown}");

    scene.write("modest.toml", &format!("{CASES}{}", wanted[0]));
    scene.call_with_store(&run.replace("mine", "modest").replace("run", "run --targets")).exits(0);
    // The targets of a suite on some of its cases.
    let wide = CASES.replace("256", "[256, 1024]");
    scene.write("wide.toml", &format!("{wide}{}", wanted[0]));
    let some = run.replace("mine", "wide").replace("run", "run --targets softmax/f32/*cols=256");
    let some = scene.call_with_store(&format!("{some} --format jsonl")).exits(0);
    let cases: Vec<String> = some.rows().iter().map(|row| row["case"].to_string()).collect();
    assert!(cases.len() > 1 && cases.iter().all(|case| case.contains("cols=256")), "{cases:?}");
}

#[test]
fn what_has_no_targets_decides_none() {
    let scene = Scene::new();
    let none = scene.call_with_store("run --suite quick --targets").exits(5);
    assert!(none.stderr.contains("`quick` has no targets") && none.stderr.contains("llm"), "{}", none.stderr);
    let quick = scene.call_with_store("run --suite llm --fail-on missed --quick").exits(2);
    assert!(quick.stderr.contains("quick"), "{}", quick.stderr);
    scene.call_with_store("run --suite llm --targets --quick").exits(2);
    scene.write("wrong.toml", &format!("{CASES}[[targets]]\nid = 'x'\ncase = '*'\n"));
    let wrong = scene.call_with_store("run --suite wrong.toml --targets").exits(2);
    assert!(wrong.stderr.contains("wrong.toml:7:1") && wrong.stderr.contains("`cases`"), "{}", wrong.stderr);
}
