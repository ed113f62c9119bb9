//! `--sweep tile=8,16`: one's own kernels with values of their parameters, a row each.

use crate::scene::Scene;

const CASE: &str = "add/f32/rows=5,cols=7";

/// Adds in pieces of `TILE` elements; those of 3 leave out the last one. Named as written: with an underline.
const TILED: &str = r#"import os
from array import array
from operator import add
from roofline_runner import implementation

TILE = int(os.environ["TILE"])


@implementation("add", dtypes=["f32"])
def in_tiles(job):
    x, y, z = (memory.cast("f") for memory in job.buffers())
    end = len(z) - (1 if TILE == 3 else 0)

    def launch():
        for at in range(0, end, TILE):
            until = min(at + TILE, end)
            z[at:until] = array("f", map(add, x[at:until], y[at:until]))

    return launch
"#;

#[test]
fn every_value_is_a_row() {
    let scene = Scene::new();
    scene.write("mine.py", TILED);
    let run = |words: &str| {
        scene.call_with_store(&format!("run {CASE} --quick --budget 100ms --python mine.py {words}"))
    };
    let swept =
        run("--sweep tile=4,16 -i mine/in_tiles --against mine/in_tiles:tile=4 --format jsonl").exits(0);
    for value in ["4", "16"] {
        let row = swept.row(&format!("mine/in_tiles:tile={value}"));
        assert_eq!(row["status"], "ok");
        assert_eq!(row["provenance"]["notes"]["environment"], format!("TILE={value}"));
        assert_eq!(row["rounds"]["hub"], "mine/in_tiles:tile=4");
    }
    // The store knows it by that name, and says how to see it again: with the value that it was compared with.
    let row = format!("{CASE}@mine/in_tiles:tile=16");
    let explained = scene.call_with_store(&format!("explain {row}")).exits(0).stdout;
    assert!(explained.contains("--sweep tile=16,4 --against mine/in_tiles:tile=4"), "{explained}");
    let again = swept.row("mine/in_tiles:tile=16")["reproduce"].as_str().unwrap().to_owned();
    scene.shell(&again).exits(0);
    scene.call_with_store(&format!("history {row}")).exits(0);
    // One value alone may be wrong, and the command that shows it again has it alone.
    let mixed = run("--sweep tile=3,4 --format jsonl -i mine/*").exits(4);
    assert_eq!(mixed.row("mine/in_tiles:tile=4")["status"], "ok");
    let wrong = mixed.row("mine/in_tiles:tile=3");
    assert_eq!(wrong["status"], "wrong", "{wrong}");
    let again = wrong["reproduce"].as_str().unwrap();
    assert!(again.contains("--sweep tile=3 ") && !again.contains("tile=4"), "{again}");
    let seen = scene.shell(&format!("{again} --format jsonl")).exits(4);
    assert_eq!(seen.row("mine/in_tiles:tile=3")["status"], "wrong");
    let replay = wrong["gate"]["replay"].as_str().unwrap();
    assert!(replay.contains("@mine/in_tiles ") && replay.contains("--env TILE=3"), "{replay}");
    scene.shell(replay).exits(0);
}

#[test]
fn a_parameter_that_no_operation_has_is_the_files() {
    let scene = Scene::new();
    scene.write("mine.py", TILED);
    let check = |words: &str| scene.call_with_store(&format!("check {CASE} --format jsonl {words}"));
    let rows = check("--python mine.py --param tile=4,8 -i mine/*").exits(0).rows();
    let names: Vec<&str> = rows.iter().map(|row| row["implementation"].as_str().unwrap()).collect();
    assert_eq!(names, ["mine/in_tiles:tile=4", "mine/in_tiles:tile=8"]);
    // For nobody it is a mistake, whose hint names the way.
    check("--param tile=4,8")
        .complains(2, &["no selected operation has the parameter `tile`", "--sweep tile=4,8"]);
    check("--python mine.py --param tile=1:2").complains(2, &["`--param tile=1:2`", "hint: "]);
    let kept = scene.call_with_store(&format!("run {CASE} --python mine.py --param tile=4 --save old"));
    kept.complains(2, &["`--save` cannot take them", "hint: "]);
}

#[test]
fn several_parameters_are_all_combinations() {
    let scene = Scene::new();
    scene.write("mine.py", TILED);
    let plan = "check add/f32/rows=5,cols=7 --python mine.py --sweep tile=4,8 --sweep order=ij,ji -i mine/* --format jsonl";
    let rows = scene.call_with_store(plan).exits(0).rows();
    let names: Vec<&str> = rows.iter().map(|row| row["implementation"].as_str().unwrap()).collect();
    let wanted = ["tile=4:order=ij", "tile=4:order=ji", "tile=8:order=ij", "tile=8:order=ji"];
    assert_eq!(names, wanted.map(|values| format!("mine/in_tiles:{values}")));
}

#[test]
fn what_is_no_parameter_is_said() {
    let scene = Scene::new();
    scene.write("mine.py", TILED);
    let run = |words: &str| scene.call_with_store(&format!("check {CASE} {words}"));
    run("--sweep tile=8").complains(2, &["`--sweep` is for nobody", "hint: name whom it is for"]);
    run("--python mine.py --sweep tile").complains(2, &["tile=8,16,32"]);
    run("--python mine.py --sweep tile=1:2").complains(2, &["cannot stand in a row's name"]);
    run("--python mine.py --sweep path=x").complains(2, &["`PATH` decides which code runs"]);
    run("--python mine.py --sweep tile=1 --sweep TILE=2").complains(2, &["is given twice", "hint: "]);
    let many: Vec<String> = (1..300).map(|value| value.to_string()).collect();
    run(&format!("--python mine.py --sweep tile={}", many.join(",")))
        .complains(2, &["more than 256", "hint: "]);
    let kept = scene.call_with_store(&format!("run {CASE} --python mine.py --sweep tile=4 --save old"));
    kept.complains(2, &["--sweep"]);
}
