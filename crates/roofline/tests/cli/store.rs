//! Stores that are not ours, cannot be written, or fill the disk.

use crate::scene::Scene;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
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
    crate::scene::Outcome::of(command.output()).exits(0);
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

#[test]
fn a_disk_that_is_full_from_the_start() {
    let scene = Scene::new();
    let outcome = scene.python(LIMITED, &["0", "check", CASE, "-i", "cpu/plain", "--store", "store.db"]);
    outcome.complains(1, &["store.db", "hint: "]);
}
