//! What `append` returned from outlives the process, however it ends.

mod common;

use common::{again, record, run, say};
use roofline_store::{Filter, Store};
use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Names the store to the child; the tests that are children do nothing without it.
const STORE: &str = "ROOFLINE_TEST_STORE";

#[test]
fn child_that_appends_until_it_is_killed() {
    let Ok(path) = env::var(STORE) else { return };
    let store = Store::open(path).unwrap();
    let id = std::process::id().to_string();
    store.append_run(&run(&id)).unwrap();
    for i in 0.. {
        let record = record(&id, &format!("{id}-{i}"));
        store.append(&record).unwrap();
        say(&format!("appended {}", record.id));
    }
}

#[test]
fn a_killed_process_loses_nothing_that_it_appended() {
    // On the disk, not in memory: the journal matters here.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut told = BTreeSet::new();
    for round in 0..8 {
        let command = again("child_that_appends_until_it_is_killed");
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .env(STORE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut appended = lines.by_ref().filter_map(|line| Some(line.strip_prefix("appended ")?.to_owned()));
        // Another moment in each round; the kill (SIGKILL) hits anywhere in the next append.
        told.extend(appended.by_ref().take(1 + 3 * round));
        std::thread::sleep(std::time::Duration::from_micros(700 * round as u64));
        child.kill().unwrap();
        told.extend(appended);
        child.wait().unwrap();
        // Alternately by a reader, which has to roll back what the killed process left half done.
        let store = if round % 2 == 0 { Store::open_read_only(&path) } else { Store::open(&path) };
        let reading = store.unwrap().records(&Filter::default()).unwrap();
        assert_eq!(reading.damaged, []);
        let kept: BTreeSet<String> = reading.found.into_iter().map(|record| record.id).collect();
        let lost: Vec<&String> = told.difference(&kept).collect();
        assert!(lost.is_empty(), "lost {lost:?}");
        // At most the one append in flight in each round was kept and not told.
        assert!(kept.len() <= told.len() + round + 1);
    }
    assert!(told.len() > 30);
}
