use super::*;
use crate::Store;
use proptest::prelude::*;
use std::thread;

#[path = "../../tests/common/mod.rs"]
mod common;
use common::{record, run, scratch};

/// A connection past the store, for doing what others do to a file.
fn outside(path: &Path, sql: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

/// A store with a run and `count` records, as the first `migrations` migrations left it.
fn older(path: &Path, migrations: usize, count: usize) {
    let connection = Connection::open(path).unwrap();
    for sql in &MIGRATIONS[..migrations] {
        connection.execute_batch(sql).unwrap();
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    connection.pragma_update(None, "user_version", migrations as u32).unwrap();
    let store = Sqlite { path: path.to_owned(), connection, identity: None };
    store.append_run(&run("run"), &document::encode("run", &run("run")).unwrap()).unwrap();
    for i in 0..count {
        let record = record("run", &format!("{i}"));
        store.append(&record, &document::encode("record", &record).unwrap()).unwrap();
    }
}

fn schema_of(path: &Path) -> (u32, Vec<String>) {
    let connection = Connection::open(path).unwrap();
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let mut names =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name").unwrap();
    let names = names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    (version, names)
}

#[test]
fn every_older_schema_is_brought_up_to_date_with_its_records() {
    let folder = scratch();
    let new = folder.path().join("new.db");
    drop(Store::open(&new).unwrap());
    assert_eq!(schema_of(&new).0, SCHEMA);
    for migrations in 1..=MIGRATIONS.len() {
        let path = folder.path().join(format!("{migrations}.db"));
        older(&path, migrations, 3);
        let before = fs::read(&path).unwrap();
        let read_only = Store::open_read_only(&path).unwrap();
        assert_eq!(read_only.records(&Filter::default()).unwrap().found.len(), 3);
        drop(read_only);
        assert_eq!(fs::read(&path).unwrap(), before, "reading migrates nothing");
        let store = Store::open(&path).unwrap();
        store.append(&record("run", "new")).unwrap();
        assert_eq!(store.records(&Filter::default()).unwrap().found.len(), 4);
        assert_eq!(schema_of(&path), schema_of(&new));
    }
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = scratch();
    let path = folder.path().join("empty.db");
    fs::write(&path, "").unwrap();
    assert!(matches!(Store::open_read_only(&path), Err(StoreError::Absent { .. })));
    drop(Store::open(&path).unwrap());
    assert_eq!(schema_of(&path).0, SCHEMA);
    assert!(Store::open_read_only(&path).unwrap().runs().unwrap().found.is_empty());
}

#[test]
fn opening_again_leaves_the_bytes_alone() {
    let folder = scratch();
    let path = folder.path().join("store.db");
    older(&path, MIGRATIONS.len(), 5);
    let before = fs::read(&path).unwrap();
    drop(Store::open(&path).unwrap());
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no journal stays behind");
}

#[test]
fn a_failed_migration_changes_nothing() {
    let folder = scratch();
    let path = folder.path().join("store.db");
    older(&path, 1, 2);
    // In the way of the second index, so that the first is made and must go again.
    outside(&path, "CREATE TABLE records_by_row (x)");
    let before = schema_of(&path);
    let error = Store::open(&path).unwrap_err();
    assert!(error.to_string().contains("records_by_row"), "{error}");
    assert_eq!(schema_of(&path), before);
    assert_eq!(Store::open_read_only(&path).unwrap().records(&Filter::default()).unwrap().found.len(), 2);
}

#[test]
fn a_newer_schema_is_left_alone() {
    let folder = scratch();
    let path = folder.path().join("store.db");
    older(&path, MIGRATIONS.len(), 1);
    outside(&path, "PRAGMA user_version = 1000");
    let before = fs::read(&path).unwrap();
    for result in [Store::open(&path), Store::open_read_only(&path)] {
        let error = result.unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 1000, .. }), "{error}");
        assert!(error.hint().contains("newer Roofline"));
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn files_of_others_are_refused_and_untouched() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name);
    outside(&path("plain.db"), "CREATE TABLE records (x); INSERT INTO records VALUES (1)");
    outside(&path("theirs.db"), "PRAGMA application_id = 77; CREATE TABLE t (x)");
    // Closed without folding its log in, as a killed program leaves it.
    let log =
        outside(&path("log.db"), "PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    for name in ["log.db", "log.db-wal"] {
        fs::copy(path(name), path(&format!("killed-{name}"))).unwrap();
    }
    drop(log);
    fs::write(path("note.txt"), "not a database\n").unwrap();
    fs::write(path("long.txt"), vec![b'x'; 10_000]).unwrap();
    fs::write(path("short.db"), &b"SQLite format 3\0"[..]).unwrap();
    fs::create_dir(path("folder")).unwrap();
    let content = |name: &str| fs::read(path(name)).ok();
    let names =
        ["plain.db", "theirs.db", "log.db", "killed-log.db", "note.txt", "long.txt", "short.db", "folder"];
    let listing = || {
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    };
    let listed = listing();
    for name in names {
        let before = (content(name), content("killed-log.db-wal"));
        for result in [Store::open(path(name)), Store::open_read_only(path(name))] {
            let error = result.unwrap_err();
            assert!(matches!(error, StoreError::Foreign { .. }), "{name}: {error:?}");
            assert!(error.hint().contains("--store"));
        }
        assert_eq!((content(name), content("killed-log.db-wal")), before, "{name}");
    }
    assert_eq!(listing(), listed, "no file was made beside them");
    assert!(matches!(Store::open_read_only(path("none.db")), Err(StoreError::Absent { .. })));
    assert!(!path("none.db").exists());
}

#[test]
fn tables_that_are_not_there_are_damage() {
    let folder = scratch();
    for sql in ["DROP TABLE records", "PRAGMA user_version = -5", "PRAGMA user_version = 0"] {
        let path = folder.path().join(format!("{}.db", sql.len()));
        older(&path, MIGRATIONS.len(), 1);
        outside(&path, sql);
        let error = Store::open(&path).and_then(|store| store.records(&Filter::default())).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{sql}: {error:?}");
        let error =
            Store::open_read_only(&path).and_then(|store| store.records(&Filter::default())).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{sql}: {error:?}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn odd_paths_are_paths() {
    let folder = scratch();
    for name in ["a?b#c%20d.db", ":memory:", "file:x?mode=memory", "ä \u{1f980}.db", "-x"] {
        let path = folder.path().join(name);
        for _ in 0..2 {
            drop(Store::open(&path).unwrap());
            assert_eq!(schema_of(&path).0, SCHEMA, "{name}");
        }
    }
}

#[test]
fn many_open_and_append_at_once() {
    let folder = scratch();
    let path = folder.path().join("store.db");
    thread::scope(|scope| {
        for thread in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let store = Store::open(path).unwrap();
                store.append_run(&run(&format!("{thread}"))).unwrap();
                for i in 0..5 {
                    store.append(&record(&format!("{thread}"), &format!("{thread}-{i}"))).unwrap();
                }
            });
        }
    });
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.records(&Filter::default()).unwrap().found.len(), 40);
    let mine = Filter { run: Some("3".to_owned()), ..Filter::default() };
    assert_eq!(store.records(&mine).unwrap().found.len(), 5);
}

#[test]
fn a_reader_cannot_append() {
    let folder = scratch();
    let path = folder.path().join("store.db");
    older(&path, MIGRATIONS.len(), 1);
    let error = Store::open_read_only(&path).unwrap().append_run(&run("other")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
}

#[test]
fn a_full_store_keeps_what_it_has() {
    let folder = scratch();
    let store = Store::open(folder.path().join("store.db")).unwrap();
    store.append_run(&run("run")).unwrap();
    store.engine.connection.pragma_update_and_check(None, "max_page_count", 24, |_| Ok(())).unwrap();
    let mut kept = 0;
    let error = loop {
        match store.append(&record("run", &kept.to_string())) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(kept > 0);
    assert_eq!(store.records(&Filter::default()).unwrap().found.len(), kept);
}

#[test]
fn a_damaged_document_is_named_and_the_others_are_read() {
    let folder = scratch();
    let path = folder.path().join("store.db");
    older(&path, MIGRATIONS.len(), 5);
    outside(
        &path,
        "UPDATE records SET document = 'nonsense' WHERE id = '0';
         UPDATE records SET document = json_set(document, '$.schema', 9) WHERE id = '1';
         UPDATE records SET document = json_remove(document, '$.case') WHERE id = '2';
         UPDATE records SET case_id = 'other' WHERE id = '3';
         UPDATE runs SET document = CAST(x'ff00' AS TEXT);",
    );
    let store = Store::open(&path).unwrap();
    let reading = store.records(&Filter::default()).unwrap();
    assert_eq!(reading.found, [record("run", "4")]);
    let told: Vec<String> = reading.damaged.iter().map(ToString::to_string).collect();
    for (text, (id, why)) in told.iter().zip([
        ("`0`", "expected"),
        ("`1`", "schema 9"),
        ("`2`", "missing field `case`"),
        ("`3`", "column `case_id`"),
    ]) {
        assert!(text.contains(id) && text.contains(why), "{text}");
    }
    assert_eq!(told.len(), 4);
    assert!(matches!(store.latest_run(), Err(StoreError::Damaged(_))));
    assert_eq!(store.runs().unwrap().damaged.len(), 1);
}

/// Text that is JSON, nearly JSON, or anything.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<i64>().prop_map(|x| x.to_string()),
        any::<f64>().prop_map(|x| x.to_string()),
        any::<String>().prop_map(|x| serde_json::to_string(&x).unwrap()),
        Just("1e999".to_owned()),
    ];
    let key = prop_oneof![
        proptest::sample::select(
            &["schema", "id", "run", "status", "samples", "gate", "work", "machine"][..]
        )
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    let json = leaf.prop_recursive(5, 40, 6, move |inner| {
        let member = (key.clone(), inner.clone())
            .prop_map(|(key, value)| format!("{}:{value}", serde_json::to_string(&key).unwrap()));
        prop_oneof![
            proptest::collection::vec(inner, 0..6).prop_map(|values| format!("[{}]", values.join(","))),
            proptest::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    });
    prop_oneof![
        json.prop_map(String::into_bytes),
        any::<Vec<u8>>(),
        (0usize..400).prop_map(|depth| vec![b'['; depth]),
        // A true record with a few bytes changed.
        proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4).prop_map(|changes| {
            let mut bytes = document::encode("0", &record("run", "0")).unwrap().into_bytes();
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            bytes
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn hostile_documents_are_damage_and_no_panic(
        documents in proptest::collection::vec((hostile(), any::<bool>()), 1..20), id: String,
    ) {
        let folder = scratch();
        let path = folder.path().join("store.db");
        older(&path, MIGRATIONS.len(), 1);
        let connection = Connection::open(&path).unwrap();
        for (i, (document, record)) in documents.iter().enumerate() {
            let insert = if *record {
                "INSERT INTO records VALUES (NULL, ?1, 'run', '', '', '', '', CAST(?2 AS TEXT))"
            } else {
                "INSERT INTO runs VALUES (NULL, ?1, '', CAST(?2 AS TEXT))"
            };
            connection.execute(insert, params![format!("{id}#{i}"), document]).unwrap();
        }
        drop(connection);
        let store = Store::open(&path).unwrap();
        let (runs, records) = (store.runs().unwrap(), store.records(&Filter::default()).unwrap());
        prop_assert_eq!(runs.found.len() + runs.damaged.len() + records.found.len() + records.damaged.len(),
            documents.len() + 2);
        prop_assert!(records.found.contains(&record("run", "0")));
        prop_assert!(runs.found.contains(&run("run")));
        for damaged in runs.damaged.iter().chain(&records.damaged) {
            prop_assert!(damaged.id.starts_with(&id), "{:?}", damaged);
        }
    }

    #[test]
    fn hostile_bytes_in_the_file_are_errors_and_no_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..60), keep: prop::sample::Index,
    ) {
        let folder = scratch();
        let path = folder.path().join("store.db");
        older(&path, 1, 3);
        let mut bytes = fs::read(&path).unwrap();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(bytes.len() - keep.index(bytes.len()) / 2);
        fs::write(&path, bytes).unwrap();
        for store in [Store::open_read_only(&path), Store::open(&path)].into_iter().flatten() {
            let _ = store.records(&Filter::default());
            let _ = store.latest_run();
            let _ = store.append(&record("run", "another"));
        }
    }
}

#[test]
fn what_nobody_finds_at_the_path_was_not_kept() {
    let folder = scratch();
    let path = folder.path().join("store.db");
    let store = Store::open(&path).unwrap();
    store.append_run(&run("run")).unwrap();
    let kept = record("run", "kept");
    store.append(&kept).unwrap();
    let confirm = |ids: &[&str]| store.confirm("run", ids).map_err(|error| error.to_string());
    confirm(&[&kept.id]).unwrap();
    confirm(&[]).unwrap();
    assert!(confirm(&[&kept.id, "other"]).unwrap_err().contains("1 of 2 records that it took are not there"));
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    assert!(confirm(&[&kept.id]).unwrap_err().ends_with("another file lies there"));
    fs::remove_file(&path).unwrap();
    assert!(confirm(&[]).unwrap_err().ends_with("it was removed"));
    let late = store.append(&record("run", "late")).unwrap_err();
    assert!(matches!(&late, StoreError::Gone { why, .. } if why == "it was removed"), "{late}");
    assert!(late.hint().contains("--format jsonl"));
}
