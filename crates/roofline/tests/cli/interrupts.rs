//! Ctrl-C, kill -9, and two runs at a time: what was finished is kept, and nothing is left behind.

use crate::scene::{Outcome, Scene, send, start, wait_until};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

/// The promise is one second; the rest is for a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(1 + 5);

/// A kernel that waits, at a size that the gate does not draw by itself, until the file `go` is there.
const WAITING: &str = r#"
import os, time
from roofline_runner import Runner

runner = Runner("mine", version="1.0")

@runner.implementation("mine/waiting", operation="add", dtypes=["f32"])
def add(job):
    x, y, z = (tensor.memory.cast("f") for tensor in job.tensors)
    waits = job.axes["cols"] == 1000
    def launch():
        while waits and not os.path.exists("go"):
            open("waiting", "w").close()
            time.sleep(0.01)
        for i in range(len(z)):
            z[i] = x[i] + y[i]
    return launch

runner.serve()
"#;

#[track_caller]
pub fn nothing_is_left(scene: &Scene) {
    let deadline = Instant::now() + SOON;
    while !scene.processes().is_empty() {
        assert!(Instant::now() < deadline, "left behind: {:?}", scene.processes());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
fn works_at_once(scene: &Scene) {
    let outcome = scene.call_with_store("check add/f32/rows=1,cols=1").exits(0);
    assert_eq!(outcome.stderr, "", "it did not have to wait");
    nothing_is_left(scene);
}

#[test]
fn an_interrupt_keeps_the_finished_rows_and_leaves_nothing() {
    let scene = Scene::alone();
    scene.python_runner("mine", WAITING);
    let words = "check add/f32/rows=1,cols=200 add/f32/rows=1,cols=1000 add/f32/rows=1,cols=300 --runner mine --format jsonl";
    let child = start(scene.with_store(words));
    let marker = scene.path("mine/waiting");
    wait_until("the kernel to wait", || marker.exists());
    assert!(scene.processes().len() >= 4, "conductor, keeper and runners: {:?}", scene.processes());
    let asked = Instant::now();
    send("-INT", &format!("-{}", child.id()));
    let outcome = Outcome::of(child.wait_with_output()).exits(130);
    assert!(asked.elapsed() < SOON, "took {:?} to end", asked.elapsed());
    nothing_is_left(&scene);
    assert!(
        outcome.stderr.contains("interrupted: 4 of 12 rows are finished and stored"),
        "{}",
        outcome.stderr
    );
    let shown: Vec<String> =
        outcome.rows().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    let stored: Vec<String> = scene.records().into_iter().map(|record| record.id).collect();
    assert_eq!((shown.len(), shown), (4, stored));
    works_at_once(&scene);
}

#[test]
fn an_interrupt_is_heard_whatever_is_going_on() {
    let scene = Scene::alone();
    // Large enough that the conductor is often computing when the signal comes.
    for (attempt, delay) in [30, 150, 400, 900].into_iter().enumerate() {
        let words =
            "run softmax/f32/rows=700,cols=900 matmul/f32/m=300,n=300,k=300 --budget 20s --format jsonl";
        let child = start(scene.with_store(words));
        wait_until("the run to begin", || scene.processes().len() > usize::from(attempt > 0));
        std::thread::sleep(Duration::from_millis(delay));
        let asked = Instant::now();
        send("-INT", &format!("-{}", child.id()));
        let outcome = Outcome::of(child.wait_with_output()).exits(130);
        assert!(asked.elapsed() < SOON, "took {:?} to end", asked.elapsed());
        assert!(outcome.stderr.contains("interrupted: "), "{}", outcome.stderr);
        nothing_is_left(&scene);
    }
    works_at_once(&scene);
}

#[test]
fn a_killed_run_leaves_nothing_and_loses_no_finished_row() {
    let scene = Scene::alone();
    let mut seen = BTreeSet::new();
    for delay in [0, 20, 60, 150, 350, 700, 1200] {
        let words = "check add --axis rows=1:9:+1 --axis cols=100 --dtype f32,bf16";
        let mut child = start(scene.with_store(words));
        std::thread::sleep(Duration::from_millis(delay));
        seen.extend(scene.records_so_far().into_iter().map(|record| record.id));
        child.kill().unwrap();
        child.wait().unwrap();
        nothing_is_left(&scene);
        if scene.store().exists() {
            let stored: BTreeSet<String> =
                scene.records_so_far().into_iter().map(|record| record.id).collect();
            assert!(stored.is_superset(&seen), "a row that was there is gone");
        }
    }
    works_at_once(&scene);
    let stored: BTreeSet<String> = scene.records().into_iter().map(|record| record.id).collect();
    assert!(stored.is_superset(&seen) && stored.len() >= seen.len() + 3);
    let mut left: Vec<String> = std::fs::read_dir(scene.path(""))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["roofline", "runners", "store.db"]);
}

#[test]
fn killed_while_a_kernel_hangs() {
    let scene = Scene::alone();
    scene.python_runner("mine", WAITING);
    let mut child =
        start(scene.with_store("check add/f32/rows=1,cols=200 add/f32/rows=1,cols=1000 --runner mine"));
    let marker = scene.path("mine/waiting");
    wait_until("the kernel to wait", || marker.exists());
    let stored = scene.records();
    assert_eq!(stored.len(), 4, "what is finished is in the store while the run goes on");
    child.kill().unwrap();
    child.wait().unwrap();
    nothing_is_left(&scene);
    assert_eq!(scene.records(), stored);
    works_at_once(&scene);
}

#[test]
fn a_second_run_waits_and_says_so() {
    let scene = Scene::alone();
    scene.python_runner("mine", WAITING);
    let first = start(scene.with_store("check add/f32/rows=1,cols=1000 --runner mine -i mine/waiting"));
    let marker = scene.path("mine/waiting");
    wait_until("the kernel to wait", || marker.exists());

    // One that is interrupted while it waits, and one that waits to the end.
    let words = "check add/f32/rows=1,cols=1 -i cpu/plain --format jsonl --store second.db";
    let told = format!("another run is going on (process {}, `", first.id());
    let patient = scene.call(&format!("{words} --wait 200ms")).exits(5);
    assert!(patient.stderr.starts_with(&told), "{}", patient.stderr);
    assert!(patient.stderr.contains("another run has not ended in time: process "), "{}", patient.stderr);
    assert!(patient.stderr.contains("hint: "), "{}", patient.stderr);
    for interrupted in [true, false] {
        let mut second = start(scene.command(words));
        let mut line = String::new();
        let mut stderr = BufReader::new(second.stderr.take().unwrap());
        stderr.read_line(&mut line).unwrap();
        assert!(line.starts_with(&told) && line.ends_with("`); waiting for it to end\n"), "{line}");
        assert!(line.contains("check add/f32/rows=1,cols=1000"), "its command: {line}");
        assert!(second.try_wait().unwrap().is_none(), "it waits");
        if interrupted {
            send("-INT", &format!("-{}", second.id()));
            Outcome::of(second.wait_with_output()).exits(130);
            continue;
        }
        scene.write("mine/go", "");
        let second = Outcome::of(second.wait_with_output()).exits(0);
        assert_eq!(second.row("cpu/plain")["status"], "ok");
        stderr.read_to_string(&mut line).unwrap();
        assert_eq!(line.lines().count(), 1, "it says so once: {line}");
    }
    Outcome::of(first.wait_with_output()).exits(0);
    nothing_is_left(&scene);
}
