//! Cases on another device than the CPU: who takes part, and that what is there is judged as here.
//!
//! The device is a stand-in, whose memory is the host's: `roofline device cuda:0 --stand-in` owns the tensors, and
//! runners map them from there as they would map those of a card. Some compute in copies, as libraries do that take
//! no memory of others.

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
    job.host_nanoseconds = 70_100.0
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

/// Those that say, or do not say, where their tensors may lie.
const ALIGNED: &str = r#"
import ctypes


def offset(memory):
    return ctypes.addressof(ctypes.c_char.from_buffer(memory)) % 16


@runner.implementation("mine/usual", operation="add", dtypes=["f32"], devices=["cuda"])
@runner.implementation("mine/claims", operation="add", dtypes=["f32"], devices=["cuda"], requires="align 1")
def vectors(job):
    launch = far(job)
    output = job.buffers()[2]

    def launch_on_vectors():
        if offset(output):
            raise RuntimeError(f"misaligned address: {offset(output)} bytes beyond a vector")
        launch()

    return launch_on_vectors


@runner.implementation("mine/anywhere", operation="add", dtypes=["f32"], devices=["cuda"], requires="align 1")
def anywhere(job):
    return far(job)
"#;

/// One that leaves work on the device behind, until its process ends.
const LEAVER: &str = r#"
import fcntl


@runner.implementation("mine/leaves", operation="add", dtypes=["f32"], devices=["cuda"])
def leaves(job):
    launch = far(job)
    left = open("BUSY")

    def launch_and_leave():
        launch()
        fcntl.flock(left, fcntl.LOCK_EX)

    return launch_and_leave
"#;

fn call(words: &str) -> Outcome {
    let scene = Scene::new();
    scene.write("mine.py", RUNNER);
    on_the_stand_in(&scene, &format!("{words} --python mine.py"))
}

fn on_the_stand_in(scene: &Scene, words: &str) -> Outcome {
    let mut command = scene.with_store(words);
    command.env("ROOFLINE_STAND_IN", scene.write("busy", ""));
    scene.outcome(command)
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
fn addresses_are_drawn_as_they_are_declared() {
    let scene = Scene::new();
    scene.write("mine.py", &[RUNNER, ALIGNED].concat());
    let rows = "-i mine/usual -i mine/claims -i mine/anywhere";
    let outcome = on_the_stand_in(&scene, &format!("check {CASE} {rows} --python mine.py --format jsonl"));
    let outcome = outcome.exits(4);
    for (row, status) in [("mine/usual", "ok"), ("mine/claims", "crashed"), ("mine/anywhere", "ok")] {
        assert_eq!(outcome.row(row)["status"], status, "{}", outcome.stdout);
    }
    let why = outcome.row("mine/claims")["why"].as_str().unwrap().to_owned();
    assert!(why.contains("misaligned address") && why.contains("declare `align 16`"), "{why}");
}

#[test]
fn a_time_is_that_of_the_device() {
    let row = call(&format!("run {CASE} -i mine/far --quick --format jsonl")).exits(0).row("mine/far");
    assert_eq!(row["status"], "ok", "{row}");
    let launches = row["samples"][0][2].as_u64().unwrap();
    assert!(launches > 10, "one wait is spread over many launches: {row}");
    assert!(row["rounds"]["limit"].is_null(), "no probe of this processor bounds another device: {row}");
}

/// The stand-in has 4 GiB.
#[test]
fn what_a_device_has_no_room_for_is_refused() {
    let large = "add/f32/rows=20000,cols=20000/device=cuda:0";
    let row =
        call(&format!("check {large} -i mine/far --memory 64GiB --format jsonl")).exits(5).row("mine/far");
    assert_eq!(row["status"], "refused", "{row}");
    assert_eq!(row["why"], "its tensors take 4.47 GiB; `cuda:0` has 4.00 GiB", "{row}");
}

#[test]
fn on_the_cpu_they_take_no_part() {
    let rows = call("check add/f32/rows=5,cols=7 -i mine/* --format jsonl").exits(0).rows();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["implementation"], "mine/near");
}

#[test]
fn cold_launches_take_turns_with_sets_of_tensors() {
    let rows = call(&format!("check {CASE} --cache cold -i mine/* --format jsonl")).exits(4);
    assert_eq!(rows.row("mine/far")["status"], "ok", "{}", rows.stdout);
    assert_eq!(rows.row("mine/stale")["status"], "wrong");
}

/// Cheats of the saboteur that are about tensors, on memory of the stand-in: each gets what it gets on the CPU.
const CHEATS: [&str; 11] = [
    "honest",
    "zeros",
    "stale",
    "last-tile-missing",
    "bf16-inside",
    "cached-by-pointer",
    "cached-by-content",
    "skips-after-10-calls",
    "repeats-after-10-calls",
    "late-tail",
    "maximum-misses-tail",
];

/// Those that cheat by a `visit` of their own, which a kernel has where there is one set of tensors.
const WHEN_TIMED: [&str; 3] = ["idle-when-timed", "replays-when-timed", "strays-when-timed"];

#[test]
fn cheats_are_found_out_there_too() {
    let saboteur = std::path::Path::new(env!("CARGO_BIN_EXE_roofline")).with_file_name("saboteur");
    let Ok(table) = std::process::Command::new(&saboteur).arg("--table").output() else {
        crate::scene::say("skipped: `cargo build -p saboteur` makes what this test starts");
        return;
    };
    let table: serde_json::Value = serde_json::from_slice(&table.stdout).unwrap();
    let scene = Scene::alone();
    let command = format!("command = [{:?}, \"--on\", \"cuda:0\"]", saboteur.display().to_string());
    scene.write(
        "saboteur/runner.toml",
        &format!("name = \"saboteur\"\nabout = \"cheats\"\n{command}\nhint = \"\"\n"),
    );
    for (cache, cheats) in [("cold", &CHEATS[..]), ("warm", &WHEN_TIMED[..])] {
        let rows: Vec<String> = cheats.iter().map(|name| format!("-i saboteur/{name}")).collect();
        let case = format!("softmax/f32/rows=64,cols=1000/cache={cache}/device=cuda:0");
        let words = format!("check {case} --runner saboteur {} --format jsonl", rows.join(" "));
        let outcome = on_the_stand_in(&scene, &words).exits(4);
        for name in cheats {
            let implementation = format!("saboteur/{name}");
            let rows = table["implementations"].as_array().unwrap();
            let wanted = rows.iter().find(|row| row["implementation"] == implementation.as_str()).unwrap();
            let row = outcome.row(&implementation);
            assert_eq!(row["status"], wanted["status"], "{row}");
        }
    }
}

/// From plan to record: rows that are measured there, cold and warm.
#[test]
fn rows_are_measured_there() {
    let scene = Scene::alone();
    scene.write("mine.py", RUNNER);
    for cache in ["cold", "warm"] {
        let words = format!("run {CASE} --cache {cache} -i mine/far --quick --python mine.py --format jsonl");
        let row = on_the_stand_in(&scene, &words).exits(0).row("mine/far");
        assert_eq!(row["status"], "ok", "{row}");
        assert!(row["samples"].as_array().is_some_and(|samples| samples.len() > 6), "{row}");
        let notes = &row["provenance"]["notes"];
        for (name, note) in [
            ("host", "70.1 µs a launch"),
            ("card clock", "1755 MHz"),
            ("card power", "700 W"),
            ("card held back by", "power cap"),
            ("card memory", "9.00 MiB in use by all, at the most"),
        ] {
            assert_eq!(notes[name], note, "{row}");
        }
    }
}

/// What still runs on a device is of whoever had it last, and no other row's.
#[test]
fn work_that_is_left_there_is_its_own_row_s_fault() {
    let scene = Scene::alone();
    let lock = scene.write("busy", "").display().to_string();
    scene.write("mine.py", &[RUNNER, &LEAVER.replace("BUSY", &lock)].concat());
    for command in ["check", "run --quick"] {
        let words = format!("{command} {CASE} -i mine/far -i mine/leaves --python mine.py --format jsonl");
        let outcome = on_the_stand_in(&scene, &words).exits(4);
        assert_eq!(outcome.row("mine/far")["status"], "ok", "{}", outcome.stdout);
        let leaves = outcome.row("mine/leaves");
        assert_eq!(leaves["status"], "suspect", "{leaves}");
        assert!(leaves["why"].as_str().unwrap().contains("device"), "{leaves}");
    }
}

#[test]
fn it_is_listed_once_its_runner_was_asked() {
    let scene = Scene::new();
    scene.write("mine.py", RUNNER);
    scene.call_with_store("runners --python mine.py").exits(0);
    let shown = scene.call_with_store("list devices --python mine.py").exits(0).stdout;
    assert!(shown.starts_with("cpu ") && shown.contains("\ncuda:0  seen by mine\n"), "{shown}");
}

/// Where there is none; a machine with a card shows it instead.
#[test]
fn without_a_device_one_line_says_why() {
    if roofline_runner::device::list().is_ok() {
        crate::scene::say("skipped: this machine has a CUDA device");
        return;
    }
    let scene = Scene::new();
    let shown = scene.call_with_store("list devices").exits(0).stdout;
    assert!(shown.contains("\ncuda    no CUDA device: "), "{shown}");
    for words in
        ["check softmax/f32/rows=8,cols=8 --device cuda", "run softmax --suite quick --device cuda:0 --quick"]
    {
        let outcome = scene.call_with_store(words).exits(5);
        let told: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("error")).collect();
        assert_eq!(told.len(), 1, "{}", outcome.stderr);
        assert!(told[0].contains("there is no device `cuda:0`: no CUDA device: "), "{}", told[0]);
    }
}

/// Far from a card as well as near one.
#[test]
fn a_cuda_file_is_a_side() {
    let scene = Scene::alone();
    let source = "//! [[kernel]]\n//! name = \"one\"\n//! operation = \"add\"\n//! dtypes = [\"f32\"]\n//! entry = \"one\"\n\
        //! arguments = [\"x\", \"y\", \"z\", \"rows\", \"cols\"]\n//! grid = [\"rows\"]\n//! block = [\"64\"]\n\
        extern \"C\" __global__ void one() {}\n";
    for file in ["a.cu", "b.cu"] {
        scene.write(file, source);
    }
    // With the stand-in there is a device, and no driver that would launch anything on it.
    let sides = on_the_stand_in(&scene, &format!("ab a.cu b.cu {CASE} --quick --dry-run")).exits(0);
    assert_eq!(sides.stdout.matches("old/one").count(), 1, "{}", sides.stdout);
    assert!(sides.stdout.contains("new/one"), "{}", sides.stdout);
}
