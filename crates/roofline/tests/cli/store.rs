//! Stores that are not ours, cannot be written, or fill the disk.

use crate::scene::{Outcome, Scene, say, start, wait_until};
use roofline_store::Store;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const CASE: &str = "add/f32/rows=1,cols=1";

/// A store that is refused by `check` and by `explain`, and keeps every byte.
#[track_caller]
fn refused(scene: &Scene, parts: &[&str]) {
    let before = std::fs::read(scene.store()).unwrap();
    scene.call_with_store(&format!("check {CASE} -i cpu/plain")).complains(1, parts);
    scene.call_with_store(&format!("explain {CASE}@cpu/plain")).complains(1, parts);
    assert_eq!(std::fs::read(scene.store()).unwrap(), before, "a byte was changed");
}

#[test]
fn files_of_others_are_left_alone() {
    let scene = Scene::new();
    scene.write("store.db", "my thesis\n".repeat(1000).as_str());
    refused(&scene, &["is not a Roofline store: it is not a SQLite file", "hint: it was left as it is"]);
    std::fs::remove_file(scene.store()).unwrap();
    let made = scene.python(
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[2]); c.execute('create table runs (id)'); c.commit()",
        &["store.db"],
    );
    made.exits(0);
    refused(&scene, &["is not a Roofline store", "hint: it was left as it is"]);
}

#[test]
fn a_newer_store_is_left_alone() {
    let scene = Scene::new();
    scene.call_with_store(&format!("check {CASE} -i cpu/plain")).exits(0);
    let newer =
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[2]); c.execute('pragma user_version = 99')";
    scene.python(newer, &["store.db"]).exits(0);
    refused(&scene, &["has schema 99", "hint: it was left as it is; use the newer Roofline"]);
}

#[test]
fn places_where_no_store_can_be() {
    let scene = Scene::new();
    let check = |store: &str| scene.call(&format!("check {CASE} -i cpu/plain --store {store}"));
    check("runners").complains(1, &["runners` is not a Roofline store: it is a folder", "hint: "]);
    scene.write("file", "");
    check("file/store.db").complains(1, &["file/store.db", "hint: "]);
    check("/proc/no/store.db").complains(1, &["/proc/no/store.db", "hint: "]);
    // Root may write everywhere; for others a folder can be closed.
    std::fs::create_dir(scene.path("closed")).unwrap();
    std::fs::set_permissions(scene.path("closed"), std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(scene.path("closed/probe"), "").is_err() {
        check("closed/store.db").complains(1, &["cannot be written", "hint: "]);
    }
}

#[test]
fn a_store_is_made_with_its_folders_and_any_name() {
    let scene = Scene::new();
    scene.call(&format!("check {CASE} -i cpu/plain")).exits(0);
    assert!(scene.path(".roofline/roofline.db").is_file(), "where it lies by default");
    scene.call(&format!("check {CASE} -i cpu/plain --store some/new/place.db")).exits(0);
    assert!(scene.path("some/new/place.db").is_file());
    let mut command = scene.dress(Command::new(scene.program()));
    command.args(["check", CASE, "-i", "cpu/plain", "--store"]).arg(OsStr::from_bytes(b"na\xefve.db"));
    Outcome::of(command.output()).exits(0);
}

/// Sets the limit on file sizes to its first argument and becomes the program with the others.
const LIMITED: &str = "import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execv(sys.argv[1], [sys.argv[1], *sys.argv[3:]])";

#[test]
fn a_full_disk_ends_the_run_and_loses_nothing() {
    let scene = Scene::new();
    let words = ["check", "add", "--axis", "rows=2", "--axis", "cols=1:60:+1", "--format", "jsonl"];
    let narrow = ["-i", "cpu/plain", "--store", "store.db"];
    scene.call_with_store(&format!("check {CASE} -i cpu/plain")).exits(0);
    let before = scene.records();
    // Room for some rows: each takes a kilobyte. The limit is for tensors too, which take up to 44.
    let limit = (std::fs::metadata(scene.store()).unwrap().len() + (8 << 10)).max(52 << 10).to_string();
    let arguments: Vec<&str> = [limit.as_str()].into_iter().chain(words).chain(narrow).collect();
    let outcome = scene.python(LIMITED, &arguments).exits(1);
    for part in
        ["error: store: ", "could not be written to the disk", "hint: what was appended before is kept"]
    {
        assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
    }
    let after = scene.records();
    assert_eq!(after[..before.len()], before, "records of earlier runs");
    let stored: Vec<&str> = after[before.len()..].iter().map(|record| record.id.as_str()).collect();
    let rows = outcome.rows();
    let shown: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert!(!stored.is_empty() && stored.len() < 60, "{} rows fitted", stored.len());
    assert_eq!(stored, shown[..stored.len()], "what was stored was shown");
    assert!(shown.len() <= stored.len() + 1, "the run ended at the first row that could not be kept");
    // With room again, the store is as good as ever.
    scene.call_with_store(&format!("check {CASE} -i cpu/plain")).exits(0);
    assert_eq!(scene.records().len(), after.len() + 1);
}

/// A runner that waits, in its first preparation, until the file `go-on` lies beside it.
const WAITS: &str = r#"import array, os, time
from roofline_runner import Runner
runner = Runner("mine", "1")

@runner.implementation("mine/plain", operation="add", dtypes=["f32"])
def plain(job):
    while not os.path.exists("go-on"):
        time.sleep(0.01)
    x, y, z = job.buffers()
    def run():
        z[:] = memoryview(array.array("f", map(sum, zip(x.cast("f"), y.cast("f"))))).cast("B")
    return run

runner.serve()
"#;

/// Does something to the store while a run is under way, and what the run says of it.
#[track_caller]
fn meanwhile(deed: impl FnOnce(&Path), why: &str) {
    let scene = Scene::alone();
    scene.python_runner("mine", WAITS);
    let store = scene.path("place/store.db");
    let words = format!("check {CASE} --runner ./mine -i mine/* --store place/store.db --format jsonl");
    let running = start(scene.command(&words));
    let runs = || Store::open_read_only(&store).and_then(|store| store.runs()).map(|runs| runs.found.len());
    wait_until("a run in the store", || runs().is_ok_and(|runs| runs == 1));
    deed(&store);
    scene.write("mine/go-on", "");
    let outcome = Outcome::of(running.wait_with_output()).exits(1);
    for part in ["error: store: ", "place/store.db`", why, "hint: "] {
        assert!(outcome.stderr.contains(part), "`{part}` is not in:\n{}", outcome.stderr);
    }
    assert_eq!(outcome.row("mine/plain")["status"], "ok", "what was seen is printed");
}

#[test]
fn a_store_that_goes_away_during_a_run_is_no_success() {
    let gone = |why: &str| format!("is no longer the file that was opened: {why}");
    meanwhile(|store| std::fs::remove_file(store).unwrap(), &gone("it was removed"));
    let folder = |store: &Path| std::fs::remove_dir_all(store.parent().unwrap()).unwrap();
    meanwhile(folder, &gone("its folder was removed"));
    let replace = |store: &Path| {
        let copy = store.with_extension("copy");
        std::fs::copy(store, &copy).unwrap();
        std::fs::rename(copy, store).unwrap();
    };
    meanwhile(replace, &gone("another file lies there"));
}

#[test]
fn a_store_that_is_closed_during_a_run_is_no_success() {
    let scene = Scene::new();
    let mode =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(&scene.path("runners"), 0o555);
    if std::fs::write(scene.path("runners/probe"), "").is_ok() {
        return say("skipped: root may write in every folder");
    }
    meanwhile(|store| mode(store.parent().unwrap(), 0o555), "cannot be written");
}

#[test]
fn a_disk_that_is_full_from_the_start() {
    let scene = Scene::new();
    let outcome = scene.python(LIMITED, &["0", "check", CASE, "-i", "cpu/plain", "--store", "store.db"]);
    outcome.complains(1, &["store.db", "hint: "]);
}
