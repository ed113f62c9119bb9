//! What was kept and cannot be measured any more: clear words, the right code, and nothing overwritten.

use crate::ab::{build, scene, source};
use crate::scene::{Outcome, Scene};
use std::process::Command;

const CASE: &str = "add/f32/rows=16,cols=64";

fn run(scene: &Scene, rest: &str) -> Outcome {
    scene.call_with_store(&format!("run {CASE} --lib ./mine.so -i mine/* --quick {rest}"))
}

/// What is said of the baseline `main` where its file has been changed; it is left as it is.
fn told(scene: &Scene, change: impl Fn(&str) -> String) -> String {
    let file = scene.path(".roofline/baselines/main.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let changed = change(&text);
    std::fs::write(&file, &changed).unwrap();
    let outcome = run(scene, "--baseline main").exits(2);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), changed, "nothing is overwritten");
    std::fs::write(&file, text).unwrap();
    outcome.stderr
}

#[test]
fn what_differs_is_named_and_left_as_it_is() {
    let scene = scene();
    build(&scene, "mine.so", 1);
    run(&scene, "--save main").exits(0);
    let machine = told(&scene, |text| {
        let at = text.find("\"machine\": \"").unwrap() + "\"machine\": \"".len();
        format!("{}elsewhere{}", &text[..at], &text[at + 12..])
    });
    assert!(machine.contains("kept on another machine: `machine` is elsewhere"), "{machine}");
    let own = format!("\"roofline\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let version = told(&scene, |text| text.replace(&own, "\"roofline\": \"0.0.0\""));
    assert!(version.contains("runner `mine`: `roofline` was 0.0.0 when it was kept"), "{version}");
    let schema = told(&scene, |text| text.replace("\"schema\": 1", "\"schema\": 2"));
    assert!(schema.contains("its schema is 2, and this version knows 1"), "{schema}");
    let truncated = told(&scene, |text| text[..text.len() / 2].to_owned());
    assert!(truncated.contains("baseline `main`: EOF"), "{truncated}");
    run(&scene, "--baseline main").exits(0);
}

/// Builds `mine.so`, which needs `libpart.so` beside it and looks for it in a folder.
fn build_of_two(scene: &Scene, rpath: &str) {
    let part = scene.write("part.c", "float part(float x, float y) { return x + y; }\n");
    let code = source(1).replace("x[i] + y[i]", "part(x[i], y[i])");
    let code = scene.write("mine.c", &code.replace("static int", "float part(float, float);\nstatic int"));
    let cc = |words: &[&str]| {
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-shared", "-fPIC"]).args(words).current_dir(scene.path(""));
        Outcome::of(cc.output()).exits(0);
    };
    cc(&["-o", "libpart.so", part.to_str().unwrap()]);
    let path = format!("-Wl,-rpath,{rpath}");
    cc(&["-o", "mine.so", code.to_str().unwrap(), "-L.", "-lpart", &path]);
}

#[test]
fn what_a_library_finds_beside_itself_is_kept_with_it() {
    let scene = scene();
    build_of_two(&scene, "$ORIGIN");
    run(&scene, "--save main").exits(0);
    std::fs::remove_file(scene.path("libpart.so")).unwrap();
    build(&scene, "mine.so", 1);
    run(&scene, "--baseline main").exits(0);
    scene.call_with_store(&format!("ab main ./mine.so {CASE} --quick --fail-on slower=100000%")).exits(0);
}

#[test]
fn a_name_that_is_not_given_is_told_with_what_is_still_kept_under_it() {
    let scene = scene();
    build(&scene, "mine.so", 1);
    let none = run(&scene, "--save main --total-budget 1ms");
    assert!(none.stderr.contains("baseline `main` was not kept: not every row"), "{}", none.stderr);
    assert!(!none.stderr.contains("the older one"), "{}", none.stderr);
    run(&scene, "--save main").exits(0);
    build(&scene, "mine.so", 9);
    let failed = run(&scene, "--baseline main --fail-on slower --save main").exits(3);
    assert!(failed.stderr.contains("baseline `main` was not kept: the run failed"), "{}", failed.stderr);
    assert!(failed.stderr.contains("the older one of that name is there"), "{}", failed.stderr);
    run(&scene, "--baseline main --fail-on slower").exits(3);
}

#[test]
fn a_library_that_is_gone_is_named() {
    let scene = scene();
    build_of_two(&scene, &scene.path("").display().to_string());
    run(&scene, "--save main").exits(0);
    std::fs::remove_file(scene.path("libpart.so")).unwrap();
    build(&scene, "mine.so", 1);
    let outcome = run(&scene, "--baseline main").exits(2);
    let words = "runner `mine`: `libpart.so` was ";
    assert!(
        outcome.stderr.contains(words) && outcome.stderr.contains("and is absent now"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_python_file_knows_its_interpreter() {
    let scene = Scene::away();
    scene.write(
        "mine.py",
        "from array import array\nfrom operator import add\nfrom roofline_runner import implementation\n\n\n\
         @implementation(\"add\", dtypes=[\"f32\"])\ndef loop(job):\n    \
         x, y, z = (memory.cast(\"f\") for memory in job.buffers())\n\n    def launch():\n        \
         z[:] = array('f', map(add, x, y))\n\n    return launch\n",
    );
    let run = |rest: &str| {
        scene.call_with_store(&format!("run {CASE} --python ./mine.py -i mine/* --quick {rest}"))
    };
    run("--save main").exits(0);
    let file = scene.path(".roofline/baselines/main.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let at = text.find("\"python\": \"").expect("its version is kept") + "\"python\": \"".len();
    std::fs::write(&file, format!("{}2.{}", &text[..at], &text[at + 2..])).unwrap();
    let outcome = run("--baseline main").exits(2);
    assert!(outcome.stderr.contains("runner `mine`: `python` was 2."), "{}", outcome.stderr);
}

#[test]
fn benches_lie_on_a_shelf_of_their_own_that_is_shown_too() {
    let scene = scene();
    build(&scene, "mine.so", 1);
    run(&scene, "--save main").exits(0);
    let file = std::fs::read_to_string(scene.path(".roofline/baselines/main.json")).unwrap();
    scene.write("target/roofline/.roofline/baselines/of-bench.json", &file);
    let listed = scene.call_with_store("baselines").exits(0).stdout;
    assert!(listed.contains("main ") && listed.contains("of-bench "), "{listed}");
    scene.call_with_store("baselines remove of-bench").exits(0);
    assert!(!scene.call_with_store("baselines").exits(0).stdout.contains("of-bench"));
}
