//! Every format of one report, held by the files in `tests/golden`.
//!
//! After a wanted change, `BLESS=1 cargo test -p roofline-report` writes them anew; look at the diff.

use roofline_core::judge::Fault;
use roofline_core::ops::Work;
use roofline_core::pattern::Pattern;
use roofline_core::protocol::OutputMode;
use roofline_core::record::{Evidence, Gate, Grade, Provenance, Record, Run, SCHEMA, Sample, Status};
use roofline_core::units::{Bytes, Seconds};
use roofline_report::{FORMATS, Report, Style, explain};
use std::fs;
use std::path::Path;

fn hold(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == golden, "{name} has changed:\n{text}\n{} has:\n{golden}", path.display());
}

fn run() -> Run {
    Run {
        schema: SCHEMA,
        id: "run-1".to_owned(),
        started: "2026-11-15T03:00:00Z".to_owned(),
        arguments: Vec::new(),
        command: "roofline run softmax matmul".to_owned(),
        machine: serde_json::json!({"cores": 2}),
    }
}

fn row(case: &str, implementation: &str, status: Status, why: &str) -> Record {
    Record {
        schema: SCHEMA,
        id: format!("{case}@{implementation}"),
        run: "run-1".to_owned(),
        at: "2026-11-15T03:00:01Z".to_owned(),
        case: case.to_owned(),
        implementation: implementation.to_owned(),
        status,
        why: why.to_owned(),
        reproduce: format!("roofline check {case} -i {implementation} --seed 7"),
        work: Work::default(),
        gate: Gate::default(),
        rounds: None,
        samples: Vec::new(),
        evidence: Evidence::default(),
        provenance: Provenance {
            roofline: "0.1.0".to_owned(),
            runner: "cpu".to_owned(),
            runner_version: "0.1.0".to_owned(),
            machine: "xeon-2c".to_owned(),
            seed: 7,
            notes: [("compiler".to_owned(), "rustc 1.95.0".to_owned())].into(),
        },
    }
}

const SOFTMAX: &str = "softmax/f32/rows=4096,cols=4096/threads=2";
const MATMUL: &str = "matmul/bf16/m=512,n=512,k=512";

fn softmax() -> Work {
    let elements = 4096 * 4096;
    Work {
        simple: 3 * elements,
        special: 2 * elements,
        multiply_adds: 0,
        read: Bytes(4 * elements),
        written: Bytes(4 * elements),
    }
}

fn measured() -> Record {
    let samples = |i: u32| {
        // A skewed heap with one interruption.
        let late = f64::from(i * 7919 % 101) / 100.0;
        let nanoseconds = if i == 77 { 2e7 } else { 5.25e6 + 4e5 * late * late * late };
        Sample { set: 0, visit: i / 5, batch: 1, nanoseconds }
    };
    Record {
        work: softmax(),
        gate: Gate {
            launches: 12,
            checked: 201_326_592,
            score: 0.3125,
            deterministic: Some(true),
            judged_visits: 40,
            ..Gate::default()
        },
        samples: (0..200).map(samples).collect(),
        evidence: Evidence {
            grade: Grade::Corroborated,
            wall_per_launch: Some(Seconds(0.005_33)),
            threads: 2,
            threads_seen: 2,
            cpu_share: Some(1.97),
            peak_memory: Some(Bytes(201 << 20)),
            workspace: Bytes(16 << 10),
            output: OutputMode::InPlace,
            prepare: Some(Seconds(0.0012)),
            ..Evidence::default()
        },
        ..row(SOFTMAX, "cpu/online-512", Status::Ok, "")
    }
}

fn wrong() -> Record {
    let fault = Fault {
        at: vec![17, 4093],
        got: "0.0012130".to_owned(),
        expected: "9.7840e-4".to_owned(),
        bound: "9.3000e-10".to_owned(),
        failed: 3,
        checked: 16_777_216,
        pattern: Some(Pattern::TailOfARow { from: 4093, of: 4096 }),
    };
    Record {
        work: softmax(),
        gate: Gate {
            launches: 2,
            checked: 33_554_432,
            failed: 3,
            score: 0.25,
            fault: Some(fault),
            seen_in: "the case itself, fill `uniform`, launch 2".to_owned(),
            ..Gate::default()
        },
        // Taken before the fault was seen: a wrong row shows no time all the same.
        samples: vec![Sample { set: 0, visit: 0, batch: 1, nanoseconds: 1e6 }],
        ..row(SOFTMAX, "mine/fast", Status::Wrong, "3 of 16777216 elements are outside the bound")
    }
}

fn records() -> Vec<Record> {
    let matmul = Record {
        work: Work { multiply_adds: 512 * 512 * 512, ..softmax() },
        samples: (0..9).map(|i| Sample { set: 0, visit: i, batch: 4, nanoseconds: 1e6 }).collect(),
        evidence: Evidence { threads: 1, threads_seen: 1, ..Evidence::default() },
        ..row(MATMUL, "cpu/tiled", Status::Ok, "")
    };
    vec![
        measured(),
        wrong(),
        matmul,
        row(MATMUL, "torch/eager", Status::Unsupported, "bf16 products need a newer build"),
        row(
            MATMUL,
            "mine/jit",
            Status::Crashed,
            "ended by signal 11 (SIGSEGV) in launch 3 of the gate, on the instance m=67, n=129, k=31",
        ),
    ]
}

#[test]
fn every_format() {
    let (run, records) = (run(), records());
    let report = Report { run: Some(&run), records: &records };
    for format in FORMATS {
        hold(&format!("report.{}", format.name), &(format.write)(&report, Style::default()));
    }
}

#[test]
fn tables_of_several_widths() {
    let records = records();
    let report = Report { run: None, records: &records };
    for width in [40, 80, 120, 160] {
        let style = Style { colour: false, width: Some(width) };
        hold(&format!("table-{width}.txt"), &(FORMATS[0].write)(&report, style));
    }
    hold("table-colour.txt", &(FORMATS[0].write)(&report, Style { colour: true, width: Some(120) }));
    let empty = Report { run: None, records: &[] };
    assert_eq!((FORMATS[0].write)(&empty, Style::default()), "no rows\n");
}

#[test]
fn explanations() {
    hold("explain-ok.txt", &explain(&measured(), Style::default()));
    hold("explain-wrong.txt", &explain(&wrong(), Style::default()));
    let suspect = Record { status: Status::Suspect, why: "faster than its limit".to_owned(), ..measured() };
    hold("explain-suspect.txt", &explain(&suspect, Style { colour: true, width: Some(60) }));
}

#[test]
fn a_wrong_row_has_no_time_in_any_format_for_people() {
    let records = [wrong()];
    let report = Report { run: None, records: &records };
    for format in FORMATS.iter().filter(|format| !format.name.starts_with("json")) {
        let text = (format.write)(&report, Style::default());
        assert!(!text.contains("1.00 ms") && !text.contains("0.001,"), "{text}");
    }
    assert!(!explain(&records[0], Style::default()).contains("1.00 ms"));
}
