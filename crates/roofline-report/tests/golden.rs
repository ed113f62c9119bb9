//! Every format of one report, held by the files in `tests/golden`.
//!
//! After a wanted change, `BLESS=1 cargo test -p roofline-report` writes them anew; look at the diff.

mod hold;

#[path = "golden/beside.rs"]
mod beside;
#[path = "golden/settle.rs"]
mod settle;

use hold::hold;
use roofline_core::case::Case;
use roofline_core::check::{Check, Checked, Standing};
use roofline_core::judge::Fault;
use roofline_core::operation::Work;
use roofline_core::pattern::Pattern;
use roofline_core::protocol::{Allocations, OutputMode};
use roofline_core::record::{
    Before, Course, Ended, Evidence, Gate, Grade, Kind, Limit, Limiter, Provenance, Record, Rounds, Run,
    SCHEMA, Sample, Status,
};
use roofline_core::target::Choice;
use roofline_core::units::{Bytes, Seconds};
use roofline_core::verdict::drop_failed_hubs;
use roofline_report::{FOLDERS, FORMATS, Format, Reading, Report, Sort, Style, explain, scaling};

fn run() -> Run {
    Run {
        schema: SCHEMA,
        id: "run-1".to_owned(),
        started: "2026-11-15T03:00:00Z".to_owned(),
        arguments: Vec::new(),
        command: "roofline run softmax matmul".to_owned(),
        machine: serde_json::json!({"cores": 2}),
        program: String::new(),
        revision: String::new(),
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
        place: None,
        against: None,
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
            definition: None,
            imported: None,
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

/// Sets about `mean`, beside a probe that took 0.93 of the time.
fn rounds(hub: &str, mean: f64, sets: u32) -> Rounds {
    let around = |mean: f64, step: f64| (0..sets).map(|i| mean + step * f64::from(i * 5 % 7)).collect();
    Rounds {
        hub: hub.to_owned(),
        to_hub: around(mean, 0.001),
        limit: Some(Limit {
            probe: "limit/traffic-stream".to_owned(),
            by: Limiter::Traffic,
            to_hub: around(mean - 0.0726, 0.0),
        }),
        course: Course {
            kind: Kind::Long,
            warmup: 1,
            samples: 1,
            batch: 1,
            block: Seconds(0.16),
            timer: Seconds(2.4e-8),
        },
        alpha: 0.01,
        delta: 0.01,
        ended: if sets == 12 { Ended::Decided } else { Ended::Budget },
        before: None,
    }
}

/// A row that took `milliseconds` in its case, `to_hub` beside its hub.
fn timed(case: &str, implementation: &str, threads: u32, milliseconds: f64, rounds: Rounds) -> Record {
    let sets = rounds.to_hub.len() as u32;
    let sample = |i| Sample {
        set: i,
        visit: i,
        batch: 1,
        nanoseconds: 1e6 * milliseconds * (1.0 + f64::from(i) * 1e-4),
    };
    Record {
        work: softmax(),
        samples: (0..sets.max(3)).map(sample).collect(),
        rounds: Some(rounds),
        evidence: Evidence {
            grade: Grade::Corroborated,
            threads,
            threads_seen: threads,
            ..Evidence::default()
        },
        reproduce: format!("roofline run {case} -i {implementation} --seed 7"),
        ..row(case, implementation, Status::Ok, "")
    }
}

/// What the table of a comparison has to tell: the hub, one the same, one undecided, one disturbed,
/// one slow, the probe.
fn compared() -> Vec<Record> {
    let hub = Rounds { to_hub: vec![0.0; 12], ..rounds("torch/eager", 0.0, 12) };
    let spread = |mean, step: f64, sets: u32| Rounds {
        to_hub: (0..sets).map(|i| mean + step * f64::from(i * 5 % 7 % 3)).collect(),
        ..rounds("torch/eager", mean, sets)
    };
    let disturbed = Record {
        samples: (0..300)
            .map(|i| {
                let slow = if i % 60 < 30 { 1.0 } else { 1.25 };
                let stray = if i % 40 == 7 { 3.0 } else { 1.0 };
                let nanoseconds = 9e6 * slow * stray * (1.0 + f64::from(i * 37 % 11) * 1e-3);
                Sample { set: i / 60, visit: i, batch: 1, nanoseconds }
            })
            .collect(),
        evidence: Evidence {
            threads: 1,
            threads_seen: 1,
            steal: Some(0.034),
            output: OutputMode::Fresh,
            copy: Some(Seconds(12e-6)),
            ..Evidence::default()
        },
        ..timed(SOFTMAX, "numpy/loop", 1, 9.0, spread(0.11, 0.002, 5))
    };
    let slow = Rounds { ended: Ended::Slow, to_hub: Vec::new(), ..rounds("torch/eager", 0.0, 0) };
    vec![
        measured(),
        timed(SOFTMAX, "torch/eager", 2, 8.2, hub),
        timed(SOFTMAX, "torch/compiled", 2, 8.22, spread(0.001, 0.001, 12)),
        timed(SOFTMAX, "cpu/unsure", 1, 8.4, spread(-0.01, 0.02, 6)),
        disturbed,
        timed(SOFTMAX, "cpu/plain", 1, 2500.0, slow),
        timed(SOFTMAX, "limit/traffic-stream", 2, 4.9, rounds("torch/eager", -0.5, 12)),
        wrong(),
    ]
}

/// One operation over rows and threads: paired in cases that both take part in.
fn scaled() -> Vec<Record> {
    let mut records = Vec::new();
    for (rows, serial, parallel) in [(16, 0.010, 0.013), (256, 0.16, 0.09), (4096, 2.6, 1.4)] {
        for threads in [1, 2] {
            let limit = if threads == 1 { "" } else { "/threads=2" };
            let case = format!("softmax/f32/rows={rows},cols=1024{limit}");
            let used = if rows == 16 { 1 } else { threads };
            let both = if used == 1 { serial * 1.05 } else { parallel };
            let beside = |time: f64, stir: u32| Rounds {
                to_hub: (0..6)
                    .map(|i| (time / (serial * 0.9)).ln() + 0.001 * f64::from(i * stir % 7))
                    .collect(),
                ..rounds("limit/traffic-stream", 0.0, 6)
            };
            records.push(timed(&case, "cpu/three-pass", 1, serial * 3.0, beside(serial * 3.0, 2)));
            records.push(timed(&case, "cpu/vector", 1, serial, beside(serial, 3)));
            records.push(timed(&case, "cpu/parallel", used, both, beside(both, 5)));
        }
    }
    // Serial and parallel never met here.
    let alone = |case: &str, name: &str, threads, time| Record {
        rounds: None,
        ..timed(case, name, threads, time, rounds("cpu/plain", 0.0, 6))
    };
    // And sizes go together.
    for (size, serial, parallel) in [(512, 8.0, 4.3), (32, 0.002, 0.005), (2048, 512.0, 260.0)] {
        let case = format!("matmul/bf16/m={size},n={size},k={size}");
        records.push(alone(&case, "cpu/packed", 1, serial));
        records.push(alone(&format!("{case}/threads=2"), "cpu/packed-parallel", 2, parallel));
    }
    records.push(row(MATMUL, "torch/eager", Status::Unsupported, "bf16 products need a newer build"));
    records.push(wrong());
    records
}

fn measured() -> Record {
    let samples = |i: u32| {
        // A skewed heap with one interruption.
        let late = f64::from(i * 7919 % 101) / 100.0;
        let nanoseconds = if i == 77 { 2e7 } else { 5.25e6 + 4e5 * late * late * late };
        Sample { set: i / 20, visit: i / 5, batch: 1, nanoseconds }
    };
    Record {
        rounds: Some(rounds("torch/eager", -0.432, 12)),
        work: softmax(),
        gate: Gate {
            launches: 12,
            checked: 201_326_592,
            score: 0.3125,
            deterministic: Some(true),
            visits: 400,
            judged_visits: 40,
            ..Gate::default()
        },
        samples: (0..240).map(samples).collect(),
        evidence: Evidence {
            grade: Grade::Corroborated,
            wall_per_launch: Some(Seconds(0.005_33)),
            cpu_per_launch: None,
            room: Some(0.043),
            memory_of_content: Some(0.004),
            watched: Some(0.97),
            threads: 2,
            threads_seen: 2,
            cpu_share: Some(1.97),
            peak_memory: Some(Bytes(201 << 20)),
            workspace: Bytes(16 << 10),
            output: OutputMode::InPlace,
            copy: None,
            prepare: Some(Seconds(0.0012)),
            checks: vec![
                Checked { check: Check::Bound, standing: Standing::Held, why: String::new() },
                Checked {
                    check: Check::Memos,
                    standing: Standing::Weaker,
                    why: "too few visits to see a difference of 5 %".to_owned(),
                },
                Checked {
                    check: Check::Copies,
                    standing: Standing::NotApplicable,
                    why: "the output is written in place".to_owned(),
                },
            ],
            allocations: Some(Allocations { count: 2.0, bytes: 4096.0 }),
            steal: Some(0.002),
            switches: Some(31),
            others: None,
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
            replay: format!("roofline job {SOFTMAX}@mine/fast --placement end --fill uniform --seed 11"),
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
    let report = Report::new(Some(&run), &records);
    for format in FORMATS {
        hold(&format!("report.{}", format.name), &(format.write)(&report, Style::default()));
    }
    for folder in FOLDERS {
        let files = (folder.write)(&report).into_iter();
        let text: String = files.map(|(path, text)| format!("== {path}\n{text}\n")).collect();
        hold(&format!("report.{}", folder.name), &text);
    }
}

#[test]
fn tables_of_several_widths() {
    let records = records();
    let report = Report::new(None, &records);
    for width in [40, 80, 120, 160] {
        let style = Style { colour: false, width: Some(width), ..Style::default() };
        hold(&format!("table-{width}.txt"), &(FORMATS[0].write)(&report, style));
    }
    hold(
        "table-colour.txt",
        &(FORMATS[0].write)(&report, Style { colour: true, width: Some(120), ..Style::default() }),
    );
    let empty = Report::new(None, &[]);
    assert_eq!((FORMATS[0].write)(&empty, Style::default()), "no rows\n");
}

/// The same with what a busy machine does to intervals, whole numbers, and what a runner does not offer.
fn crowded() -> Vec<Record> {
    let wide = (0..6).map(|i| -1.5 + 0.4 * f64::from(i % 4)).collect();
    let busy = |record: Record| Record {
        evidence: Evidence { others: Some(0.45), ..record.evidence.clone() },
        ..record
    };
    let rounds = Rounds { to_hub: wide, ..rounds("torch/eager", -1.5, 6) };
    let mut records = compared();
    let product = "matmul/i8/m=512,n=512,k=512";
    let own = Record {
        work: Work { multiply_adds: 512 * 512 * 512, ..Work::default() },
        rounds: None,
        ..timed(product, "cpu/a-name-that-goes-on-and-on-amx-32", 1, 0.2, rounds.clone())
    };
    records.push(busy(timed(SOFTMAX, "mine/under-load", 1, 2.0, rounds)));
    records.push(own);
    for case in [product, MATMUL, "matmul/i8/m=1,n=512,k=512"] {
        records.push(row(case, "torch/compiled", Status::Unsupported, "no integers"));
    }
    records.push(row(product, "torch/eager", Status::Unsupported, "no integers"));
    records
}

#[test]
fn tables_of_a_comparison() {
    let (run, records) = (run(), crowded());
    let report = Report::new(Some(&run), &records);
    let write = FORMATS[0].write;
    for width in [40, 80, 120, 200] {
        let style = Style { colour: false, width: Some(width), ..Style::default() };
        hold(&format!("compared-{width}.txt"), &write(&report, style));
    }
    hold("compared-piped.txt", &write(&report, Style::default()));
    let ascii = write(&report, Style { ascii: true, width: Some(80), ..Style::default() });
    assert!(ascii.is_ascii(), "{ascii}");
    hold("compared-ascii.txt", &ascii);
    let all = write(&Report { all: true, ..report }, Style::default());
    assert_eq!(all.matches("unsupported: no integers").count(), 4, "{all}");
    let markdown = Format::find("markdown").unwrap();
    hold("crowded.markdown", &(markdown.write)(&report, Style::default()));
    let records = compared();
    let report = Report::new(None, &records);
    let markdown = Format::find("markdown").unwrap();
    hold("compared.markdown", &(markdown.write)(&report, Style::default()));
    let csv = Format::find("csv").unwrap();
    hold("compared.csv", &(csv.write)(&report, Style::default()));
}

#[test]
fn sorted_tables() {
    let records = compared();
    let order = |sort| -> Vec<&str> {
        let table = (FORMATS[0].write)(&Report { sort, ..Report::new(None, &records) }, Style::default());
        let names = table.lines().skip(1).take(7).filter_map(|line| line.split_whitespace().nth(1));
        let known =
            |name: &str| records.iter().map(|record| &*record.implementation).find(|known| *known == name);
        names.filter_map(known).collect()
    };
    assert_eq!(order(Sort::Case)[..3], ["cpu/online-512", "torch/eager", "torch/compiled"]);
    assert_eq!(order(Sort::Median)[4..], ["numpy/loop", "cpu/plain", "mine/fast"]);
    assert_eq!(order(Sort::Rate), order(Sort::Median));
    // The best first; rows without a comparison last, as they were.
    let against = order(Sort::Against);
    assert_eq!(against[0], "cpu/online-512");
    assert_eq!(against[3..], ["torch/eager", "numpy/loop", "cpu/plain", "mine/fast"]);
    assert_eq!(order(Sort::Implementation)[..3], ["cpu/online-512", "cpu/plain", "cpu/unsure"]);
}

#[test]
fn probes_are_shown_when_there_is_nothing_else() {
    let mut records = compared();
    records.retain(|record| record.implementation.starts_with("limit/"));
    let report = Report::new(None, &records);
    let table = (FORMATS[0].write)(&report, Style::default());
    assert!(table.contains("limit/traffic-stream") && table.ends_with("1 row: 1 ok\n"), "{table}");
}

#[test]
fn a_table_of_several_hubs_names_each() {
    let other = SOFTMAX.replace("rows=4096", "rows=64");
    let records = [
        timed(SOFTMAX, "cpu/fast", 2, 4.0, rounds("torch/eager", -0.7, 12)),
        timed(&other, "cpu/fast", 2, 4.0, rounds("torch/compiled", -0.7, 12)),
    ];
    let report = Report::new(None, &records);
    for format in ["table", "markdown"] {
        let table = (Format::find(format).unwrap().write)(&report, Style::default());
        for part in ["vs torch ", "% faster (torch/eager) ", "% faster (torch/compiled) "] {
            assert!(table.contains(part), "{part}: {table}");
        }
    }
}

#[test]
fn nothing_is_compared_with_what_failed() {
    let find = |records: &[Record], name: &str| -> Record {
        records.iter().find(|record| record.implementation == name).unwrap().clone()
    };
    for (failed, compares, has_share) in
        [("numpy/ufunc", true, true), ("torch/eager", false, true), ("limit/traffic-stream", true, false)]
    {
        let mut records = compared();
        for record in records.iter_mut().filter(|record| record.implementation == failed) {
            record.status = Status::Suspect;
        }
        drop_failed_hubs(&mut records);
        let row = find(&records, "torch/compiled");
        assert_eq!(row.rounds.as_ref().unwrap().comparison().is_some(), compares, "{failed}");
        assert_eq!(row.of_limit().is_some(), has_share, "{failed}");
        let report = Report::new(None, &records);
        for format in FORMATS {
            let text = (format.write)(&report, Style::default());
            assert!(compares || !text.contains('×'), "{}: {text}", format.name);
        }
        let words = explain(&row, Style::default());
        assert_eq!(words.contains("none: torch/eager failed"), !compares, "{words}");
    }
}

#[test]
fn a_condition_stands_in_the_notes_of_its_row() {
    let mut record = measured();
    record.provenance.notes.insert("requires".to_owned(), "cols % 16 == 0, finite".to_owned());
    let records = [record];
    let report = Report::new(None, &records);
    let table = (Format::find("markdown").unwrap().write)(&report, Style::default());
    assert!(table.contains("requires cols % 16 == 0, finite"), "{table}");
}

#[test]
fn a_row_above_its_limit_says_so() {
    let shown = |above: f64| {
        let mut record = measured();
        let limit = record.rounds.as_mut().unwrap().limit.as_mut().unwrap();
        limit.to_hub.iter_mut().for_each(|value| *value += above);
        let records = [record];
        let report = Report::new(None, &records);
        (Format::find("markdown").unwrap().write)(&report, Style::default())
    };
    assert!(!shown(0.0).contains("above its limit"));
    assert!(shown(0.2).contains("above its limit"), "{}", shown(0.2));
}

#[test]
fn scaling_tables() {
    let records = scaled();
    let report = Report::new(None, &records);
    hold("scaling.txt", &scaling(&report, Style::default()));
    hold("scaling-40.txt", &scaling(&report, Style { colour: false, width: Some(40), ..Style::default() }));
    let text_of = |cases: &[&str]| {
        let mut records = scaled();
        records.retain(|record| cases.iter().any(|case| record.case.starts_with(case)));
        scaling(&Report::new(None, &records), Style::default())
    };
    let cases = ["softmax/f32/rows=256,", "softmax/f32/rows=4096,cols=1024"];
    assert!(text_of(&cases).contains("parallel pays from rows=256, the smallest here\n"));
    // One case alone has no size to tell from.
    assert!(!text_of(&cases[..1]).contains("pays from"));
    let empty = Report::new(None, &[]);
    assert_eq!(scaling(&empty, Style::default()), "without a time: no rows\n");
}

#[test]
fn readings() {
    let records = scaled();
    let report = Report::new(None, &records);
    for (name, reading) in [
        ("best", Reading::Best(Choice::default())),
        ("wins", Reading::Wins),
        ("by-rows", Reading::By("rows".to_owned())),
    ] {
        hold(&format!("{name}.txt"), &reading.write(&report, Style::default()));
        hold(
            &format!("{name}-60.txt"),
            &reading.write(&report, Style { colour: false, width: Some(60), ..Style::default() }),
        );
        assert_eq!(reading.write(&Report::new(None, &[]), Style::default()), "no row has a time\n");
    }
    let cases: Vec<Case> = records.iter().map(|record| record.case.parse().unwrap()).collect();
    assert!(
        Reading::By("cols".to_owned()).check(&cases).is_ok()
            && Reading::Best(Choice::default()).check(&cases).is_ok()
    );
    let unknown = Reading::By("row".to_owned()).check(&cases).unwrap_err();
    assert_eq!(
        (unknown.to_string().as_str(), unknown.hint().as_str()),
        ("no case here has the axis `row`", "did you mean `rows`?")
    );
}

#[test]
fn explanations() {
    let told = ["cpu/online-512", "cpu/unsure", "numpy/loop", "cpu/plain", "mine/fast"];
    for record in compared().into_iter().filter(|record| told.contains(&&*record.implementation)) {
        let name = record.implementation.replace('/', "-");
        hold(&format!("explain-{name}.txt"), &explain(&record, Style::default()));
    }
    let suspect = Record { status: Status::Suspect, why: "faster than its limit".to_owned(), ..measured() };
    hold(
        "explain-suspect.txt",
        &explain(&suspect, Style { colour: true, width: Some(60), ..Style::default() }),
    );
}

#[test]
fn a_wrong_row_has_no_time_in_any_format_for_people() {
    let records = [wrong()];
    let report = Report::new(None, &records);
    for format in FORMATS.iter().filter(|format| !format.name.starts_with("json")) {
        let text = (format.write)(&report, Style::default());
        assert!(!text.contains("1.00 ms") && !text.contains("0.001,"), "{text}");
    }
    assert!(!explain(&records[0], Style::default()).contains("1.00 ms"));
}

#[test]
fn a_history_begins_anew_where_the_definition_changed() {
    let Some(record) = records().into_iter().find(|record| record.rounds.is_some()) else {
        panic!("no record was measured");
    };
    let defined = |definition: &str, run: &str| {
        let mut record = record.clone();
        record.provenance.definition = Some(definition.to_owned());
        record.run = run.to_owned();
        record
    };
    let story = [defined("old", "one\u{1b}"), defined("old", "two"), defined("new", "three")];
    let text = roofline_report::history(&story, |run| format!("commit-of-{run}"), Style::default());
    let titles = text.lines().filter(|line| line.starts_with(&record.row())).collect::<Vec<_>>();
    assert_eq!(titles, [record.row(), format!("{}, another definition since", record.row())]);
    assert_eq!(text.matches("finished").count(), 2, "{text}");
    assert!(text.contains("commit-of-three"), "{text}");
    assert!(
        ["one", "two", "three"].iter().all(|run| text.contains(run)) && !text.contains('\u{1b}'),
        "{text}"
    );
}
