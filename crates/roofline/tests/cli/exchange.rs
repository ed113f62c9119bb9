//! `export` and `import`: what leaves the store and what comes into it.

use crate::scene::{Scene, is_end};
use roofline_core::record::{Grade, Status};

const ROWS: &str =
    "run add/f32/rows=4,cols=64 softmax/f32/rows=4,cols=64 --quick --budget 100ms -i cpu/plain,cpu/vector";

/// A scene with a run in its store.
fn measured() -> Scene {
    let scene = Scene::new();
    scene.call_with_store(ROWS).exits(0);
    scene
}

#[test]
fn rows_leave_the_store_and_come_back() {
    let scene = measured();
    let measured = scene.records();
    let rows: Vec<String> = measured
        .iter()
        .filter(|record| !record.implementation.starts_with("limit/"))
        .map(|record| record.row())
        .collect();
    assert_eq!(rows.len(), 3, "{rows:?}");
    for (format, to) in
        [("go", "rows.txt"), ("google-benchmark", "deep/rows.json"), ("criterion", "criterion")]
    {
        let written = scene.call_with_store(&format!("export --format {format} --to {to}")).exits(0);
        assert_eq!(written.stdout, "");
        assert!(written.stderr.contains("written to "), "{}", written.stderr);
        // Another store, and the content says which format it is.
        let store = format!("{format}.db");
        let table = scene.call(&format!("import {to} --store {store}")).exits(0).stdout;
        let is_imported = |line: &&str| {
            let notes = line.split_whitespace().rev().nth(1);
            line.contains(" cpu/") && notes.is_some_and(|notes| notes.contains('i'))
        };
        let shown = table.lines().filter(is_imported);
        assert_eq!(shown.count(), 3, "{table}");
        assert!(table.contains("i  imported: another tool measured it"), "{table}");
        let back = scene.call(&format!("export --store {store} --format jsonl")).exits(0).rows();
        let mut names: Vec<String> = back
            .iter()
            .map(|row| {
                format!("{}@{}", row["case"].as_str().unwrap(), row["implementation"].as_str().unwrap())
            })
            .collect();
        let mut wanted = rows.clone();
        names.sort();
        wanted.sort();
        assert_eq!(names, wanted);
        for row in back {
            assert_eq!((&row["gate"]["checked"], &row["evidence"]["grade"]), (&0.into(), &"claimed".into()));
            assert_eq!(row["provenance"]["imported"]["file"], to);
            assert!(row["rounds"].is_null());
        }
    }
}

#[test]
fn what_is_ours_comes_back_whole_and_once() {
    let scene = measured();
    let measured = scene.records();
    for format in ["json", "jsonl"] {
        scene.call_with_store(&format!("export --format {format} --to rows.{format}")).exits(0);
        let import = format!("import rows.{format} --store {format}.db");
        let first = scene.call(&import).exits(0);
        assert!(
            first.stderr.contains(&format!("{} records added, 0 in", measured.len())),
            "{}",
            first.stderr
        );
        assert!(is_end(&first.stdout, "3 rows: 3 ok"), "{}", first.stdout);
        assert!(!first.stdout.contains("another tool measured it"), "{}", first.stdout);
        let again = scene.call(&import).exits(0);
        assert!(
            again.stderr.contains(&format!("0 records added, {} in", measured.len())),
            "{}",
            again.stderr
        );
        // With its samples, rounds and run: it can be explained, and goes out again as it came.
        let row = format!("{}@cpu/plain", measured[0].case);
        scene.call(&format!("explain {row} --store {format}.db")).exits(0);
        let back = scene.call(&format!("export --format {format} --store {format}.db")).exits(0).stdout;
        if format == "jsonl" {
            assert_eq!(back, std::fs::read_to_string(scene.path("rows.jsonl")).unwrap());
        }
    }
    // Of records alone less is known of their run than a store knows.
    scene.call("import rows.jsonl --store json.db").exits(0);
    let runs = scene.call("runs --store json.db").exits(0).stdout;
    assert!(runs.lines().count() == 1 && runs.contains("--budget 100ms"), "{runs}");
    // A record that was changed by hand is not the record that it says it is.
    let text = std::fs::read_to_string(scene.path("rows.jsonl")).unwrap();
    scene.write("changed.jsonl", &text.replacen("\"status\":\"ok\"", "\"status\":\"wrong\"", 1));
    let changed = scene.call("import changed.jsonl --store json.db");
    changed.complains(1, &["says something else there", "hint: nothing was taken"]);
    scene.write("cut.jsonl", &text[..text.len() - 200]);
    scene
        .call("import cut.jsonl --store new.db")
        .complains(2, &["cut.jsonl: as jsonl: line ", "hint: nothing was stored"]);
    assert!(!scene.path("new.db").exists());
}

#[test]
fn csv_brings_medians_as_claims() {
    let scene = measured();
    scene.call_with_store("export --format csv --to rows.csv").exits(0);
    let table = scene.call("import rows.csv --store csv.db").exits(0).stdout;
    assert!(table.contains("i  imported"), "{table}");
    let rows = scene.call("export --format jsonl --store csv.db").exits(0).rows();
    let plain = rows.iter().find(|row| row["implementation"] == "cpu/plain").unwrap();
    assert_eq!(plain["provenance"]["notes"]["aggregate"], "median");
    assert_eq!(plain["provenance"]["imported"]["format"], "csv");
    assert!(plain["derived"]["median_seconds"].as_f64().unwrap() > 0.0 && plain["rounds"].is_null());
}

#[test]
fn export_takes_a_run_and_a_selection() {
    let scene = measured();
    let first = scene.records()[0].run.clone();
    scene.write("b.txt", "BenchmarkA-4 100 12 ns/op\n");
    scene.call_with_store("import b.txt").exits(0);
    let go = |words: &str| scene.call_with_store(&format!("export --format go {words}")).exits(0).stdout;
    assert!(go("").contains("\nBenchmarkA-4 100 12 ns/op\n"), "the latest run is the default");
    let all = go(&format!("--run {first}"));
    assert!(
        all.contains("BenchmarkAdd/") && all.contains("BenchmarkSoftmax/") && !all.contains("provider=limit"),
        "{all}"
    );
    let some = go(&format!("--run {first} add -i cpu/vec*"));
    assert!(
        some.lines()
            .filter(|line| line.starts_with("Benchmark"))
            .all(|line| line.contains("Add/provider=cpu/impl=vector/"))
    );
    assert!(go(&format!("--run {first} *rows=4,cols=64")).contains("BenchmarkSoftmax/"));
    let table = scene.call_with_store(&format!("export --run {first}")).exits(0).stdout;
    assert!(table.starts_with("case ") && is_end(&table, "3 rows: 3 ok"), "{table}");
}

#[test]
fn a_row_without_ok_has_no_time_in_any_format() {
    let scene = Scene::new();
    scene.write(
        "google.json",
        r#"{"context": {}, "benchmarks": [
            {"name": "BM_ok", "iterations": 10, "real_time": 2.5, "time_unit": "us"},
            {"name": "BM_bad", "error_occurred": true, "error_message": "boom", "iterations": 7, "real_time": 98765.0}]}"#,
    );
    let table = scene.call_with_store("import google.json").exits(0).stdout;
    assert!(table.contains("2.50 µs") && table.contains("crashed: boom"), "{table}");
    assert_eq!(scene.records()[1].status, Status::Crashed);
    for format in [
        "go",
        "google-benchmark",
        "libtest",
        "bencher",
        "github-action-benchmark",
        "junit",
        "flat-json",
        "csv",
    ] {
        let text = scene.call_with_store(&format!("export --format {format}")).exits(0).stdout;
        assert!(text.contains("BM_ok") || format == "go", "{text}");
        assert!(!text.contains("98765"), "{format}: {text}");
    }
}

#[test]
fn a_name_that_is_no_case_of_ours_is_kept_and_explained() {
    let scene = Scene::new();
    scene.write("h.json", r#"{"results": [{"command": "sort *[a] | uniq @ home", "times": [0.5, 0.25]}]}"#);
    let table = scene.call_with_store("import h.json").exits(0).stdout;
    assert!(table.contains("sort *[a] | uniq @ home") && table.contains("imported/hyperfine"), "{table}");
    let records = scene.records();
    assert_eq!(records[0].evidence.grade, Grade::Claimed);
    assert_eq!(records[0].samples[1].nanoseconds, 0.25e9);
    let mut explain = scene.with_store("explain");
    let output = explain.arg("sort *[a] | uniq @ home@imported/hyperfine").output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && words.contains("nothing was judged here"), "{words}");
    // Another row of such a shape is as unknown as ever.
    let output = scene.with_store("explain").arg("sort *@imported/hyperfine").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    for format in ["go", "google-benchmark", "junit", "json"] {
        scene.call_with_store(&format!("export --format {format}")).exits(0);
    }
    scene.call_with_store("run --resume").complains(2, &["cannot be resumed", "hint: "]);
}

#[test]
fn samples_that_nvbench_leaves_beside_its_file_are_taken() {
    let scene = Scene::new();
    let corpus =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../roofline-report/tests/corpus/nvbench/good-1.0.0.json");
    scene.write("copy.json", &std::fs::read_to_string(corpus).unwrap());
    scene.write("copy.json-bin/unused.txt", "not of nvbench");
    let bytes: Vec<u8> = [7.5e-5f32, 7.25e-5, 8e-5].iter().flat_map(|time| time.to_le_bytes()).collect();
    std::fs::write(scene.path("copy.json-bin/0.bin"), bytes).unwrap();
    let table = scene.call_with_store("import copy.json").exits(0).stdout;
    assert!(table.contains("copy Device=0 Elements=2^24") && table.contains("75.0 µs"), "{table}");
    assert!(table.contains("unsupported and not listed"), "{table}");
    let records = scene.records();
    assert!(records.iter().any(|record| record.why == "not enough memory"), "{records:?}");
    let samples: Vec<usize> = records.iter().map(|record| record.samples.len()).collect();
    assert_eq!(samples, [1, 3, 0, 1]);
}

#[test]
fn what_cannot_be_imported_is_said_and_nothing_is_stored() {
    let scene = Scene::new();
    scene.write("empty", "");
    scene.write("nan.json", r#"{"results": [{"command": "x", "times": [NaN]}]}"#);
    scene.write("none.json", r#"{"results": []}"#);
    scene.write("both.json", r#"{"meta": {}, "devices": [], "context": {}, "benchmarks": []}"#);
    std::fs::create_dir(scene.path("folder")).unwrap();
    let import = |words: &str, code, parts: &[&str]| {
        scene.call_with_store(&format!("import {words}")).complains(code, parts)
    };
    import("nowhere", 2, &["nowhere cannot be read: No such file", "hint: name a file"]);
    import(
        "empty",
        2,
        &["empty: it looks like none of the formats", "hint: name it with `--format`: json, "],
    );
    import("folder", 2, &["folder: it looks like none", "hint: "]);
    import("both.json", 2, &["it could be google-benchmark or nvbench", "hint: name the format"]);
    import("nan.json", 2, &["nan.json: as hyperfine: `times` of `x` is NaN", "hint: nothing was stored"]);
    import("none.json --format hyperfine", 5, &["none.json: as hyperfine: it has no benchmark", "hint: "]);
    import("nan.json --format criterion", 2, &["Criterion leaves a folder", "hint: "]);
    import("folder --format go", 2, &["as go: it is a folder", "hint: "]);
    import(
        "nan.json --format hyperfin",
        2,
        &["unknown format `hyperfin`", "hint: did you mean `hyperfine`?"],
    );
    import("nan.json --format junit", 2, &["unknown format `junit`", "hint: "]);
    assert!(!scene.store().exists(), "a mistake writes nothing");
}

#[test]
fn a_disk_that_is_full_keeps_no_half_of_an_import() {
    let scene = Scene::new();
    let lines: String = (0..500).map(|n| format!("BenchmarkA{n} 100 12 ns/op\n")).collect();
    scene.write("many.txt", &lines);
    // The signal ignored, writing past the limit is an error as on a full disk. Blocks of 1 KiB.
    let limited = "trap '' XFSZ; ulimit -f 200; exec roofline import many.txt --store s.db";
    scene.shell(limited).complains(1, &["could not be written to the disk", "hint: "]);
    scene.shell("roofline export --store s.db").complains(5, &["the store has no run"]);
    scene.shell("roofline import many.txt --store s.db").exits(0);
}

#[test]
fn what_cannot_be_exported_is_said() {
    let scene = Scene::new();
    scene.call_with_store("export").complains(1, &["there is no store at", "hint: "]);
    scene.write("b.txt", "BenchmarkA 100 12 ns/op\n");
    scene.call_with_store("import b.txt").exits(0);
    let export = |words: &str, code, parts: &[&str]| {
        scene.call_with_store(&format!("export {words}")).complains(code, parts)
    };
    export("--format gogo", 2, &["unknown format `gogo`", "hint: "]);
    let read_alone = "hint: it is read alone: `roofline import FILE --format hyperfine`";
    export("--format hyperfine", 2, &["unknown format `hyperfine`", read_alone]);
    export("--format criterion", 2, &["`criterion` is a folder of files", "hint: name a folder with `--to`"]);
    export("--run no-such-run", 2, &["has no run `no-such-run`", "the latest are "]);
    export("softmax", 5, &["nothing is selected", "hint: "]);
    export("--format go --to b.txt/x", 1, &["b.txt/x cannot be written", "hint: "]);
    let run = scene.call_with_store("check add/f32/rows=1,cols=1 --format criterion");
    run.complains(
        2,
        &["unknown format `criterion`", "hint: it is a folder: `roofline export --format criterion"],
    );
}
