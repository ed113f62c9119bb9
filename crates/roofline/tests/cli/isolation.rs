//! Runners are kept from the world outside, end with everything that is theirs, and offer what is theirs to offer.

use crate::interrupts::nothing_is_left;
use crate::scene::{Outcome, Scene, say, send, start, wait_until};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A kernel that leaves a process behind which is nobody's child, hears no signal and has a session of its own. At
/// one size it waits until it is killed.
const DOUBLE_FORKS: &str = r#"
import os, signal, time
from roofline_runner import Runner

runner = Runner("mine", version="1.0")
has_forked = False

def double_fork():
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
            os.closerange(0, 64)
            time.sleep(600)
        os._exit(0)
    os.waitpid(child, 0)

@runner.implementation("mine/add", operation="add", dtypes=["f32"])
def add(job):
    x, y, z = (tensor.memory.cast("f") for tensor in job.tensors)
    waits = job.axes["cols"] == 1000
    def launch():
        global has_forked
        if not has_forked:
            has_forked = True
            double_fork()
        while waits:
            open("waiting", "w").close()
            time.sleep(0.01)
        for i in range(len(z)):
            z[i] = x[i] + y[i]
    return launch

runner.serve()
"#;

/// A command on a system that has no namespaces of processes to give; `None` where that cannot be played.
fn without_namespaces(scene: &Scene, words: &str) -> Option<Command> {
    let script = "echo 0 > /proc/sys/user/max_pid_namespaces && exec \"$@\"";
    let mut command = scene.dress(Command::new("unshare"));
    command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]);
    if !command.arg("true").status().is_ok_and(|status| status.success()) {
        say("skipped: no user namespaces here, so a system without namespaces cannot be played");
        return None;
    }
    let mut command = scene.dress(Command::new("unshare"));
    command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]).arg(scene.program());
    command.args(words.split_whitespace()).arg("--store").arg(scene.store());
    Some(command)
}

/// The process that the conductor started as keeper.
fn keeper_of(conductor: u32, scene: &Scene) -> u32 {
    let is_keeper = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        parent == Some(conductor)
    };
    scene.processes().into_iter().find(is_keeper).expect("a keeper")
}

#[test]
fn nothing_is_left_whoever_is_killed() {
    for apart in [true, false] {
        for (killed, both) in [("conductor", false), ("keeper", false), ("conductor", true)] {
            let scene = Scene::alone();
            scene.python_runner("mine", DOUBLE_FORKS);
            let words = "check add/f32/rows=1,cols=1000 --runner mine -i mine/add";
            let command =
                if apart { Some(scene.with_store(words)) } else { without_namespaces(&scene, words) };
            let Some(command) = command else { return };
            let child = start(command);
            let marker = scene.path("mine/waiting");
            wait_until("the kernel to wait", || marker.exists());
            let (conductor, keeper) = (child.id(), keeper_of(child.id(), &scene));
            assert!(scene.processes().len() >= 5, "conductor, keeper, warden, runner and what it left");
            let first = if killed == "keeper" { keeper } else { conductor };
            send("-KILL", &first.to_string());
            if both {
                // It may be gone by now, which is as good.
                let _ = Command::new("kill").args(["-KILL", &keeper.to_string()]).output();
            }
            let outcome = Outcome::of(child.wait_with_output());
            nothing_is_left(&scene);
            if killed == "keeper" {
                assert_eq!(outcome.code, 1, "{}", outcome.stderr);
                assert!(outcome.stderr.contains("the keeper is gone"), "{}", outcome.stderr);
                assert!(scene.records().is_empty(), "no row is blamed");
            }
        }
    }
}

#[test]
fn what_a_runner_leaves_behind_is_seen_and_ends_with_the_run() {
    let scene = Scene::alone();
    scene.python_runner("mine", DOUBLE_FORKS);
    let words = "check add/f32/rows=1,cols=200 --runner mine -i mine/add --format jsonl";
    for command in [Some(scene.with_store(words)), without_namespaces(&scene, words)].into_iter().flatten() {
        let mut command = command;
        let outcome = Outcome::of(command.process_group(0).output()).exits(4);
        let row = outcome.row("mine/add");
        assert_eq!(row["status"], "suspect", "{row}");
        assert!(row["why"].as_str().unwrap().contains("process(es) running"), "{row}");
        nothing_is_left(&scene);
    }
}

/// A kernel that writes down how it finds itself.
const LOOKS_AROUND: &str = r#"
import os
from roofline_runner import Runner

runner = Runner("mine", version="1.0")

@runner.implementation("mine/add", operation="add", dtypes=["f32"])
def add(job):
    with open("status", "w") as copy:
        copy.write(open("/proc/self/status").read())
    with open(os.path.join(os.environ["TMPDIR"], "mine"), "w") as temporary:
        temporary.write("mine")
    for place in ("..", os.environ["HOME"], "/tmp"):
        try:
            open(os.path.join(place, "outside"), "w").close()
            raise AssertionError(place + " can be written")
        except PermissionError:
            pass
    x, y, z = (tensor.memory.cast("f") for tensor in job.tensors)
    def launch():
        for i in range(len(z)):
            z[i] = x[i] + y[i]
    return launch

runner.serve()
"#;

/// A line of a process's status.
fn line_of(status: &str, name: &str) -> Option<String> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
}

#[test]
fn a_runner_is_restricted_and_its_speculation_left_alone() {
    let scene = Scene::alone();
    scene.python_runner("mine", LOOKS_AROUND);
    let words = "check add/f32/rows=1,cols=8 --runner mine -i mine/add --format jsonl";
    let row = Outcome::of(scene.with_store(words).output()).exits(0).row("mine/add");
    assert_eq!(row["status"], "ok", "{row}");
    let inside = std::fs::read_to_string(scene.path("mine/status")).unwrap();
    let outside = std::fs::read_to_string("/proc/self/status").unwrap();
    for name in ["Speculation_Store_Bypass:", "SpeculationIndirectBranch:"] {
        assert_eq!(line_of(&inside, name), line_of(&outside, name), "{name}");
    }
    assert_eq!(line_of(&inside, "NoNewPrivs:").as_deref(), Some("1"));
    assert_eq!(line_of(&inside, "Seccomp:").as_deref(), Some("2"));
    let checks = row["evidence"]["checks"].as_array().unwrap();
    let sandbox = checks.iter().find(|checked| checked["check"] == "sandbox").unwrap();
    let machine: serde_json::Value =
        serde_json::from_str(&scene.call("machine --json --quick --store other.db").exits(0).stdout).unwrap();
    let missing = machine["isolation"]["missing"].as_array().unwrap();
    let standing = if missing.is_empty() { "held" } else { "weaker" };
    assert_eq!(sandbox["standing"], standing, "{missing:?}");
}

#[test]
fn what_is_weaker_fails_where_it_may_not_be() {
    let scene = Scene::alone();
    let words = "run add/f32/rows=1,cols=8 -i cpu/plain --quick --budget 50ms --format jsonl";
    for (option, code, status, why) in [
        ("", 0, "ok", ""),
        (" --sandbox required", 5, "refused", "cannot be isolated in full"),
        (" --require-evidence held", 4, "suspect", "sandbox (other processes can be seen"),
    ] {
        let Some(mut command) = without_namespaces(&scene, &format!("{words}{option}")) else { return };
        let row = Outcome::of(command.output()).exits(code).row("cpu/plain");
        assert_eq!(row["status"], status, "{row}");
        assert!(row["why"].as_str().unwrap().contains(why), "{row}");
        assert_eq!(row["samples"].as_array().unwrap().is_empty(), status != "ok", "{row}");
    }
}

#[test]
fn names_of_the_house_are_its_own() {
    let scene = Scene::alone();
    let house = |name: &str, implementation: &str| {
        let code =
            LOOKS_AROUND.replace("\"mine\"", &format!("\"{name}\"")).replace("mine/add", implementation);
        scene.python_runner(name, &code);
    };
    for implementation in ["limit/traffic-9", "cpu/vector", "cuda/add"] {
        house("mine", implementation);
        let outcome = scene.call_with_store("check add/f32/rows=1,cols=8 --runner mine");
        assert_ne!(outcome.code, 0);
        let why = format!("offers `{implementation}`");
        assert!(
            outcome.stderr.contains(&why) && outcome.stderr.contains("house's own"),
            "{}",
            outcome.stderr
        );
    }
    house("limit", "limit/mine");
    scene
        .call_with_store("check add/f32/rows=1,cols=8 --runner limit")
        .complains(2, &["cannot be called `limit`", "runner.toml"]);
}

#[test]
fn rows_of_one_name_are_told_apart_or_refused() {
    let scene = Scene::alone();
    for name in ["one", "two"] {
        let code = LOOKS_AROUND.replace("\"mine\"", &format!("\"{name}\"")).replace("mine/add", "both/add");
        scene.python_runner(name, &code);
    }
    scene
        .call_with_store("check add/f32/rows=1,cols=8 --runner one --runner two")
        .complains(2, &["two runners offer `both/add`", "`one` and `two`"]);
    scene.call_with_store("check add/f32/rows=1,cols=8 --runner one -i both/add").exits(0);
}
