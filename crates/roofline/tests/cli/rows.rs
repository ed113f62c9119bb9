//! `check` and `run` on small cases: rows, formats, store, `explain`, and the way back.

use crate::scene::{Outcome, Scene, is_end};
use roofline_core::record::Record;
use serde_json::Value;

/// A case of every form, in every type that an implementation of the house has.
const CASES: &str = "add/f32/rows=3,cols=5 add/bf16/rows=3,cols=5 softmax/f32/rows=3,cols=5 \
    softmax/f16/rows=3,cols=5 rms-norm/f32/rows=3,cols=5 rms-norm/bf16/rows=3,cols=5 \
    matmul/f32/m=3,n=5,k=7 matmul/i8/m=3,n=5,k=7 matmul.nn/f32/m=3,n=5,k=7 matmul.nn/f16/m=3,n=5,k=7";

fn statuses(outcome: &Outcome) -> Vec<String> {
    outcome.rows().iter().map(|row| row["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_operation_is_checked() {
    let scene = Scene::new();
    let outcome = scene.call_with_store(&format!("check {CASES} --format jsonl")).exits(0);
    assert_eq!(outcome.stderr, "", "nothing to say and no terminal to draw on");
    let statuses = statuses(&outcome);
    assert!(statuses.iter().filter(|status| *status == "ok").count() >= 30, "{}", outcome.stdout);
    assert!(statuses.iter().all(|status| status == "ok" || status == "unsupported"), "{}", outcome.stdout);
    for row in outcome.rows().iter().filter(|row| row["status"] == "ok") {
        assert!(row["samples"].as_array().unwrap().is_empty(), "a check has no times: {row}");
        assert!(row["gate"]["checked"].as_u64().unwrap() > 100, "{row}");
        assert!(row["gate"]["judged_visits"].as_u64().unwrap() > 0, "{row}");
    }
}

#[test]
fn both_visits_of_a_pair_are_judged() {
    let scene = Scene::new();
    let words =
        "run add/f32/rows=256,cols=4096 -i cpu/plain,cpu/vector --against cpu/plain --quick --format jsonl";
    let rows = scene.call_with_store(words).exits(0).rows();
    // The last visit of each set is judged besides; the hub may go on for a few sets with its probe.
    let judged = |name: &str| {
        let row = rows.iter().find(|row| row["implementation"] == name).unwrap();
        let sets = row["rounds"]["to_hub"].as_array().unwrap().len() as u64;
        row["gate"]["judged_visits"].as_u64().unwrap() - sets
    };
    // By lot, and each lane by its own: about as many.
    let (hub, other) = (judged("cpu/plain"), judged("cpu/vector"));
    assert!(4 * hub >= 3 * other, "{hub} {other}");
}

#[test]
fn every_operation_is_measured_and_every_format_says_so() {
    let scene = Scene::new();
    let cases = "add/f32/rows=3,cols=5 softmax/f16/rows=3,cols=5 rms-norm/bf16/rows=3,cols=5 \
        matmul/i8/m=3,n=5,k=7 matmul.nn/f32/m=3,n=5,k=7 add/f64/rows=3,cols=5";
    let few = "add/f32/rows=3,cols=5 add/f64/rows=3,cols=5";
    let call = |cases: &str, format: &str| {
        let words = "-i cpu/plain,cpu/vector,cpu/packed,cpu/three-pass --quick --format";
        scene.call_with_store(&format!("run {cases} {words} {format}")).exits(0)
    };

    let is_row = |row: &&Value| !row["implementation"].as_str().unwrap().starts_with("limit/");
    let rows = call(cases, "jsonl").rows();
    assert_eq!(rows.iter().filter(is_row).count(), 12);
    for row in rows.iter().filter(is_row) {
        let is_f64 = row["case"].as_str().unwrap().contains("f64");
        let expected = if is_f64 && row["implementation"] != "cpu/plain" { "unsupported" } else { "ok" };
        assert_eq!(row["status"], expected, "{row}");
        let samples = row["samples"].as_array().unwrap();
        assert_eq!(samples.is_empty(), expected == "unsupported", "{row}");
        let times = samples.iter().flat_map(|visit| visit[3].as_array().unwrap());
        assert!(times.into_iter().all(|time| time.as_f64().unwrap() > 0.0), "{row}");
    }

    let json: Value = serde_json::from_str(&call(few, "json").stdout).unwrap();
    assert_eq!(json["records"].as_array().unwrap().iter().filter(is_row).count(), 4);
    assert_eq!(json["run"]["id"], json["records"][0]["run"]);
    assert!(json["run"]["command"].as_str().unwrap().contains("--format json"), "{}", json["run"]);

    let csv = call(few, "csv").stdout;
    let columns = csv.lines().next().unwrap().split(',').count();
    assert_eq!(
        csv.lines().count(),
        1 + 4 + 2,
        "a header, the rows, and the probe of each case that was measured"
    );
    let parsed = scene.python(
        "import csv, io, sys; rows = list(csv.DictReader(io.StringIO(sys.argv[2])));\
         assert all(None not in row and None not in row.values() for row in rows);\
         print(len(rows), len(rows[0]), *(row['status'] for row in rows))",
        &[&csv],
    );
    let parsed = parsed.exits(0).stdout;
    assert!(parsed.starts_with(&format!("6 {columns} ok ")), "{parsed}");

    let markdown = call(few, "markdown").stdout;
    let cells: Vec<usize> =
        markdown.lines().filter(|line| line.starts_with('|')).map(|line| line.matches('|').count()).collect();
    assert_eq!(cells.len(), 5, "a head, its line, and the rows that are offered: {markdown}");
    assert!(cells.iter().all(|count| *count == cells[0]), "{markdown}");

    let table = call(few, "table").stdout;
    assert!(table.starts_with("case ") && is_end(&table, "4 rows: 3 ok, 1 unsupported"), "{table}");
    assert!(!table.contains('\x1b'), "{table:?}");
    // Twelve rows and six probes, and four times four and two; one more run where clocks had to decide anew.
    let records = scene.records().len();
    assert!(records >= 18 + 4 * 6 && records.is_multiple_of(6), "{records}");
}

#[test]
fn a_row_can_be_explained_and_reproduced() {
    let scene = Scene::new();
    let rows = scene.call_with_store("run softmax/f32/rows=4,cols=9 --quick --format jsonl").exits(0).rows();
    let mut stored = scene.records();
    assert_eq!(stored.len(), 4, "three implementations and the probe of their limit");
    // Rows are stored as they are decided, and shown in the order of the plan.
    let place = |record: &Record| rows.iter().position(|row| row["id"] == record.id.as_str());
    stored.sort_by_key(place);
    for (row, stored) in rows.iter().zip(&stored) {
        let shown: Record = serde_json::from_value(row.clone()).unwrap();
        let value = |record: &Record| serde_json::to_value(record).unwrap();
        assert_eq!(value(stored), value(&shown), "the store has what was shown");
        let text = scene.call_with_store(&format!("explain {}", stored.row())).exits(0).stdout;
        for part in [&stored.row(), "status    ok", "gate ", "evidence ", "samples   n = ", &stored.run] {
            assert!(text.contains(part), "`{part}` is not in:\n{text}");
        }
        let command = text.lines().find_map(|line| line.strip_prefix("reproduce ")).unwrap().trim();
        assert_eq!(command, stored.reproduce);
        // Into another store: this one's latest rows are asked for below.
        let command = command.replace("/store.db", "/again.db");
        let again = scene.shell(&format!("{command} --format jsonl")).exits(0);
        let again = again.row(&stored.implementation);
        assert_eq!((&again["status"], &again["case"]), (&row["status"], &row["case"]), "{}", again["why"]);
        assert_eq!(again["provenance"]["seed"], row["provenance"]["seed"]);
    }
}

#[test]
fn a_seed_decides_what_is_checked() {
    let scene = Scene::new();
    let gate = |seed: &str| {
        let words = format!("check add/f32/rows=200,cols=7 -i cpu/plain --format jsonl {seed}");
        let row = scene.call_with_store(&words).exits(0).row("cpu/plain");
        (row["gate"]["launches"].clone(), row["gate"]["checked"].clone(), row["provenance"]["seed"].clone())
    };
    // Visits are judged by lot as often as time allows, so that elements are counted otherwise each time.
    let (first, again) = (gate("--seed 7"), gate("--seed 7"));
    assert_eq!((&first.0, &first.2), (&again.0, &again.2));
    assert_ne!(gate("--seed 7").1, gate("--seed 8").1, "other shapes have other numbers of elements");
    assert_ne!(gate("").2, gate("").2, "a secret seed is new each time");
}

#[test]
fn threads_are_an_upper_limit() {
    let scene = Scene::new();
    let words = "check add/f32/rows=64,cols=512 --threads 1,2 --format jsonl";
    let rows = scene.call_with_store(words).exits(0).rows();
    let cores = std::thread::available_parallelism().unwrap().get();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let two = row["case"].as_str().unwrap().ends_with("/threads=2");
        assert_eq!(row["status"], if two && cores < 2 { "refused" } else { "ok" }, "{row}");
        if two && cores > 1 {
            let used = if row["implementation"] == "cpu/parallel" { 2 } else { 1 };
            assert_eq!(row["evidence"]["threads"], used, "{row}");
        }
    }
}

#[test]
fn a_dry_run_starts_and_writes_nothing() {
    let scene = Scene::alone();
    let folder = scene.shell_runner("runners/tell", "touch started");
    let before = scene.path("");
    let entries = || {
        let mut names: Vec<_> =
            std::fs::read_dir(&before).unwrap().flatten().map(|e| e.file_name()).collect();
        names.sort();
        names
    };
    let names = entries();
    let plan = scene.call("run add/f32/rows=3,cols=5 add/f64/rows=3,cols=5 --dry-run").exits(0).stdout;
    let expected: Vec<String> = ["f32", "f64"]
        .iter()
        .flat_map(|dtype| ["plain", "vector", "parallel"].map(|name| (dtype, name)))
        .map(|(dtype, name)| {
            let note = if *dtype == "f64" && name != "plain" { "  (unsupported)" } else { "" };
            format!("add/{dtype}/rows=3,cols=5@cpu/{name}{note}")
        })
        .collect();
    let lines: Vec<&str> = plan.lines().collect();
    assert_eq!(lines[..6], expected, "{plan}");
    assert!(lines[6].starts_with("6 rows, about "), "{plan}");
    scene.call("run add/f32/rows=3,cols=5 --runner tell --dry-run").complains(5, &["was never asked"]);
    assert!(!folder.join("started").exists(), "a dry run started a runner");
    assert_eq!(entries(), names, "a dry run wrote something");
}

#[test]
fn a_selection_may_mix_everything() {
    let scene = Scene::new();
    let words = "check softmax --axis rows=2 --axis cols=1:4:*2 add/f32/rows=1,cols=1 --dtype f32 -i cpu/plain,cpu/three-pass";
    let table = scene.call_with_store(words).exits(0).stdout;
    assert!(is_end(&table, "4 rows: 4 ok"), "{table}");
}

#[test]
fn cold_caches_are_slower_and_say_how() {
    let scene = Scene::new();
    let words = "run add/f32/rows=64,cols=1024 --cache warm -i cpu/vector --quick --format jsonl";
    let warm = scene.call_with_store(words).exits(0).row("cpu/vector");
    let cold = scene.call_with_store(&words.replace("warm", "cold")).exits(0).row("cpu/vector");
    assert!(cold["case"].as_str().unwrap().ends_with("/cache=cold"), "{cold}");
    assert_eq!(cold["rounds"]["course"]["kind"], "cold");
    assert!(cold["provenance"]["notes"]["cache"].as_str().unwrap().contains("flushed"), "{cold}");
    assert!(cold["samples"].as_array().unwrap().iter().all(|visit| visit[2] == 1), "one launch a sample");
    assert!(warm["provenance"]["notes"]["cache"].is_null());
    // 768 KiB from the second cache or from memory: several times as long, on any machine.
    let fastest = |row: &serde_json::Value| {
        let visits = row["samples"].as_array().unwrap().clone();
        let times = visits.iter().map(|visit| visit[3][0].as_f64().unwrap() / visit[2].as_f64().unwrap());
        times.fold(f64::INFINITY, f64::min)
    };
    assert!(fastest(&cold) > 1.5 * fastest(&warm), "{} {}", fastest(&cold), fastest(&warm));
}
