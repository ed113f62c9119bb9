//! What is appended is read back, whole and in order.

mod common;

use common::{any_record, record, run, scratch};
use proptest::prelude::*;
use roofline_core::record::{Record, Sample};
use roofline_store::{Filter, Store, StoreError};

fn found(store: &Store, filter: &Filter) -> Vec<String> {
    let reading = store.records(filter).unwrap();
    assert_eq!(reading.damaged, []);
    reading.found.into_iter().map(|record| record.id).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn every_record_reads_back_as_itself(records in proptest::collection::vec(any_record(), 1..4)) {
        let folder = scratch();
        let path = folder.path().join("new/folder/store.db");
        let store = Store::open(&path).unwrap();
        store.append_run(&run("run")).unwrap();
        let records: Vec<Record> = records
            .into_iter()
            .enumerate()
            .map(|(i, record)| Record { id: format!("{i}"), ..record })
            .collect();
        for record in &records {
            store.append(record).unwrap();
        }
        prop_assert_eq!(&store.records(&Filter::default()).unwrap().found, &records);
        drop(store);
        let again = Store::open_read_only(&path).unwrap().records(&Filter::default()).unwrap();
        prop_assert_eq!(again.damaged, []);
        prop_assert_eq!(again.found, records);
    }

    #[test]
    fn any_filter_is_taken(run: Option<String>, case: Option<String>, implementation: Option<String>, latest: Option<usize>) {
        let folder = scratch();
        let store = Store::open(folder.path().join("store.db")).unwrap();
        store.records(&Filter { run, case, implementation, latest }).unwrap();
    }
}

#[test]
fn filters_narrow() {
    let folder = scratch();
    let store = Store::open(folder.path().join("store.db")).unwrap();
    assert_eq!(store.latest_run().unwrap(), None);
    store.append_run(&run("first")).unwrap();
    store.append_run(&run("second")).unwrap();
    for (id, run, case, implementation) in [
        ("a", "first", "softmax/f32/rows=1,cols=2", "cpu/plain"),
        ("b", "first", "add/f32/rows=1,cols=2", "cpu/plain"),
        ("c", "second", "softmax/f32/rows=1,cols=2", "torch/eager"),
        ("d", "second", "softmax/f32/rows=9,cols=2", "cpu/plain"),
    ] {
        let (case, implementation) = (case.to_owned(), implementation.to_owned());
        store.append(&Record { case, implementation, ..record(run, id) }).unwrap();
    }
    let text = |text: &str| Some(text.to_owned());
    let all = Filter::default();
    assert_eq!(found(&store, &all), ["a", "b", "c", "d"]);
    assert_eq!(found(&store, &Filter { run: text("second"), ..all.clone() }), ["c", "d"]);
    assert_eq!(found(&store, &Filter { case: text("softmax/*"), ..all.clone() }), ["a", "c", "d"]);
    assert_eq!(found(&store, &Filter { case: text("softmax/f32/rows=1,cols=2"), ..all.clone() }), ["a", "c"]);
    assert_eq!(found(&store, &Filter { implementation: text("*/plain"), ..all.clone() }), ["a", "b", "d"]);
    assert_eq!(found(&store, &Filter { latest: Some(2), ..all.clone() }), ["c", "d"]);
    let one =
        Filter { case: text("softmax/*"), implementation: text("cpu/plain"), latest: Some(1), run: None };
    assert_eq!(found(&store, &one), ["d"]);
    assert_eq!(found(&store, &Filter { case: text("softmax"), ..all }), [""; 0]);
    assert_eq!(store.latest_run().unwrap(), Some(run("second")));
    assert_eq!(store.runs().unwrap().found, [run("first"), run("second")]);
}

#[test]
fn a_whole_run_is_appended_or_nothing_of_it() {
    let folder = scratch();
    let store = Store::open(folder.path().join("store.db")).unwrap();
    let error = store.append_whole(&run("run"), &[record("run", "a"), record("run", "a")]).unwrap_err();
    assert!(matches!(error, StoreError::Duplicate { .. }), "{error:?}");
    assert_eq!((store.latest_run().unwrap(), found(&store, &Filter::default()).len()), (None, 0));
    store.append_whole(&run("run"), &[record("run", "a"), record("run", "b")]).unwrap();
    assert_eq!(found(&store, &Filter::default()), ["a", "b"]);
}

#[test]
fn what_could_not_be_read_back_is_not_taken() {
    let folder = scratch();
    let store = Store::open(folder.path().join("store.db")).unwrap();
    store.append_run(&run("run")).unwrap();
    let samples = vec![Sample { set: 0, visit: 0, batch: 1, nanoseconds: f64::NAN }];
    let unstorable = store.append(&Record { samples, ..record("run", "nan") });
    assert!(matches!(unstorable, Err(StoreError::Unstorable { .. })), "{unstorable:?}");
    let orphan = store.append(&record("another", "orphan"));
    assert!(matches!(orphan, Err(StoreError::UnknownRun { .. })), "{orphan:?}");
    store.append(&record("run", "one")).unwrap();
    let twice = store.append(&record("run", "one"));
    assert!(matches!(twice, Err(StoreError::Duplicate { .. })), "{twice:?}");
    let twice = store.append_run(&run("run"));
    assert!(matches!(twice, Err(StoreError::Duplicate { .. })), "{twice:?}");
    assert_eq!(found(&store, &Filter::default()), ["one"]);
}
