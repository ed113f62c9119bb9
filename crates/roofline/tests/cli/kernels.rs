//! Kernels of users: wrong, raising, crashing, hanging and lying ones cost a row each, and no other.

use crate::scene::{Outcome, Scene};
use serde_json::Value;

const KERNELS: &str = r#"
import ctypes, struct, time
from roofline_runner import Runner
import roofline_runner.runner as sdk

runner = Runner("mine", version="1.0")

def add(name, change=lambda x, y, z: None):
    def prepare(job):
        x, y, z = (tensor.memory.cast("f") for tensor in job.tensors)
        def launch():
            for i in range(len(z)):
                z[i] = x[i] + y[i]
            change(x, y, z)
        return launch
    runner.implementation("mine/" + name, operation="add", dtypes=["f32"])(prepare)

def off_by_one(x, y, z):
    z[len(z) - 1] = x[len(z) - 2] + y[len(z) - 1]

def not_a_number(x, y, z):
    z[0] = float("nan")

def truncated(x, y, z):
    for i in range(len(z)):
        bits = struct.unpack("I", struct.pack("f", z[i]))[0]
        z[i] = struct.unpack("f", struct.pack("I", bits & 0xFFFF0000))[0]

def raises(x, y, z):
    raise ValueError("shapes do not match")  # the line that a user wants to see

def crashes(x, y, z):
    ctypes.c_int.from_address(0).value = 1

def hangs(x, y, z):
    time.sleep(1000)

def takes_its_time(x, y, z):
    # Three quarters of it are more than a busy machine takes from a visit.
    time.sleep(0.032)

add("honest")
add("off-by-one", off_by_one)
add("not-a-number", not_a_number)
add("truncated", truncated)
add("raises", raises)
add("crashes", crashes)
add("hangs", hangs)
add("liar", takes_its_time)

honest_visit = sdk.visit
def visit(call, warmup, samples, batch, **more):
    times, copying, result = honest_visit(call, warmup, samples, batch, **more)
    if lies:
        times = [time / 4 for time in times]
    return times, copying, result
sdk.visit = visit
lies = False
prepare = runner._prepare
def note(question):
    global lies
    lies = question["implementation"] == "mine/liar"
    return prepare(question)
runner._METHODS = {**runner._METHODS, "prepare": lambda self, question: note(question)}

runner.serve()
"#;

/// All of them beside the house's, in one run.
fn check(scene: &Scene) -> Outcome {
    scene.python_runner("mine", KERNELS);
    scene.call_with_store("check add/f32/rows=5,cols=7 --runner mine --timeout 2s --format jsonl").exits(4)
}

fn why(row: &Value) -> &str {
    row["why"].as_str().unwrap()
}

#[test]
fn each_kind_of_failure_costs_one_row() {
    let scene = Scene::new();
    let outcome = check(&scene);
    let status = |name: &str| outcome.row(name)["status"].as_str().unwrap().to_owned();
    for name in ["cpu/plain", "cpu/vector", "cpu/parallel", "mine/honest"] {
        assert_eq!(status(name), "ok", "{}", outcome.row(name));
    }
    for (name, expected) in [
        ("mine/off-by-one", "wrong"),
        ("mine/not-a-number", "wrong"),
        ("mine/truncated", "wrong"),
        ("mine/raises", "crashed"),
        ("mine/crashes", "crashed"),
        ("mine/hangs", "timeout"),
        ("mine/liar", "suspect"),
    ] {
        let row = outcome.row(name);
        assert_eq!(row["status"], expected, "{row}");
        assert!(row["samples"].as_array().unwrap().is_empty(), "a row that failed has no time: {row}");
        assert!(!row["gate"]["seen_in"].as_str().unwrap().is_empty(), "{row}");
    }

    for (name, got) in
        [("mine/off-by-one", None), ("mine/not-a-number", Some("NaN")), ("mine/truncated", None)]
    {
        let row = outcome.row(name);
        let fault = &row["gate"]["fault"];
        assert_eq!(fault["at"].as_array().unwrap().len(), 2, "{row}");
        for number in ["got", "expected", "bound"] {
            let text = fault[number].as_str().unwrap();
            assert!(text.parse::<f64>().is_ok(), "{number}: {row}");
        }
        if let Some(got) = got {
            assert_eq!(fault["got"], got, "{row}");
        }
        assert!(fault["failed"].as_u64().unwrap() <= fault["checked"].as_u64().unwrap(), "{row}");
    }
    assert_eq!(outcome.row("mine/not-a-number")["gate"]["fault"]["pattern"], "nan");

    let raises = outcome.row("mine/raises");
    let line = KERNELS.lines().position(|line| line.contains("a user wants to see")).unwrap() + 1;
    assert_eq!(why(&raises), format!("main.py:{line}: ValueError: shapes do not match"));
    assert!(why(&outcome.row("mine/crashes")).contains("SIGSEGV"), "{}", outcome.row("mine/crashes"));
    assert!(
        why(&outcome.row("mine/hangs")).contains("no answer within 2.0s"),
        "{}",
        outcome.row("mine/hangs")
    );
    let liar = outcome.row("mine/liar");
    assert!(why(&liar).contains("claims") && why(&liar).contains("conductor's clock"), "{liar}");

    // Each says how to see it again, and that works from another folder.
    for name in ["mine/off-by-one", "mine/raises", "mine/honest"] {
        let row = outcome.row(name);
        let again = scene.shell(&format!(
            "mkdir -p elsewhere && cd elsewhere && {} --format jsonl",
            row["reproduce"].as_str().unwrap()
        ));
        let again = again.row(name);
        assert_eq!(again["status"], row["status"], "{again}");
        assert_eq!(again["gate"]["fault"], row["gate"]["fault"], "{again}");
    }
    let hang = outcome.row("mine/hangs")["reproduce"].as_str().unwrap().to_owned();
    assert!(hang.contains("--timeout 2000ms"), "{hang}");
}

#[test]
fn a_failed_row_is_shown_with_what_its_author_needs() {
    let scene = Scene::new();
    scene.python_runner("mine", KERNELS);
    let words = "check add/f32/rows=5,cols=7 --runner mine -i mine/not-a-number,mine/raises";
    for format in ["table", "markdown"] {
        let text = scene.call_with_store(&format!("{words} --format {format}")).exits(4).stdout;
        for part in ["got ", "expected ", "±", "eproduce: ", "ValueError: shapes do not match", "--seed "] {
            assert!(text.contains(part), "{format}: `{part}` is not in:\n{text}");
        }
        assert_eq!(text.matches("expected ").count(), 1, "said once: {text}");
    }
    let text = scene.call_with_store("explain add/f32/rows=5,cols=7@mine/not-a-number").exits(0).stdout;
    for part in [
        "status    wrong: ",
        "worst ",
        "outside the bound",
        "pattern   all NaN",
        "seen in ",
        "runner mine 1.0",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn what_a_kernel_prints_does_not_disturb_the_conversation() {
    let scene = Scene::new();
    let code = KERNELS
        .replace("time.sleep(0.032)", "print('{\"id\":1,\"ok\":{}}', flush=True)")
        .replace("time / 4", "time");
    scene.python_runner("mine", &code);
    let words = "check add/f32/rows=5,cols=7 --runner mine -i mine/liar --format jsonl";
    let row = scene.call_with_store(words).exits(0).row("mine/liar");
    assert_eq!(row["status"], "ok", "{row}");
}

#[test]
fn a_runner_that_offers_less_says_so_in_its_rows() {
    let scene = Scene::new();
    scene.python_runner("mine", KERNELS);
    let words = "check add/bf16/rows=5,cols=7 --runner mine -i mine/honest --format jsonl";
    let row = scene.call_with_store(words).exits(5).row("mine/honest");
    assert_eq!(row["status"], "unsupported", "{row}");
    assert_eq!(why(&row), "`mine/honest` does not offer add in bf16");
    scene
        .call_with_store("check softmax/f32/rows=5,cols=7 --runner mine -i mine/honest")
        .complains(5, &["nothing is selected", "hint: "]);
}
