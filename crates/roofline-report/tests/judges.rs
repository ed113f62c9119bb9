//! Readers that are not ours hold what is written: strict parsers in Python for each format, and Criterion itself.
//!
//! benchstat is in no Debian package, and so `judges/go.py`, written from the description of Go's text, stands for it.

#[path = "../../roofline-store/tests/common/records.rs"]
mod records;

use criterion::Criterion;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use records::{any_record, record, run};
use roofline_core::record::{Record, Run, Status};
use roofline_report::{File, Folder, Format, Reader, Report, Source, Style};
use serde_json::Value;
use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a judge prints about a text; it must accept it.
fn judged(judge: &str, words: &[&str], text: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges").join(judge);
    let python = std::env::var_os("ROOFLINE_PYTHON").unwrap_or("python3".into());
    let mut command = Command::new(python);
    command.arg(script).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the tests need Python 3");
    let mut input = child.stdin.take().unwrap();
    let bytes = text.as_bytes().to_vec();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{judge} {words:?}: {said}\n{text}");
    String::from_utf8(output.stdout).unwrap()
}

fn write(format: &str, records: &[Record]) -> String {
    let run = run("run");
    let report = Report::new(Some(&run), records);
    (Format::find(format).unwrap().write)(&report, Style::default())
}

/// Plain rows, one of each status, and hostile ones: always the same.
fn rows() -> Vec<Record> {
    let own = Status::ALL.iter().map(|status| Record {
        implementation: format!("cpu/{status}"),
        status: *status,
        why: if *status == Status::Ok { String::new() } else { "it is \"so\" & <so>\u{1}\n".to_owned() },
        ..record("run", "")
    });
    let mut runner = TestRunner::deterministic();
    let hostile: Vec<Record> =
        (0..40).map(|_| any_record().new_tree(&mut runner).unwrap().current()).collect();
    own.chain(hostile).collect()
}

#[test]
fn go_text_is_strict() {
    let rows = rows();
    let results: Vec<Value> = serde_json::from_str(&judged("go.py", &[], &write("go", &rows))).unwrap();
    let own: Vec<&Value> = results.iter().filter(|result| result["keys"]["impl"] == "ok").collect();
    assert_eq!(own.len(), 5, "one line a set");
    assert_eq!(own[0]["name"], "BenchmarkSoftmax/provider=cpu/impl=ok/dtype=f32/rows=64/cols=1000");
    assert_eq!(
        (&own[0]["keys"]["rows"], &own[0]["procs"], &own[0]["iterations"]),
        (&"64".into(), &1.into(), &10.into())
    );
    let second = own[1]["metrics"]["sec/op"].as_f64().unwrap();
    assert!((second - 10_014.5e-9).abs() < 1e-15, "the median of the second set: {second}");
}

/// benchstat compares only lines of equal configuration.
#[test]
fn go_text_of_two_runs_can_be_compared() {
    let results = |id: &str, version: &str| -> Vec<Value> {
        let run = Run { machine: serde_json::json!({"processor": {"name": "A CPU"}}), ..run(id) };
        let mut records = [record(id, "a"), Record { status: Status::Wrong, ..record(id, "b") }];
        for record in &mut records {
            record.provenance.machine = "xeon-2c".to_owned();
            record.provenance.roofline = version.to_owned();
        }
        let report = Report::new(Some(&run), &records);
        let text = (Format::find("go").unwrap().write)(&report, Style::default());
        assert!(text.starts_with(&format!("# run {id}\n# roofline {version}\n")), "{text}");
        serde_json::from_str(&judged("go.py", &[], &text)).unwrap()
    };
    let (old, new) = (results("run-1", "0.1.0"), results("run-2", "0.2.0"));
    assert_eq!((old.len(), new.len()), (5, 5));
    for result in old.iter().chain(&new) {
        let wanted = serde_json::json!({"cpu": "A CPU", "machine": "xeon-2c"});
        assert_eq!(result["configuration"], wanted);
    }
}

#[test]
fn libtest_lines_are_strict() {
    let text = write("libtest", &rows());
    let results: Vec<Value> = serde_json::from_str(&judged("libtest.py", &[], &text)).unwrap();
    let own = |status: &str| {
        let name = format!("softmax/f32/rows=64,cols=1000@cpu/{status}");
        results.iter().find(|result| result["name"] == name.as_str()).unwrap()
    };
    assert_eq!((&own("ok")["time"], &own("ok")["spread"]), (&"10,024".into(), &"15".into()));
    for (status, word) in [("wrong", "FAILED"), ("timeout", "FAILED"), ("refused", "ignored")] {
        assert_eq!(own(status)["word"], word, "{status}");
    }
    let checked = Record { samples: Vec::new(), ..record("run", "") };
    assert!(write("libtest", &[checked]).ends_with("@cpu/plain ... ok\n"));
}

#[test]
fn json_keeps_to_its_schemas() {
    let rows = rows();
    for format in ["bencher", "google-benchmark", "flat-json"] {
        judged("schema.py", &[format], &write(format, &rows));
    }
    for format in ["github-action-benchmark", "github-action-benchmark-rates"] {
        judged("schema.py", &["github-action-benchmark"], &write(format, &rows));
    }
    let report = Report::new(None, &rows);
    for (path, text) in (Folder::find("criterion").unwrap().write)(&report) {
        let name = path.rsplit('/').next().unwrap().trim_end_matches(".json");
        judged("schema.py", &[&format!("criterion/{name}")], &text);
    }
}

#[test]
fn junit_keeps_to_its_schema() {
    let text = write("junit", &rows());
    judged("junit.py", &[], &text);
    judged("junit.py", &[], include_str!("golden/baseline.junit"));
    for (status, element) in [("wrong", "<failure "), ("timeout", "<error "), ("refused", "<skipped ")] {
        let case = text.split("<testcase").find(|case| case.contains(&format!("@cpu/{status}\""))).unwrap();
        assert!(case.contains(element) && !case.contains(" time="), "{case}");
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn source(folder: &Path) -> Source {
    let file = |path: PathBuf| File {
        path: path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned(),
        bytes: fs::read(&path).unwrap(),
    };
    let found = files(folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "json"));
    Source { name: "criterion".to_owned(), is_folder: true, files: found.map(file).collect() }
}

/// One run of Criterion over a sum, as short as it may be.
fn criterion(folder: &Path, group: &str, function: &str) {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(5))
        .measurement_time(Duration::from_millis(20))
        .sample_size(10)
        .nresamples(1001)
        .without_plots()
        .output_directory(folder);
    let numbers = vec![1.0f64; 256];
    let mut group = criterion.benchmark_group(group);
    group.bench_function(function, |bencher| bencher.iter(|| black_box(&numbers).iter().sum::<f64>()));
    group.finish();
}

#[test]
fn criterion_is_read_and_reads() {
    let folder = tempfile::tempdir().unwrap();
    criterion(folder.path(), "sums", "plain");
    let reader = Reader::guess(&source(folder.path())).unwrap();
    assert_eq!(reader.name, "criterion");
    let records = reader.read(&source(folder.path())).unwrap().records;
    assert_eq!((records.len(), &*records[0].case), (1, "sums/plain"));
    assert_eq!(records[0].samples.len(), 10);
    assert!(records[0].samples.iter().all(|sample| sample.batch >= 1 && sample.nanoseconds > 0.0));

    // What is written is the base that Criterion compares its next run with.
    let folder = tempfile::tempdir().unwrap();
    let case = "add/f32/rows=1,cols=256";
    let rows = [Record { case: case.to_owned(), ..record("run", "") }];
    let report = Report::new(None, &rows);
    for (path, text) in (Folder::find("criterion").unwrap().write)(&report) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    criterion(folder.path(), case, "cpu/plain");
    let change = files(folder.path()).into_iter().find(|path| path.ends_with("change/estimates.json"));
    let change: Value =
        serde_json::from_slice(&fs::read(change.expect("Criterion compared")).unwrap()).unwrap();
    assert!(change["median"]["point_estimate"].is_f64(), "{change}");
}
