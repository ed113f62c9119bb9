//! `runs`, `history`, `compare` and `explain --run`: what the store has seen.

use crate::scene::Scene;
use roofline_core::record::{Record, Run, Status};
use roofline_store::{Filter, Store};
use std::time::{Duration, Instant};

const CASE: &str = "add/f32/rows=4,cols=64";

/// The ids of the runs, as `runs` shows them.
fn ids(scene: &Scene) -> Vec<String> {
    let shown = scene.call_with_store("runs").exits(0).stdout;
    shown.lines().filter_map(|line| Some(line.split("  ").next()?.to_owned())).collect()
}

#[test]
fn runs_and_rows_are_found_again() {
    let scene = Scene::new();
    scene.call_with_store("runs").complains(1, &["roofline run"]);
    for _ in 0..2 {
        scene.call_with_store(&format!("run {CASE} --quick --budget 100ms")).exits(0);
    }
    scene.call_with_store("check mul/f32/rows=2,cols=8 -i cpu/plai*").exits(0);

    let shown = scene.call_with_store("runs").exits(0).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 3, "{shown}");
    assert!(lines[0].contains("  3 ok  ") && lines[0].contains("--budget 100ms"), "{shown}");
    assert!(lines[2].contains("  1 ok  ") && lines[2].contains("check mul"), "{shown}");
    assert!(lines[2].contains(" -i 'cpu/plai*'"), "as a shell takes it: {shown}");
    assert_eq!(scene.call_with_store("runs --last 1").exits(0).stdout.lines().count(), 1);

    let history = scene.call_with_store(&format!("history {CASE}@cpu/plain")).exits(0).stdout;
    let runs = ids(&scene);
    for run in &runs[..2] {
        assert!(history.contains(run.as_str()), "{history}");
    }
    assert!(history.contains("roofline ab"), "{history}");
    let all = scene.call_with_store("history add/*").exits(0).stdout;
    for name in ["cpu/plain", "cpu/vector", "cpu/parallel"] {
        assert!(all.contains(&format!("{CASE}@{name}")), "{all}");
    }
    assert!(!all.contains("@limit/"), "{all}");
    // Defaults may be written out.
    scene.call_with_store(&format!("history {CASE}/threads=1")).exits(0);
    let of_operation = scene.call_with_store("history add@cpu").exits(0).stdout;
    assert!(
        of_operation.contains(&format!("{CASE}@cpu/plain")) && !of_operation.contains("mul/"),
        "{of_operation}"
    );
    scene.call_with_store("history sub/f32/rows=1,cols=1").complains(5, &["no record", "roofline runs"]);

    let row = format!("explain {CASE}@cpu/plain");
    scene.call_with_store(&format!("{row} --run {}", runs[0])).exits(0);
    let end = &runs[1][runs[1].len() - 8..];
    scene.call_with_store(&format!("{row} --run {end}")).exits(0);
    scene.call_with_store(&format!("{row} --run {}", runs[2])).complains(5, &["has no record", "history"]);
    scene.call_with_store(&format!("{row} --run nobody")).complains(2, &["no run `nobody`", "roofline runs"]);
}

/// Large enough to have a share of the limit.
const LARGE: &str = "add/f32/rows=256,cols=1024";

/// The latest run of the scene's store again under another id, later, with records that were changed.
fn append(scene: &Scene, id: &str, change: impl Fn(&mut Record)) {
    let store = Store::open(scene.store()).unwrap();
    let first = store.runs().unwrap().found.remove(0);
    let filter = Filter { run: Some(first.id.clone()), ..Filter::default() };
    let mut records = store.records(&filter).unwrap().found;
    for record in &mut records {
        (record.id, record.run) = (format!("{id}-{}", record.id), id.to_owned());
        record.at = format!("2099-01-01T00:00:0{}Z", id.len());
        change(record);
    }
    let run = Run { id: id.to_owned(), started: records[0].at.clone(), revision: id.to_owned(), ..first };
    store.append_whole(&run, &records).unwrap();
}

/// Makes a row slower by a part of its speed, beside its limit.
fn slow_down(record: &mut Record, speed: f64) {
    let Some(limit) = record.rounds.as_mut().and_then(|rounds| rounds.limit.as_mut()) else { return };
    limit.to_hub.iter_mut().for_each(|value| *value += speed.ln());
}

#[test]
fn stored_runs_are_compared_by_what_they_can_say() {
    let scene = Scene::new();
    scene.call_with_store(&format!("run {LARGE} --quick --budget 100ms -i cpu/plain,cpu/vector")).exits(0);
    let first = ids(&scene).remove(0);
    let plain = |record: &Record| record.implementation == "cpu/plain";
    append(&scene, "near", |record| slow_down(record, 0.95));
    append(&scene, "slowed", |record| {
        if plain(record) {
            slow_down(record, 0.5);
        }
    });
    append(&scene, "failing", |record| {
        if plain(record) {
            record.status = Status::Wrong;
        }
    });
    append(&scene, "elsewhere", |record| record.provenance.machine = "another".to_owned());
    append(&scene, "redefined", |record| record.provenance.definition = Some("another".to_owned()));
    let compare =
        |old: &str, new: &str| scene.call_with_store(&format!("compare {old} {new}")).exits(0).stdout;
    let line = |text: &str, name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();

    let near = compare(&first, "near");
    assert!(line(&near, "cpu/plain").contains("nothing: within 12 %"), "{near}");
    assert!(line(&near, "cpu/plain").contains("-5.0 %") && near.contains("share of limit"), "{near}");
    // Where it was, which commit is not known: what to put there is said.
    assert!(near.contains("roofline ab OLD NEW add/f32/rows=256,cols=1024 -i plain,vector"), "{near}");
    let slowed = compare("slowed", "near");
    assert!(line(&slowed, "cpu/plain").contains("looks faster"), "{slowed}");
    let slowed = compare("near", "slowed");
    assert!(line(&slowed, "cpu/plain").contains("looks slower"), "{slowed}");
    assert!(line(&slowed, "cpu/vector").contains("nothing: within"), "{slowed}");
    assert!(slowed.contains("roofline ab near slowed add/f32/rows=256,cols=1024 -i plain\n"), "{slowed}");
    assert!(line(&compare(&first, "failing"), "cpu/plain").contains("another status"));
    assert!(line(&compare(&first, "elsewhere"), "cpu/plain").contains("another machine"));
    assert!(line(&compare(&first, "redefined"), "cpu/plain").contains("another definition"));

    // Files say the same; one without samples as well, and one of another tool says less.
    scene.call_with_store("export --run slowed --format json --to slowed.json").exits(0);
    scene.call_with_store("export --run slowed --format csv --to slowed.csv").exits(0);
    assert_eq!(compare("near", "slowed.json"), slowed);
    assert!(line(&compare("near", "slowed.csv"), "cpu/plain").contains("looks slower"));
    scene.call_with_store("export --run near --format go --to near.txt").exits(0);
    assert!(line(&compare("near", "near.txt"), "cpu/plain").contains("median"));
    scene.write("other.txt", "BenchmarkOther 100 12 ns/op\n");
    scene.call_with_store("compare near other.txt").complains(5, &["no row in common", "hint: "]);
    scene.call_with_store("compare near nobody").complains(2, &["no run `nobody`", "hint: "]);
    scene
        .call_with_store("compare near nobody.txt")
        .complains(2, &["there is no file `nobody.txt`", "hint: "]);

    let history = scene.call_with_store(&format!("history {LARGE}@cpu/plain")).exits(0).stdout;
    assert!(line(&history, " slowed").contains("slower, -47 %?"), "{history}");
    assert!(!line(&history, " near").contains('?'), "{history}");
    assert!(history.contains(&format!("{LARGE}@cpu/plain, another machine since")), "{history}");
    assert!(history.contains(&format!("{LARGE}@cpu/plain, another definition since")), "{history}");
}

#[test]
fn a_large_store_answers_at_once() {
    /// Runs of the store that is merged, of a thousand records each.
    const PARTS: u32 = 10;
    let scene = Scene::new();
    scene.call_with_store(&format!("run {CASE} --quick --budget 100ms -i cpu/plain")).exits(0);
    let store = Store::open(scene.store()).unwrap();
    let run = store.latest_run().unwrap().unwrap();
    let mut measured = store.records(&Filter::default()).unwrap().found;
    let mut pattern = measured.remove(0);
    pattern.samples.truncate(20);
    let again = |number: usize| {
        let mut record = pattern.clone();
        record.id = format!("copy-{number}");
        record.run = format!("many-{}", number % 100);
        // A tenth is of one row.
        if !number.is_multiple_of(10) {
            record.case = format!("add/f32/rows={},cols=64", 5 + number % 500);
        }
        record
    };
    let fill = |store: &Store, parts: u32| {
        for part in 0..parts {
            let own = Run { id: format!("many-{part}"), ..run.clone() };
            let records: Vec<Record> = (0..1000).map(|number| again(number * 100 + part as usize)).collect();
            store.append_whole(&own, &records).unwrap();
        }
    };
    fill(&store, 100);
    drop(store);
    let mut quickest = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let history = scene.call_with_store(&format!("history {CASE}@cpu/plain")).exits(0).stdout;
        quickest = quickest.min(start.elapsed());
        assert_eq!(history.lines().filter(|line| line.contains("many-")).count(), 100, "{history}");
    }
    assert!(quickest < Duration::from_secs(1), "{quickest:?}");
    // All of a part is taken once, however often it is merged.
    fill(&Store::open(scene.path("part.db")).unwrap(), PARTS);
    let merge = || scene.call("merge part.db --store all.db").exits(0).stdout;
    assert!(
        merge().contains(&format!(": {PARTS} runs and {PARTS}000 records added, 0 in the store already"))
    );
    assert!(merge().contains(&format!(": 0 runs and 0 records added, {PARTS}000 in the store already")));
    let all = Store::open_read_only(scene.path("all.db")).unwrap();
    let counts = all.counts().unwrap();
    assert_eq!(counts.len(), PARTS as usize);
    for part in 0..PARTS {
        let counted: u64 = counts[&format!("many-{part}")].iter().map(|(_, count)| count).sum();
        assert_eq!(counted, 1000);
    }
}
