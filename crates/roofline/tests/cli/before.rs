//! What was written before stays usable: a store, published ids, a runner and a library of the last version.

use crate::scene::{Outcome, Scene, say};
use roofline_core::case::parse_row;
use roofline_core::protocol::{
    Ask, Done, Hello, Launched, OLDEST, Prepared, Question, Visited, parse_answer,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/before").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(fixture(name)).unwrap()
}

/// Compiles a fixture into the scene; `false` where there is no compiler.
fn compile(scene: &Scene, source: &str, words: &[&str], to: &str) -> bool {
    let mut cc = Command::new("cc");
    cc.arg("-O1").args(words).arg("-o").arg(scene.path(to)).arg(fixture(source)).arg("-lm");
    match cc.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            say(&format!("skipped: no C compiler for {source}"));
            false
        }
        output => {
            Outcome::of(output).exits(0);
            true
        }
    }
}

/// A scene whose store is the one of before.
fn with_old_store() -> Scene {
    let scene = Scene::alone();
    std::fs::copy(fixture("store.db"), scene.store()).unwrap();
    scene
}

const ROW: &str = "add/f32/rows=1024,cols=1024@cpu/plain";

#[test]
fn published_rows_are_rows() {
    for row in text("rows.txt").lines() {
        let (case, implementation) = parse_row(row).unwrap_or_else(|error| panic!("{row}: {error}"));
        assert_eq!(format!("{case}@{implementation}"), row);
    }
}

#[test]
fn an_older_store_is_read_as_it_is() {
    let scene = with_old_store();
    let explained = scene.call_with_store(&format!("explain {ROW}")).exits(0).stdout;
    assert!(explained.contains("cpu/vector") && explained.contains("ok"), "{explained}");
    let runs = scene.records().iter().map(|record| record.run.clone()).collect::<Vec<_>>();
    let exported = scene.call_with_store(&format!("export --run {} --format jsonl", runs[0])).exits(0);
    assert_eq!(exported.row("cpu/plain")["status"], "ok");
    assert_eq!(exported.row("cpu/vector")["samples"].as_array().map(Vec::is_empty), Some(false));
    assert_eq!(exported.rows().len(), 3);
    let table = scene.call_with_store(&format!("export --run {} --format table", runs[0])).exits(0).stdout;
    assert!(table.contains("vs cpu/vector") && table.contains("2 rows: 2 ok"), "{table}");
    assert_eq!(std::fs::read(scene.store()).unwrap(), std::fs::read(fixture("store.db")).unwrap());
}

#[test]
fn a_run_of_before_is_resumed() {
    let scene = with_old_store();
    // As if it had been begun on this machine: elsewhere it is not resumed.
    scene.call("check add/f32/rows=1,cols=1 -i cpu/plain --store here.db").exits(0);
    let move_in = "import json, sqlite3, sys
here = sqlite3.connect('here.db').execute('select document from runs').fetchone()[0]
store = sqlite3.connect(sys.argv[2])
for number, text in store.execute('select number, document from runs').fetchall():
    document = json.loads(text) | {'machine': json.loads(here)['machine']}
    store.execute('update runs set document = ? where number = ?', (json.dumps(document), number))
store.commit()";
    scene.python(move_in, &["store.db"]).exits(0);
    let resumed = scene.call_with_store("run --resume --format jsonl");
    assert!(
        resumed.stderr.contains("resuming `roofline run add/f32/rows=1024,cols=1024"),
        "{}",
        resumed.stderr
    );
    // Under load the gate may doubt its times; it has a row again, and a new record in the old run.
    let row = resumed.row("cpu/plain");
    assert!(["ok", "suspect"].contains(&row["status"].as_str().unwrap()), "{row}");
    assert!(scene.records().len() > 3);
}

#[test]
fn a_runner_of_the_last_protocol_is_measured() {
    let scene = Scene::alone();
    let toml = "name = \"c-example\"\ncommand = [\"./c-example\"]\nhint = \"compile it\"\n";
    scene.write("old/runner.toml", toml);
    if !compile(&scene, "c-example.c", &[], "old/c-example") {
        return;
    }
    let outcome =
        scene.call_with_store("check add/f32/rows=3,cols=5 --runner ./old -i c-example/* --format jsonl");
    assert_eq!(outcome.exits(0).row("c-example/plain")["status"], "ok");
    let listed = scene.call_with_store("runners --runner ./old").exits(0).stdout;
    assert!(listed.contains("c-example"), "{listed}");
}

#[test]
fn a_library_of_the_last_interface_is_measured() {
    let scene = Scene::alone();
    let include = format!("-I{}", fixture("").display());
    if !compile(&scene, "mine.c", &["-shared", "-fPIC", &include], "mine.so") {
        return;
    }
    let outcome =
        scene.call_with_store("check add/f32/rows=3,cols=5 --lib ./mine.so --format jsonl").exits(0);
    assert_eq!(outcome.row("mine/plain")["status"], "ok");
    assert_eq!(outcome.row("mine/plain")["evidence"]["workspace"], 64);
}

#[test]
fn a_conversation_of_the_last_protocol_is_understood() {
    let transcript = text("transcript.jsonl");
    let mut asked = None;
    for line in transcript.lines() {
        match line.split_at(2) {
            ("> ", line) => {
                let question: Question = serde_json::from_str(line).unwrap();
                // What is asked today has all that was asked then; what is new a runner may ignore.
                let (then, now): (Value, Value) =
                    (serde_json::from_str(line).unwrap(), serde_json::to_value(&question).unwrap());
                for (name, value) in then.as_object().unwrap() {
                    assert_eq!(&now[name], value, "`{name}` of {line}");
                }
                asked = Some(question);
            }
            ("< ", line) => answered(line, &asked.take().expect("a question")),
            _ => panic!("{line}"),
        }
    }
}

/// Reads an answer as the conductor would.
fn answered(line: &str, question: &Question) {
    let line = line.as_bytes();
    let is_refusal = match question.ask {
        Ask::Hello { .. } => {
            let hello = parse_answer::<Hello>(line, question).unwrap().unwrap();
            assert_eq!(hello.protocol, OLDEST);
            false
        }
        Ask::Prepare(_) => parse_answer::<Prepared>(line, question).unwrap().is_err(),
        Ask::Launch { .. } => parse_answer::<Launched>(line, question).unwrap().is_err(),
        Ask::Visit { .. } => parse_answer::<Visited>(line, question).unwrap().is_err(),
        Ask::Release | Ask::Bye => parse_answer::<Done>(line, question).unwrap().is_err(),
    };
    assert_eq!(is_refusal, line.windows(7).any(|part| part == b"\"error\""));
}

/// Takes from a store what the migrations after a schema have made.
const BACK: [(u32, &str); 3] = [
    (3, ""),
    (2, "drop table turns; pragma user_version = 2"),
    (1, "drop table turns; drop index records_by_run; drop index records_by_row; pragma user_version = 1"),
];

#[test]
fn a_store_of_every_schema_is_merged_and_once_is_enough() {
    for (schema, back) in BACK {
        let scene = Scene::alone();
        std::fs::copy(fixture("store.db"), scene.path("old.db")).unwrap();
        let script = "import sqlite3, sys; sqlite3.connect('old.db').executescript(sys.argv[2])";
        scene.python(script, &[back]).exits(0);
        let before = std::fs::read(scene.path("old.db")).unwrap();
        let said = scene.call("merge old.db --store new.db").exits(0).stdout;
        assert!(said.contains("2 runs and 3 records added, 0 in"), "schema {schema}: {said}");
        let said = scene.call("merge old.db --store new.db").exits(0).stdout;
        assert!(said.contains("0 runs and 0 records added, 3 in"), "schema {schema}: {said}");
        assert_eq!(std::fs::read(scene.path("old.db")).unwrap(), before, "schema {schema}");
        // And it is itself one that others are merged into.
        let said = scene.call("merge new.db --store old.db").exits(0).stdout;
        assert!(said.contains("0 runs and 0 records added, 3 in"), "schema {schema}: {said}");
        let explained = scene.call(&format!("explain {ROW} --store old.db")).exits(0).stdout;
        assert!(explained.contains("ok"), "schema {schema}: {explained}");
    }
}
