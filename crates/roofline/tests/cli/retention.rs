//! `merge` of stores, and `runs remove` and `runs prune`: what comes together and what goes.

use crate::scene::Scene;
use roofline_store::{Filter, Store};
use std::path::Path;

/// A file of Go's with two rows in it, imported into a store.
fn import(scene: &Scene, store: &str, name: &str) {
    scene.write("b.txt", &format!("Benchmark{name}One 100 12 ns/op\nBenchmark{name}Two 100 7 ns/op\n"));
    scene.call(&format!("import b.txt --store {store}")).exits(0);
}

/// How many runs and records a store has.
fn counts(path: &Path) -> (usize, usize) {
    let store = Store::open_read_only(path).unwrap();
    (store.runs().unwrap().found.len(), store.records(&Filter::default()).unwrap().found.len())
}

#[test]
fn stores_are_merged_and_merged_again() {
    let scene = Scene::new();
    import(&scene, "a.db", "A");
    import(&scene, "b.db", "B");
    import(&scene, "b.db", "C");
    let before = std::fs::read(scene.path("b.db")).unwrap();
    let said = scene.call("merge a.db b.db --store all.db").exits(0).stdout;
    assert_eq!(
        said,
        "a.db: 1 run and 2 records added, 0 in the store already\n\
         b.db: 2 runs and 4 records added, 0 in the store already\n"
    );
    assert_eq!(counts(&scene.path("all.db")), (3, 6));
    let said = scene.call("merge b.db all.db --store all.db").exits(0).stdout;
    assert!(said.starts_with("b.db: 0 runs and 0 records added, 4 in"), "{said}");
    assert_eq!(counts(&scene.path("all.db")), (3, 6));
    assert_eq!(std::fs::read(scene.path("b.db")).unwrap(), before, "what is taken from is left as it is");
    // An older run that comes later does not become the latest.
    import(&scene, "own.db", "Own");
    scene.call("merge a.db --store own.db").exits(0);
    assert!(scene.call("export --format go --store own.db").exits(0).stdout.contains("BenchmarkOwnOne"));
    let runs = scene.call("runs --store own.db").exits(0).stdout;
    assert!(runs.lines().last().unwrap().contains("--store own.db"), "{runs}");
}

#[test]
fn what_cannot_be_merged_is_said_and_nothing_is_lost() {
    let scene = Scene::new();
    import(&scene, "a.db", "A");
    import(&scene, "b.db", "B");
    let before = std::fs::read(scene.path("a.db")).unwrap();
    scene.write("foreign.db", "no store at all, and long enough to be looked at");
    scene.call("merge b.db foreign.db --store a.db").complains(1, &["is not a Roofline store", "hint: "]);
    scene.call("merge b.db nowhere.db --store a.db").complains(1, &["there is no store at", "hint: "]);
    assert_eq!(std::fs::read(scene.path("a.db")).unwrap(), before, "a mistake takes nothing");
    // One document is damaged: it stays where it is, and all others come.
    let damage = "import sqlite3, sys; c = sqlite3.connect(sys.argv[2]); \
                  c.execute(\"update records set document = '{' where number = 1\"); c.commit()";
    scene.python(damage, &["b.db"]).exits(0);
    let merged = scene.call("merge b.db --store a.db").exits(0);
    assert!(merged.stdout.contains("1 run and 1 record added"), "{}", merged.stdout);
    assert!(merged.stderr.contains("warning: b.db: record"), "{}", merged.stderr);
    // One id, two contents: nothing is taken, so that neither is lost.
    scene.call("merge a.db --store c.db").exits(0);
    let change = "import sqlite3, sys; c = sqlite3.connect(sys.argv[2]); c.execute(\"update records set \\
                  document = replace(document, 'imported/go', 'imported/og'), implementation = 'imported/og'\"); c.commit()";
    scene.python(change, &["a.db"]).exits(0);
    import(&scene, "a.db", "New");
    let before = std::fs::read(scene.path("c.db")).unwrap();
    scene
        .call("merge a.db --store c.db")
        .complains(1, &["says something else there", "hint: nothing was taken"]);
    assert_eq!(std::fs::read(scene.path("c.db")).unwrap(), before);
}

#[test]
fn old_runs_go_and_baselines_stay() {
    let scene = Scene::new();
    for name in ["A", "B", "C", "D"] {
        import(&scene, "s.db", name);
    }
    scene.write("baselines/kept.json", "whatever it is");
    let lines = || -> Vec<String> {
        let runs = scene.call("runs --store s.db").exits(0).stdout;
        runs.lines().map(str::to_owned).collect()
    };
    let ids: Vec<String> = lines().iter().map(|line| line[..36].to_owned()).collect();
    let dry = scene.call("runs prune --keep 2 --dry-run --store s.db").exits(0);
    assert!(dry.stdout.contains(&ids[0]) && dry.stdout.contains(&ids[1]) && !dry.stdout.contains(&ids[2]));
    assert!(dry.stderr.contains("2 runs would be removed"), "{}", dry.stderr);
    assert_eq!(lines().len(), 4);
    let pruned = scene.call("runs prune --keep 2 --store s.db").exits(0);
    assert!(pruned.stderr.contains("2 runs with 4 records removed"), "{}", pruned.stderr);
    assert_eq!(counts(&scene.path("s.db")), (2, 4));
    // None is that old, and both are among the latest.
    for words in ["--older-than 1d", "--keep 2 --older-than 0s"] {
        let none = scene.call(&format!("runs prune {words} --store s.db")).exits(0);
        assert!(none.stderr.contains("nothing was removed"), "{}", none.stderr);
    }
    let removed = scene.call(&format!("runs remove {} --store s.db", ids[2])).exits(0);
    assert!(removed.stderr.contains("1 run with 2 records removed"), "{}", removed.stderr);
    assert_eq!(lines().len(), 1);
    assert!(lines()[0].starts_with(&ids[3]));
    scene.call("runs prune --older-than 0s --store s.db").exits(0);
    scene.call("runs --store s.db").complains(5, &["the store has no run"]);
    assert!(scene.path("baselines/kept.json").exists());
}

#[test]
fn what_cannot_be_removed_is_said() {
    let scene = Scene::new();
    scene.call("runs prune --store s.db").complains(2, &["--keep"]);
    scene.call("runs prune --keep 1 --store s.db").complains(1, &["there is no store at", "hint: "]);
    import(&scene, "s.db", "A");
    scene
        .call("runs remove nobody --store s.db")
        .complains(2, &["no run `nobody`", "the last 6 letters", "the latest are "]);
    scene.call("runs prune --older-than old --store s.db").complains(2, &["is not an age"]);
    assert_eq!(counts(&scene.path("s.db")), (1, 2));
}
