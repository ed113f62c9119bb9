//! What goes out comes back: records through the formats of other tools, and any bytes through their readers.
//!
//! Files below `corpus/FORMAT` are kept bytes: those called `good-` are read and told from the content, those
//! called `bad-` are refused with a reason; all of them, and what becomes of them when bytes change, go to
//! every reader.

#[path = "../../roofline-store/tests/common/records.rs"]
mod records;

use proptest::prelude::*;
use records::{any_record, record, run};
use roofline_core::case::Case;
use roofline_core::protocol::Allocations;
use roofline_core::record::{Grade, Imported, Provenance, Record, Sample, Status};
use roofline_report::{FORMATS, File, Folder, Format, READERS, Reader, Report, Source, Style, explain};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn write(format: &str, records: &[Record]) -> String {
    let run = run("run");
    let report = Report::new(Some(&run), records);
    (Format::find(format).unwrap().write)(&report, Style::default())
}

fn file(bytes: impl Into<Vec<u8>>) -> Source {
    let files = vec![File { path: "file".to_owned(), bytes: bytes.into() }];
    Source { name: "file".to_owned(), is_folder: false, files }
}

fn folder(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Source {
    let files = files.into_iter().map(|(path, bytes)| File { path, bytes }).collect();
    Source { name: "folder".to_owned(), is_folder: true, files }
}

/// Records as a format's own file.
fn written(format: &str, records: &[Record]) -> Source {
    match Folder::find(format) {
        None => file(write(format, records)),
        Some(kind) => {
            let files = (kind.write)(&Report::new(None, records));
            folder(files.into_iter().map(|(path, text)| (path, text.into_bytes())))
        }
    }
}

fn read(format: &str, source: &Source) -> Vec<Record> {
    Reader::find(format).unwrap().read(source).unwrap().records
}

/// A row that Roofline measured.
fn own() -> impl Strategy<Value = Record> {
    let cases = [
        "softmax/f32/rows=4096,cols=4096/threads=2",
        "matmul.nn/bf16/m=1,n=2,k=3",
        "rms-norm/f16/rows=2,cols=64/threads=4/cache=cold/device=cuda:1",
        "add/f64/rows=1,cols=7",
    ];
    let implementations = ["cpu/online-512", "cpu/plain", "torch/eager"];
    let row = (proptest::sample::select(cases.to_vec()), proptest::sample::select(implementations.to_vec()));
    let status = prop_oneof![3 => Just(Status::Ok), 1 => proptest::sample::select(Status::ALL)];
    (row, status, "[a-z :%]{0,12}").prop_map(|((case, implementation), status, why)| Record {
        case: case.to_owned(),
        implementation: implementation.to_owned(),
        work: case.parse().map(|case: Case| (case.operation.work)(&case)).unwrap(),
        status,
        why: if status == Status::Ok { String::new() } else { why },
        ..record("run", "")
    })
}

/// A row of another tool, under a name that its files may have.
fn foreign(format: &'static str) -> impl Strategy<Value = Record> {
    let name =
        if format == "go" { "Benchmark[A-Zé][a-z/=_%]{0,12}(-[0-9]{1,2})?" } else { "\\PC{1,20}|.{1,100}" };
    name.prop_map(move |case| Record {
        case,
        implementation: format!("imported/{format}"),
        provenance: Provenance {
            imported: Some(Imported { format: format.to_owned(), file: "x".to_owned() }),
            ..Provenance::default()
        },
        ..record("run", "")
    })
}

prop_compose! {
    /// Rows with times, no two of one name.
    fn rows(format: &'static str)(
        rows in proptest::collection::vec(prop_oneof![own(), foreign(format), foreign("hyperfine")], 1..5),
        samples in proptest::collection::vec(
            proptest::collection::vec((0u32..4, 1u32..5000, 1e-3..1e12), 1..20), 5),
        allocations in proptest::collection::vec(proptest::option::of((0u32..99, 0.0..1e9)), 5),
    ) -> Vec<Record> {
        let mut rows = rows;
        // A file of these formats is not without any time.
        rows[0] = Record { status: Status::Ok, why: String::new(), ..rows[0].clone() };
        let mut names = BTreeSet::new();
        let fill = |((row, samples), allocations): ((Record, &Vec<_>), &Option<(u32, f64)>)| {
            let sample = |(visit, (set, batch, nanoseconds)): (usize, &(u32, u32, f64))| {
                Sample { set: *set, visit: visit as u32, batch: *batch, nanoseconds: *nanoseconds }
            };
            let mut row = Record { samples: samples.iter().enumerate().map(sample).collect(), ..row };
            row.evidence.allocations = allocations.map(|(count, bytes)| Allocations { count: count.into(), bytes });
            row.evidence.threads = 3;
            row
        };
        let rows = rows.into_iter().filter(|row| names.insert(row.row()));
        rows.zip(&samples).zip(&allocations).map(fill).collect()
    }
}

/// Launches and median of each set.
fn sets(record: &Record) -> Vec<(u64, f64)> {
    let mut sets: BTreeMap<u32, (u64, Vec<f64>)> = BTreeMap::new();
    for sample in &record.samples {
        let (launches, times) = sets.entry(sample.set).or_default();
        *launches += u64::from(sample.batch);
        times.push(sample.per_launch());
    }
    let median = |times: &[f64]| roofline_core::stats::median(times).unwrap();
    sets.into_values().map(|(launches, times)| (launches, median(&times))).collect()
}

/// Equal but for what multiplying by a number of launches and dividing again may cost.
fn alike(a: &[(u64, f64)], b: &[(u64, f64)]) -> bool {
    let near = |(a, b): (&(u64, f64), &(u64, f64))| a.0 == b.0 && (a.1 - b.1).abs() <= 4e-16 * a.1;
    a.len() == b.len() && a.iter().zip(b).all(near)
}

fn by_name(records: Vec<Record>) -> BTreeMap<String, Record> {
    records.into_iter().map(|record| (record.row(), record)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn go_text_comes_back(rows in rows("go")) {
        let text = write("go", &rows);
        let back = read("go", &file(text.as_str()));
        metrics_come_back(&text, &back);
        let back = by_name(back);
        prop_assert_eq!(back.len(), rows.iter().filter(|row| row.status == Status::Ok).count());
        for row in rows.iter().filter(|row| row.status == Status::Ok) {
            let back = back.get(&row.row()).expect("a row under its own name");
            prop_assert!(alike(&sets(row), &sets(back)), "{:?} {:?}", sets(row), sets(back));
            prop_assert_eq!(back.evidence.allocations, row.evidence.allocations);
        }
        // And what was read goes out and comes back as it was.
        let once: Vec<Record> = back.into_values().collect();
        let twice = by_name(read("go", &written("go", &once)));
        for row in &once {
            let again = &twice[&row.row()];
            prop_assert!(alike(&sets(row), &sets(again)));
            prop_assert_eq!(&row.evidence, &again.evidence);
        }
    }

    #[test]
    fn google_benchmark_comes_back(rows in rows("google-benchmark"), share in proptest::option::of(0.01..4.0)) {
        let mut rows = rows;
        rows.iter_mut().for_each(|row| row.evidence.cpu_share = share);
        let back = by_name(read("google-benchmark", &written("google-benchmark", &rows)));
        prop_assert_eq!(back.len(), rows.len());
        for row in &rows {
            let back = back.get(&row.row()).expect("a row under its own name");
            prop_assert_eq!((back.status, &back.why), (row.status, &row.why));
            prop_assert_eq!(back.evidence.threads, 3);
            if row.status == Status::Ok {
                prop_assert!(alike(&sets(row), &sets(back)));
                prop_assert_eq!(back.evidence.allocations, row.evidence.allocations);
                let known = row.evidence.cpu_share.filter(|_| row.is_imported());
                let share = (back.evidence.cpu_share.unwrap_or(0.0), known.unwrap_or(0.0));
                prop_assert!((share.0 - share.1).abs() < 1e-12, "{share:?}");
            } else {
                prop_assert!(back.samples.is_empty(), "a row without `ok` has no time");
            }
        }
    }

    #[test]
    fn criterion_comes_back_sample_by_sample(rows in rows("criterion")) {
        let back = by_name(read("criterion", &written("criterion", &rows)));
        prop_assert_eq!(back.len(), rows.iter().filter(|row| row.status == Status::Ok).count());
        for row in rows.iter().filter(|row| row.status == Status::Ok) {
            let back = back.get(&row.row()).expect("a row under its own name");
            let sample = |sample: &Sample| (sample.batch, sample.nanoseconds);
            let (own, read): (Vec<_>, Vec<_>) = (
                row.samples.iter().map(sample).collect(), back.samples.iter().map(sample).collect());
            prop_assert_eq!(own, read);
        }
    }

    #[test]
    fn what_is_ours_comes_back_to_the_letter(records in proptest::collection::vec(any_record(), 1..4)) {
        for (number, format) in ["json", "jsonl"].into_iter().enumerate() {
            let content = match Reader::find(format).unwrap().read(&written(format, &records)) {
                Ok(content) => content,
                // Any record may lack an id, or have that of another.
                Err(error) => {
                    let ids: BTreeSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
                    prop_assert!(ids.len() < records.len() || ids.contains("") || records.iter().any(|r| r.run.is_empty()), "{}", error);
                    continue;
                }
            };
            prop_assert_eq!(&content.records, &records);
            prop_assert_eq!(content.runs, if number == 0 { vec![run("run")] } else { Vec::new() });
        }
    }

    #[test]
    fn every_format_takes_any_record(records in proptest::collection::vec(any_record(), 0..3)) {
        for format in FORMATS {
            let text = write(format.name, &records);
            if ["google-benchmark", "bencher", "flat-json"].contains(&format.name) || format.name.starts_with("github") {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            }
        }
        for format in ["go", "google-benchmark", "criterion"] {
            let source = written(format, &records);
            if (Reader::find(format).unwrap().is_it)(&source) {
                read(format, &source);
            }
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes: Vec<u8>, text: String) {
        feed(&bytes);
        feed(text.as_bytes());
    }

    #[test]
    fn no_change_of_a_file_makes_a_reader_panic(
        (_, bytes) in proptest::sample::select(corpus_files()),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..8),
    ) {
        let mut bytes = bytes;
        for (place, byte, change) in changes {
            if bytes.is_empty() {
                bytes.push(byte);
            }
            let at = place.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        feed(&bytes);
    }
}

/// Holds that every metric of Go's text which has no field of its own is a note of its row.
fn metrics_come_back(text: &str, back: &[Record]) {
    let mut names = Vec::new();
    let mut notes: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("Benchmark")) {
        let fields: Vec<&str> = line.split(' ').collect();
        if !names.contains(&fields[0]) {
            names.push(fields[0]);
        }
        for pair in fields[2..].chunks(2).filter(|pair| !["ns/op", "B/op", "allocs/op"].contains(&pair[1])) {
            notes.entry((fields[0], pair[1])).or_default().push(pair[0]);
        }
    }
    assert_eq!(names.len(), back.len());
    for ((name, unit), mut values) in notes {
        if values.iter().all(|value| *value == values[0]) {
            values.truncate(1);
        }
        let place = names.iter().position(|known| *known == name).unwrap();
        assert_eq!(back[place].provenance.notes.get(unit), Some(&values.join(" ")), "{unit} of {name}");
    }
}

#[test]
fn every_metric_of_go_text_comes_back() {
    let text = include_str!("golden/report.go");
    for unit in ["GB/s", "GFLOP/s", "of-limit", "flop/op", "moved-B/op"] {
        let is_there = |line: &str| line.starts_with("Benchmark") && line.contains(&format!(" {unit}"));
        assert!(text.lines().any(is_there), "{unit}");
    }
    metrics_come_back(text, &read("go", &file(text)));
}

/// Gives bytes to every reader, in every place that it looks at, and what it reads to every writer.
fn feed(bytes: &[u8]) {
    let good = br#"{"iters":[1],"times":[1]}"#.to_vec();
    let sources = [
        file(bytes),
        beside(NVBENCH.as_bytes(), bytes),
        beside(bytes, &1f32.to_le_bytes()),
        folder([("x/new/sample.json".to_owned(), bytes.to_vec())]),
        folder([("new/sample.json".to_owned(), bytes.to_vec())]),
        folder([("x/new/sample.json".to_owned(), good), ("x/new/benchmark.json".to_owned(), bytes.to_vec())]),
    ];
    for source in &sources {
        let _ = Reader::guess(source);
        for reader in READERS {
            match reader.read(source) {
                Ok(content) => show(&content.records, reader),
                Err(error) => assert!(!error.why.is_empty() && !error.hint.is_empty()),
            }
        }
    }
}

#[test]
fn numbers_that_overflow_are_refused_by_name() {
    let google = |field: &str| {
        format!(
            r#"{{"context":{{}},"benchmarks":[{{"name":"x","iterations":1,"time_unit":"s","real_time":1,{field}}}]}}"#
        )
    };
    let hyperfine = |times: &str| format!(r#"{{"results":[{{"command":"x","times":[{times}]}}]}}"#);
    let cases = [
        ("hyperfine", hyperfine("1e305"), "`times` of `x` is longer than any time"),
        ("hyperfine", hyperfine("1e999"), "it is no JSON: number out of range at line 1"),
        ("go", "Benchmarkx 1 1e305 sec/op".to_owned(), "`sec/op` of `Benchmarkx` is longer than any time"),
        ("go", "Benchmarkx 1 1e999 ns/op".to_owned(), "`ns/op` of `Benchmarkx` is inf"),
        ("google-benchmark", google(r#""cpu_time":1e305"#), "`cpu_time` of `x` is longer than any time"),
        ("google-benchmark", google(r#""real_time":1e305"#), "`real_time` of `x` is longer than any time"),
    ];
    for (format, text, why) in cases {
        let error = Reader::find(format).unwrap().read(&file(text.as_bytes())).unwrap_err();
        assert!(error.why.contains(why), "{format}: {}", error.why);
    }
}

/// nvbench's file that names its samples, and says not how many.
const NVBENCH: &str = r#"{"meta": {}, "devices": [], "benchmarks": [{"name": "x", "states": [{"summaries": [
    {"tag": "t", "hint": "file/sample_times", "data": [{"name": "filename", "value": "file-bin/0.bin"}]}]}]}]}"#;

/// A file with nvbench's samples beside it.
fn beside(bytes: &[u8], samples: &[u8]) -> Source {
    let mut source = file(bytes);
    source.files.push(File { path: "file-bin/0.bin".to_owned(), bytes: samples.to_vec() });
    source
}

#[test]
fn bytes_reach_the_samples_of_nvbench() {
    let bytes = [1f32, 2.0].iter().flat_map(|time| time.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(read("nvbench", &beside(NVBENCH.as_bytes(), &bytes))[0].samples.len(), 2);
}

/// What was read can be shown, and that of another tool says where it is from.
fn show(records: &[Record], reader: &Reader) {
    records.iter().for_each(|record| drop(explain(record, Style::default())));
    for record in records.iter().filter(|_| !reader.is_own()) {
        assert!(record.is_imported() && record.evidence.grade == Grade::Claimed && record.rounds.is_none());
        assert_eq!(record.gate.checked, 0);
        assert!(
            record.samples.iter().all(|sample| sample.per_launch().is_finite() && sample.nanoseconds >= 0.0)
        );
    }
    for format in FORMATS {
        write(format.name, records);
    }
}

fn corpus() -> Vec<(String, String, Source)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let entries = |path: &Path| -> Vec<_> {
        let mut paths: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut found = Vec::new();
    for kind in entries(&root) {
        for path in entries(&kind) {
            let source = if path.is_dir() {
                let mut files = Vec::new();
                let mut folders = vec![path.clone()];
                while let Some(folder) = folders.pop() {
                    for path_below in entries(&folder) {
                        if path_below.is_dir() {
                            folders.push(path_below);
                        } else {
                            let within = path_below.strip_prefix(&path).unwrap().to_str().unwrap().to_owned();
                            files.push((within, fs::read(&path_below).unwrap()));
                        }
                    }
                }
                folder(files)
            } else {
                file(fs::read(&path).unwrap())
            };
            found.push((name(&kind), name(&path), source));
        }
    }
    found
}

fn corpus_files() -> Vec<(String, Vec<u8>)> {
    let files = corpus().into_iter().flat_map(|(_, _, source)| source.files);
    files.map(|file| (file.path, file.bytes)).filter(|(_, bytes)| bytes.len() < 20_000).collect()
}

#[test]
fn the_corpus_is_read_or_refused() {
    let corpus = corpus();
    for reader in READERS {
        for kind in ["good-", "bad-"] {
            let has = |(format, name, _): &(String, String, Source)| {
                format == reader.name && name.starts_with(kind)
            };
            assert!(corpus.iter().any(has), "no {kind} file of {}", reader.name);
        }
    }
    for (format, name, source) in corpus {
        let result = Reader::find(&format).unwrap().read(&source);
        match name.starts_with("good-") {
            true => {
                assert_eq!(Reader::guess(&source).unwrap().name, format, "{name}");
                let records = result.unwrap_or_else(|error| panic!("{format}/{name}: {error}")).records;
                assert!(!records.is_empty());
                show(&records, Reader::find(&format).unwrap());
            }
            false => assert!(!result.unwrap_err().why.is_empty(), "{format}/{name}"),
        }
        source.files.iter().for_each(|file| feed(&file.bytes));
    }
}

/// The only record of a case in a file of the corpus.
fn kept(format: &str, name: &str, case: &str) -> Record {
    let (_, _, source) = corpus().into_iter().find(|(kind, file, _)| kind == format && file == name).unwrap();
    let mut records = read(format, &source);
    records.retain(|record| record.case == case);
    assert!(!records.is_empty(), "{case}");
    records.remove(0)
}

#[test]
fn values_keep_their_units() {
    let nanoseconds =
        |record: &Record| -> Vec<f64> { record.samples.iter().map(Sample::per_launch).collect() };
    let sum = kept("go", "good-gotest.txt", "BenchmarkSum/n=4096-8");
    assert_eq!(nanoseconds(&sum), [2310.0, 2298.5]);
    assert_eq!((sum.samples[0].batch, sum.evidence.threads), (500_000, 8));
    assert_eq!(sum.evidence.allocations, Some(Allocations { count: 0.0, bytes: 0.0 }));
    assert_eq!(sum.provenance.notes["MB/s"], "14185.38 14256.01");
    assert_eq!(sum.provenance.notes["pkg"], "example.com/sum");
    let own = kept("go", "good-odd-names.txt", "add/f32/rows=1,cols=2/threads=4");
    assert_eq!((&*own.implementation, nanoseconds(&own)), ("cpu/plain", vec![12.5]));
    assert_eq!(own.work.read.0, 16, "the work of a case of ours is known");

    let old = kept("google-benchmark", "good-aggregates.json", "BM_old");
    assert_eq!((nanoseconds(&old), &*old.provenance.notes["label"]), (vec![3000.0], "old"));
    assert_eq!(old.provenance.notes["mine"], "yes");
    assert_eq!(nanoseconds(&kept("google-benchmark", "good-aggregates.json", "BM_a")), [1.5e6]);
    let skipped = kept("google-benchmark", "good-aggregates.json", "BM_skipped");
    assert_eq!((skipped.status, &*skipped.why), (Status::Unsupported, "no GPU"));
    let failed = kept("google-benchmark", "good-1.7.1.json", "BM_fails");
    assert_eq!((failed.status, &*failed.why), (Status::Crashed, "no such device"));
    assert!(failed.samples.is_empty());

    let words = kept("google-benchmark", "good-text.json", "BM_words");
    let note = |name: &str| words.provenance.notes[name].as_str();
    assert_eq!(
        (nanoseconds(&words), note("compiler"), note("bytes_per_second")),
        (vec![2.5], "gcc 14", "2.0")
    );
    assert_eq!((note("tag"), note("label")), ("NaN", "words"));

    let linear = kept("criterion", "good-linear", "sum/plain/64");
    assert_eq!(nanoseconds(&linear), [100.05, 100.05, 3100.25 / 30.0]);
    assert_eq!(linear.provenance.notes["throughput"], "{\"Bytes\":512}");
    assert_eq!(nanoseconds(&kept("criterion", "good-linear", "only base")), [2.0]);
    assert_eq!(nanoseconds(&kept("criterion", "good-one", "sums/plain")), [100.0, 101.0]);

    let copy = kept("nvbench", "good-1.0.0.json", "copy Device=0 Elements=2^20");
    assert_eq!((nanoseconds(&copy), copy.samples[0].batch), (vec![4500.0], 1000));
    assert_eq!(copy.provenance.notes["nv/batch/time/gpu/mean"], "4.1e-06");
    assert_eq!(copy.provenance.notes["device"], "A GPU");
    let none = kept("nvbench", "good-1.0.0.json", "copy Device=0 Elements=2^28");
    assert_eq!((none.status, &*none.why), (Status::Unsupported, "not enough memory"));
    assert_eq!(nanoseconds(&kept("nvbench", "good-1.0.0.json", "host_only")), [0.25e9]);

    let make = kept("hyperfine", "good-summary.json", "make");
    assert_eq!((nanoseconds(&make), make.evidence.peak_memory.unwrap().0), (vec![1.25e9], 4096));
    assert_eq!((make.evidence.cpu_share, &*make.provenance.notes["parameter jobs"]), (Some(1.0), "2"));
    let failed = kept("hyperfine", "good-summary.json", "false");
    assert_eq!(
        (failed.status, &*failed.why),
        (Status::Crashed, "2 of 2 runs did not end with the exit code 0")
    );
    assert_eq!(nanoseconds(&kept("hyperfine", "good-1.15.json", "true"))[2], 540_366.0);
}

#[test]
fn nvbench_samples_beside_the_file_are_taken() {
    let (_, _, mut source) = corpus().into_iter().find(|(_, name, _)| name == "good-1.0.0.json").unwrap();
    let bytes = [7.5e-5f32, 7.25e-5, 8e-5].iter().flat_map(|time| time.to_le_bytes()).collect();
    source.files.push(File { path: "copy.json-bin/0.bin".to_owned(), bytes });
    let records = read("nvbench", &source);
    let samples = &records[1].samples;
    assert_eq!(samples.len(), 3);
    assert!((samples[1].nanoseconds - 72_500.0).abs() < 0.01, "{samples:?}");
    source.files[1].bytes.pop();
    let error = Reader::find("nvbench").unwrap().read(&source).unwrap_err();
    assert!(error.why.contains("copy.json-bin/0.bin") && error.why.contains("11 bytes"), "{error}");
    source.files[1].bytes = [f32::NAN, 1.0, 1.0].iter().flat_map(|time| time.to_le_bytes()).collect();
    let error = Reader::find("nvbench").unwrap().read(&source).unwrap_err();
    assert!(error.why.contains("NaN"), "{error}");
}

#[test]
fn a_row_that_was_imported_says_so() {
    let records = [kept("hyperfine", "good-1.15.json", "true")];
    let table = write("table", &records);
    assert!(table.contains("imported/hyperfine") && table.contains("  i  imported: another tool"), "{table}");
    let markdown = write("markdown", &records);
    assert!(markdown.contains("imported from hyperfine"), "{markdown}");
    let words = explain(&records[0], Style { colour: false, width: Some(200), ..Style::default() });
    for part in ["so its file says; nothing was judged here", "no launch was judged", "and nothing else"] {
        assert!(words.contains(part), "{words}");
    }
    assert!(!words.contains("reproduce") && !words.contains("seed"), "{words}");
}

#[test]
fn what_could_be_two_formats_is_asked_about() {
    let both = r#"{"meta": {}, "devices": [], "context": {}, "benchmarks": []}"#;
    let error = Reader::guess(&file(both)).unwrap_err();
    assert_eq!(error.why, "it could be google-benchmark or nvbench");
    let error = Reader::guess(&file("hello")).unwrap_err();
    assert!(error.why.contains("none of the formats") && error.hint.contains("hyperfine"), "{error:?}");
    assert_eq!(Reader::find("hyperfin").unwrap_err().hint, "did you mean `hyperfine`?");
}
