//! Cases on another device than the CPU: who takes part, and that what is there is judged as here.
//!
//! The device is one that a runner claims to have; tensors are copied to it and back as to any other.

use crate::scene::{Outcome, Scene};

const CASE: &str = "add/f32/rows=5,cols=7/device=cuda:0";

const RUNNER: &str = r#"
import time
from array import array
from operator import add
from roofline_runner import Runner

runner = Runner("mine", "1.0", ["cpu", "cuda:0"])


def far(job, is_stale=False):
    shared = [memory.cast("f") for memory in job.buffers()]
    copies = [array("f", one) for one in shared]
    queue = []

    def bring():
        if not is_stale:
            copies[:2] = [array("f", one) for one in shared[:2]]

    def wait(_result):
        # As on a GPU, waiting takes its time, however little there is to wait for.
        time.sleep(0.0003)
        while queue:
            copies[2] = queue.pop()()

    def fetch(result):
        wait(result)
        shared[2][:] = copies[2]

    job.elsewhere(bring, wait, fetch)
    # As on a GPU, a launch only asks for the work.
    return lambda: queue.append(lambda: array("f", map(add, *copies[:2])))


@runner.implementation("mine/far", operation="add", dtypes=["f32"], devices=["cuda"])
def right(job):
    return far(job)


@runner.implementation("mine/stale", operation="add", dtypes=["f32"], devices=["cuda"])
def stale(job):
    return far(job, is_stale=True)


@runner.implementation("mine/lost", operation="add", dtypes=["f32"], devices=["cuda"])
def lost(job):
    return lambda: None


@runner.implementation("mine/near", operation="add", dtypes=["f32"])
def near(job):
    x, y, z = (memory.cast("f") for memory in job.buffers())

    def launch():
        z[:] = array("f", map(add, x, y))

    return launch
"#;

fn call(words: &str) -> Outcome {
    let scene = Scene::new();
    scene.write("mine.py", RUNNER);
    scene.call_with_store(&format!("{words} --python mine.py"))
}

#[test]
fn those_that_compute_there_take_part_and_are_judged() {
    let outcome = call(&format!("check {CASE} --format jsonl")).exits(4);
    assert_eq!(outcome.rows().len(), 3, "{}", outcome.stdout);
    let right = outcome.row("mine/far");
    assert_eq!(right["status"], "ok", "{right}");
    assert_eq!(right["evidence"]["output"], "fresh", "{right}");
    assert_eq!(outcome.row("mine/stale")["status"], "wrong");
    let lost = outcome.row("mine/lost");
    assert_eq!(lost["status"], "crashed", "{lost}");
    let why = lost["why"].as_str().unwrap();
    assert!(why.contains("mine.py:") && why.contains("`job.elsewhere`"), "{why}");
}

#[test]
fn a_time_is_that_of_the_device() {
    let row = call(&format!("run {CASE} -i mine/far --quick --format jsonl")).exits(0).row("mine/far");
    assert_eq!(row["status"], "ok", "{row}");
    let launches = row["samples"][0][2].as_u64().unwrap();
    assert!(launches > 10, "one wait is spread over many launches: {row}");
    assert!(row["rounds"]["limit"].is_null(), "no probe of this processor bounds another device: {row}");
}

#[test]
fn on_the_cpu_they_take_no_part() {
    let rows = call("check add/f32/rows=5,cols=7 -i mine/* --format jsonl").exits(0).rows();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["implementation"], "mine/near");
}

#[test]
fn its_caches_cannot_be_emptied() {
    let row = call(&format!("check {CASE} --cache cold -i mine/far --format jsonl")).exits(5).row("mine/far");
    assert_eq!(row["status"], "refused", "{row}");
    assert_eq!(row["why"], "caches of `cuda:0` cannot be emptied");
}

#[test]
fn it_is_listed_once_its_runner_was_asked() {
    let scene = Scene::new();
    scene.write("mine.py", RUNNER);
    scene.call_with_store("runners --python mine.py").exits(0);
    let shown = scene.call_with_store("list devices --python mine.py").exits(0).stdout;
    assert!(shown.starts_with("cpu ") && shown.contains("\ncuda:0  seen by mine\n"), "{shown}");
}
