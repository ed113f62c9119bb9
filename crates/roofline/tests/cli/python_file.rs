//! `--python FILE`: a file with decorated functions, right, wrong and broken.

use crate::page::blocks;
use crate::scene::{Outcome, Scene};
use std::path::Path;

const CASE: &str = "add/f32/rows=5,cols=7";

/// A file whose functions add with the standard library alone; `BODY` is what a launch does.
fn adder(name: &str, body: &str) -> String {
    format!(
        "import os, signal, struct, time\nfrom array import array\nfrom operator import add\n\
         from roofline_runner import implementation\n\n\n\
         @implementation(\"add\", dtypes=[\"f32\"])\ndef {name}(job):\n    \
         x, y, z = (memory.cast(\"f\") for memory in job.buffers())\n\n    \
         def launch():\n        {body}\n\n    return launch\n"
    )
}

const RIGHT: &str = "z[:] = array('f', map(add, x, y))";

fn check(scene: &Scene, file: &str, words: &str) -> Outcome {
    scene.call_with_store(&format!("check {CASE} --python {file} --format jsonl {words}"))
}

#[test]
fn the_page_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bring-your-own/python.md");
    let page = std::fs::read_to_string(page).unwrap();
    let scene = Scene::away();
    let mut ran = 0;
    for block in blocks(&page) {
        if let Some(path) = block.file() {
            scene.write(path, &block.text);
        }
        if !block.is_shell() {
            continue;
        }
        let outcome = scene.shell(&format!("set -e\n{}", block.text));
        if crate::install::no_index(&outcome) {
            return;
        }
        let outcome = outcome.exits(block.exit());
        ran += 1;
        if block.exit() == 4 {
            for part in message(&page).into_iter().chain(["worst: at [", "--python /"]) {
                assert!(outcome.stdout.contains(part), "`{part}` is not in:\n{}", outcome.stdout);
            }
        } else if block.text.contains("roofline check") {
            assert!(outcome.stdout.contains("mine/softmax"), "{}", outcome.stdout);
        }
    }
    assert_eq!(ran, 3, "the page has three blocks of commands");
}

#[test]
fn the_page_of_operations_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bring-your-own/python-operation.md");
    let page = std::fs::read_to_string(page).unwrap();
    let scene = Scene::away();
    let mut printed = Vec::new();
    for block in blocks(&page) {
        if let Some(path) = block.file() {
            scene.write(path, &block.text);
        }
        if !block.is_shell() {
            continue;
        }
        let outcome = scene.shell(&format!("set -e\n{}", block.text));
        if crate::install::no_index(&outcome) {
            return;
        }
        printed.push(outcome.exits(block.exit()).stdout);
    }
    let [measured, wrong] = &printed[..] else { panic!("two blocks of commands") };
    let rows: Vec<&str> = measured.lines().filter(|line| line.contains("mine/product")).collect();
    assert_eq!(rows.len(), 2, "checked and measured: {measured}");
    assert!(rows.iter().all(|row| row.trim_end().ends_with("ok")), "{measured}");
    assert!(measured.contains("of limit") && measured.contains("less than usual: bound"), "{measured}");
    let reproduce = wrong.lines().find_map(|line| line.trim().strip_prefix("reproduce: "));
    let again = scene.shell(reproduce.expect("a command that shows it again")).exits(4);
    let worst = |text: &str| text.lines().find(|line| line.contains("worst: ")).map(str::to_owned);
    assert!(worst(wrong).is_some() && worst(&again.stdout) == worst(wrong), "{wrong}\n{}", again.stdout);
}

/// The message that the page shows, but for its worst element, whose digits are the library's, and for where the
/// file lies.
fn message(page: &str) -> Vec<&str> {
    let start = page.find("\n```text\nwrong: ").expect("the page shows a message") + "\n```text\n".len();
    let (message, _) = page[start..].split_once("\n```").expect("the end of the message");
    let lines = message.lines().filter(|line| !line.contains("worst: at ["));
    lines.flat_map(|line| line.split("/path/to")).collect()
}

#[test]
fn a_right_one_is_named_after_file_and_function() {
    let scene = Scene::new();
    scene.write("my_kernels.py", &adder("plain_map", RIGHT));
    let row = check(&scene, "my_kernels.py", "").exits(0).row("my_kernels/plain_map");
    assert_eq!(row["status"], "ok");
    assert_eq!(row["provenance"]["runner"], "my_kernels");
    assert!(row["provenance"]["runner_version"].as_str().unwrap().starts_with("sha256 "), "{row}");
    assert!(!scene.path("__pycache__").exists(), "the user's folder is not written to");
    let shown = scene.call_with_store("list implementations --python my_kernels.py").exits(0).stdout;
    assert!(shown.contains("my_kernels/plain_map") && shown.contains("(my_kernels.py:7)"), "{shown}");
}

#[test]
fn a_library_that_makes_its_own_output_passes_every_check() {
    let scene = Scene::new();
    let body = "return memoryview(array('f', map(add, x, y))).cast('B').cast('f', job.tensors[2].shape)";
    let code = adder("fresh", body).replace("dtypes=[\"f32\"]", "dtypes=[\"f32\"], output=\"fresh\"");
    scene.write("mine.py", &code);
    let row = check(&scene, "mine.py", "").exits(0).row("mine/fresh");
    assert_eq!((&row["status"], &row["evidence"]["output"]), (&"ok".into(), &"fresh".into()), "{row}");
}

#[test]
fn wrong_ones_get_a_command_that_shows_the_same() {
    let scene = Scene::new();
    for (name, body) in [
        ("off_by_one", "z[:-1] = array('f', map(add, x, y))[:-1]"),
        ("not_a_number", "z[:] = array('f', map(add, x, y)); z[0] = float('nan')"),
        ("half", "z[:] = array('f', (struct.unpack('e', struct.pack('e', a + b))[0] for a, b in zip(x, y)))"),
    ] {
        let file = scene.write("mine.py", &adder(name, body));
        let row = check(&scene, "mine.py", "-i mine/*").exits(4).rows().remove(0);
        // The narrow one cannot hold what some inputs add up to, and may raise that as an error.
        assert!(row["status"] == "wrong" || name == "half" && row["status"] == "crashed", "{row}");
        let reproduce = row["reproduce"].as_str().unwrap();
        assert!(reproduce.contains(&format!("--python {}", file.display())), "{reproduce}");
        let again = scene.shell(&format!("{reproduce} --format jsonl")).exits(4);
        assert_eq!(again.rows()[0]["status"], row["status"]);
        assert_eq!(again.rows()[0]["gate"]["fault"], row["gate"]["fault"]);
    }
}

#[test]
fn mistakes_show_the_authors_line() {
    let scene = Scene::new();
    let crashed = |code: &str, why: &str| {
        scene.write("mine.py", code);
        let row = check(&scene, "mine.py", "-i mine/*").exits(4).rows().remove(0);
        assert_eq!(row["status"], "crashed", "{row}");
        assert!(row["why"].as_str().unwrap().contains(why), "`{why}` is not in {row}");
    };
    crashed(&adder("raises", "raise ValueError('no way')"), "mine.py:12: ValueError: no way");
    crashed(&adder("raises", "nothing()"), "mine.py:12: NameError");
    let head = "from roofline_runner import implementation\n@implementation('add', dtypes=['f32'])\n";
    crashed(&format!("{head}def f(x, y): pass\n"), "mine.py:2: `mine/f` must take one argument, the job");
    crashed(&format!("{head}def f(job): pass\n"), "mine.py:2: `mine/f` returned NoneType, not a callable");
    crashed(
        &format!("{head}def f(job): return lambda x: x\n"),
        "mine.py:3: what `mine/f` returned must take no argument",
    );

    let unloaded = |code: &str, why: &str| {
        scene.write("mine.py", code);
        check(&scene, "mine.py", "").complains(5, &["runner `mine`", why, "hint: "]);
    };
    unloaded("\n\ndef f(:\n", "mine.py:3: SyntaxError");
    unloaded("import nothing_of_the_kind\n", "mine.py:1: ModuleNotFoundError");
    unloaded("x = 1\n", "mine.py offers nothing");
    unloaded(
        "from roofline_runner import implementation\n@implementation('add', dtypes=['f31'])\ndef f(job): pass\n",
        "mine.py:2: ValueError: dtypes are some of",
    );
    check(&scene, "nowhere.py", "").complains(2, &["nowhere.py", "No such file"]);
}

#[test]
fn an_operation_that_the_file_does_not_have() {
    let scene = Scene::new();
    scene.write("mine.py", &adder("plain", RIGHT));
    let outcome = scene.call_with_store("check softmax/f32/rows=1,cols=1 --python mine.py");
    outcome.complains(
        5,
        &["mine.py` has no implementation of `softmax`", "`mine/plain` for `add`", "mine.py:7"],
    );
}

#[test]
fn a_crash_a_hang_and_silence_cost_a_row_each() {
    let scene = Scene::new();
    let one = |name: &str, body: &str| {
        let code = adder(name, body);
        code[code.find("@implementation").unwrap()..].to_owned()
    };
    let code = [
        adder("right", RIGHT),
        one("crash", "os.kill(os.getpid(), signal.SIGSEGV)"),
        one("hang", "time.sleep(1000)"),
        one("silent", "os._exit(0)"),
    ];
    scene.write("mine.py", &code.join("\n\n"));
    let outcome = check(&scene, "mine.py", "-i mine/* --timeout 1s").exits(4);
    for (name, status) in [("right", "ok"), ("crash", "crashed"), ("hang", "timeout"), ("silent", "crashed")]
    {
        assert_eq!(outcome.row(&format!("mine/{name}"))["status"], status);
    }
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let scene = Scene::new();
    scene.write("cpu.py", &adder("plain", RIGHT));
    check(&scene, "cpu.py", "").complains(2, &["two runners are called `cpu`", "give the file another name"]);
}

#[test]
fn a_variable_reaches_the_kernel_and_its_record() {
    let scene = Scene::new();
    let body = "z[:] = array('f', map(add, x, y)) if os.environ.get('TILE') == '8 x' else array('f', x)";
    scene.write("mine.py", &adder("tiled", body));
    check(&scene, "mine.py", "-i mine/*").exits(4);
    let row = check(&scene, "mine.py", "-i mine/* --env TILE=9").exits(4).rows().remove(0);
    assert_eq!(row["provenance"]["notes"]["environment"], "TILE=9", "{row}");
    let line = format!(
        "roofline check {CASE} --python mine.py -i 'mine/*' --env 'TILE=8 x' --store store.db --format jsonl"
    );
    let row = scene.shell(&line).exits(0).rows().remove(0);
    let reproduce = row["reproduce"].as_str().unwrap();
    assert!(reproduce.contains(" --env 'TILE=8 x' "), "{reproduce}");
    scene.shell(reproduce).exits(0);
    check(&scene, "mine.py", "--env LD_PRELOAD=x.so")
        .complains(2, &["LD_PRELOAD", "decides which code runs"]);
    scene.call(&format!("check {CASE} --env TILE=8")).complains(2, &["`--env` is for nobody", "hint: "]);
}

#[test]
fn a_helper_beside_the_file_is_followed_and_its_change_seen() {
    let scene = Scene::new();
    let helper = |name: &str| adder("unused", RIGHT).replace("def unused", &format!("def {name}"));
    scene.write("mine.py", "import helper\n");
    scene.write("helper.py", &helper("first"));
    assert_eq!(check(&scene, "mine.py", "-i mine/*").exits(0).rows()[0]["implementation"], "mine/first");
    // The answer of before would be remembered, were it for `mine.py` alone.
    scene.write("helper.py", &helper("second_one"));
    let outcome = check(&scene, "mine.py", "-i mine/*").exits(0);
    assert_eq!(outcome.rows()[0]["implementation"], "mine/second_one");
}
