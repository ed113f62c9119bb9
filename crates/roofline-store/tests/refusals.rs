//! Disks that are full, folders that cannot be written, stores in use: told clearly, nothing lost.

mod common;

use common::{again, record, run, say};
use roofline_store::{Filter, Store, StoreError};
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Names the store to the child; the tests that are children do nothing without it.
const STORE: &str = "ROOFLINE_TEST_STORE";

/// Appends until it fails and tells how.
#[test]
fn child_that_appends_until_it_fails() {
    let Ok(path) = env::var(STORE) else { return };
    let store = Store::open(path).unwrap();
    store.append_run(&run("run")).unwrap();
    let mut kept = 0;
    let error = loop {
        match store.append(&record("run", &kept.to_string())) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(error.hint().contains("make room"));
    let found = store.records(&Filter::default()).unwrap().found;
    assert!(kept > 0);
    assert_eq!(found.len(), kept);
    say(&format!("kept {kept}: {error}"));
}

/// Opens the store for writing and tells how that failed, then for reading.
#[test]
fn child_that_cannot_write() {
    let Ok(path) = env::var(STORE) else { return };
    match Store::open(&path) {
        Err(error @ StoreError::ReadOnly { .. }) => {
            assert!(error.hint().contains("writable"));
            say(&format!("refused: {error}"));
        }
        other => panic!("{other:?}"),
    }
    if let Ok(store) = Store::open_read_only(&path) {
        say(&format!("read {}", store.records(&Filter::default()).unwrap().found.len()));
    }
}

/// Runs a child test by a shell script in which "$@" is its command; what it printed.
fn by_shell(script: &str, child: &str, store: &Path) -> Option<String> {
    let output =
        Command::new("sh").args(["-c", script, "sh"]).args(again(child)).env(STORE, store).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        say(&format!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    }
    output.status.success().then_some(text)
}

fn kept(text: &str) -> usize {
    let line = text.lines().find_map(|line| line.strip_prefix("kept ")).unwrap();
    line.split(':').next().unwrap().parse().unwrap()
}

#[test]
fn a_limit_on_file_sizes_stops_appending_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    // The signal ignored, writing past the limit is an error as on a full disk. Blocks of 512 bytes.
    let text =
        by_shell(r#"trap "" XFSZ; ulimit -f 200; exec "$@""#, "child_that_appends_until_it_fails", &path);
    let kept = kept(&text.unwrap());
    let store = Store::open(&path).unwrap();
    assert_eq!(store.records(&Filter::default()).unwrap().found.len(), kept);
    store.append(&record("run", "after")).unwrap();
}

#[test]
fn a_full_disk_stops_appending_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk/store.db");
    fs::create_dir(folder.path().join("disk")).unwrap();
    let mount = format!("mount -t tmpfs -o size=256k none '{}'", folder.path().join("disk").display());
    if !Command::new("unshare").args(["-m", "sh", "-c", &mount]).status().is_ok_and(|status| status.success())
    {
        say("skipped: a small disk needs the right to mount one");
        return;
    }
    let script = format!(r#"exec unshare -m sh -c '{} && exec "$@"' sh "$@""#, mount.replace('\'', "\""));
    let text = by_shell(&script, "child_that_appends_until_it_fails", &path).unwrap();
    assert!(text.contains("full"), "{text}");
}

/// Runs the child as a user whom permissions hold: root becomes another; `None` where that cannot be.
fn as_a_user(child: &str, store: &Path) -> Option<String> {
    const NOT_PERMITTED: i32 = 1;
    let command = again(child);
    let start = |become_another: bool| {
        let mut process = Command::new(&command[0]);
        process.args(&command[1..]).env(STORE, store);
        if become_another {
            process.uid(65534).gid(65534);
        }
        process.output()
    };
    let output = match start(true) {
        // Only root may become another, and only root has to.
        Err(error) if error.raw_os_error() == Some(NOT_PERMITTED) => start(false),
        output => output,
    };
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
            Some(text)
        }
        Err(error) => {
            say(&format!("skipped: another user cannot start this test: {error}"));
            None
        }
    }
}

#[test]
fn what_cannot_be_written_is_refused_at_once_and_still_read() {
    let folder = tempfile::tempdir().unwrap();
    let permit = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let path = folder.path().join("store.db");
    let store = Store::open(&path).unwrap();
    store.append_run(&run("run")).unwrap();
    store.append(&record("run", "one")).unwrap();
    drop(store);
    let before = fs::read(&path).unwrap();
    permit(folder.path(), 0o555);

    // No file yet, and none can be made; nor can a folder.
    for absent in ["none.db", "none/store.db"] {
        let text = as_a_user("child_that_cannot_write", &folder.path().join(absent));
        let Some(text) = text else { return };
        assert!(text.contains("refused") && !text.contains("read "), "{text}");
    }
    // A file that cannot be written, then one that can in a folder that cannot.
    for mode in [0o444, 0o666] {
        permit(&path, mode);
        let text = as_a_user("child_that_cannot_write", &path).unwrap();
        assert!(text.contains("refused") && text.contains("read 1"), "{text}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    // A file that cannot even be read.
    permit(&path, 0o000);
    as_a_user("child_that_may_not_read", &path).unwrap();
    permit(folder.path(), 0o755);
}

#[test]
fn child_that_may_not_read() {
    let Ok(path) = env::var(STORE) else { return };
    for result in [Store::open(&path), Store::open_read_only(&path)] {
        assert!(matches!(result, Err(StoreError::Unopened { .. })), "{result:?}");
    }
}

#[test]
fn folders_where_nothing_can_be_made_are_told() {
    for path in ["/proc/roofline/store.db", "/dev/null/store.db", "/dev/null"] {
        let error = Store::open(path).unwrap_err();
        assert!(!error.hint().is_empty());
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[test]
fn a_store_in_use_is_waited_for_and_then_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = Store::open(&path).unwrap();
    store.append_run(&run("run")).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(store.runs().unwrap().found.len(), 1, "a writer that waits stops no reader");
    let started = Instant::now();
    let error = store.append(&record("run", "one")).unwrap_err();
    assert!(matches!(error, StoreError::Busy { seconds: 5, .. }), "{error:?}");
    assert!(error.to_string().contains("another process"));
    assert!(started.elapsed() >= Duration::from_secs(4));
    other.execute_batch("ROLLBACK").unwrap();
    store.append(&record("run", "one")).unwrap();
}
