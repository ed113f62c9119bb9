use super::*;
use proptest::prelude::*;
use serde_json::json;

const VISIT: Ask = Ask::Visit { warmup: 0, samples: 2, batch: 1 };

fn read<T: Answerable>(ask: Ask, line: &str) -> Result<T, String> {
    let read = parse_answer::<T>(line.as_bytes(), &Question { id: 3, ask });
    read.map_err(|breach| breach.0).map(|answer| answer.expect("no refusal"))
}

fn ok<T: Answerable>(ask: Ask, ok: Value) -> Result<T, String> {
    read(ask, &json!({"id": 3, "ok": ok}).to_string())
}

fn hello() -> Value {
    let offer = json!({"implementation": "a/b", "operation": "add", "dtypes": ["f32"]});
    json!({"protocol": VERSION, "runner": "a", "version": "1", "offers": [offer], "notes": {"k": "v"}})
}

/// `value` with what lies at `pointer` replaced.
fn with(mut value: Value, pointer: &str, part: Value) -> Value {
    *value.pointer_mut(pointer).unwrap() = part;
    value
}

#[test]
fn breaches_are_named() {
    let breach = |line: &str| read::<Visited>(VISIT, line).unwrap_err();
    assert!(breach("garbage").contains("not an answer"));
    assert!(breach(r#"{"ok":{"nanoseconds":[1,2]}}"#).contains("missing field `id`"));
    assert!(breach(r#"{"id":4,"ok":{"nanoseconds":[1,2]}}"#).contains("question 4"));
    assert!(breach(r#"{"id":3}"#).contains("either"));
    assert!(breach(r#"{"id":3,"ok":{"times":[1]}}"#).contains("not the answer"));
    let long = json!({"id": 3, "error": {"kind": "x".repeat(10_000), "message": ""}}).to_string();
    assert!(breach(&long).len() < 500);
    assert!(breach(r#"{"id":3,"ok":{"nanoseconds":[1]}}"#).contains("1 samples when asked for 2"));
}

#[test]
fn lists_are_no_objects() {
    for line in [r#"[3,{}]"#, r#"[3,{"nanoseconds":[1,2]}]"#, r#"{"id":3,"ok":[[1.0,2.0],null,null,false]}"#]
    {
        assert!(read::<Visited>(VISIT, line).unwrap_err().contains("a list where an object"), "{line}");
    }
    let refusal = r#"{"id":3,"error":["failed","no"]}"#;
    assert!(parse_answer::<Done>(refusal.as_bytes(), &Question { id: 3, ask: Ask::Bye }).is_err());
    assert!(read::<Done>(Ask::Release, r#"{"id":3,"ok":[]}"#).is_err());
    let allocations = json!({"allocations": [1.0, 2.0]});
    assert!(ok::<Launched>(Ask::Launch { count: 1 }, allocations).is_err());
    let ask = || Ask::Hello { protocol: VERSION };
    assert!(ok::<Hello>(ask(), hello()).is_ok());
    let listed = with(hello(), "/offers/0", json!(["a/b", "add", ["f32"], "", false, ["cpu"]]));
    assert!(ok::<Hello>(ask(), listed).unwrap_err().contains("a list where an object"));
}

#[test]
fn times_are_times() {
    let visit =
        |times: &str| read::<Visited>(VISIT, &format!(r#"{{"id":3,"ok":{{"nanoseconds":[{times}]}}}}"#));
    for times in ["1e308,1", "-1,1", "0,1", "1e-300,1", "1,100000000000000000000000000000", "8e13,8e13"] {
        assert!(visit(times).unwrap_err().contains("can be"), "{times}");
    }
    assert!(visit("1e999,1").unwrap_err().contains("not an answer"));
    assert!(visit("1,36e11").is_ok());
    for (field, times) in
        [("copy_nanoseconds", [1e308, -1.0, 5e13]), ("host_nanoseconds", [1e308, -1.0, 1e14])]
    {
        for time in times {
            let answer = json!({"nanoseconds": [1, 2], field: time});
            assert!(ok::<Visited>(VISIT, answer).is_err(), "{field} {time}");
        }
    }
}

#[test]
fn every_number_and_list_is_bounded() {
    let prepare = |field: &str, value: Value| ok::<Prepared>(Ask::Release, json!({ field: value }));
    assert!(prepare("threads", json!(64)).is_ok());
    let many: BTreeMap<String, String> = (0..65).map(|i| (i.to_string(), String::new())).collect();
    for (field, value) in [
        ("threads", json!(u32::MAX)),
        ("threads", json!(-1)),
        ("threads", json!(1e30)),
        ("workspace_bytes", json!(u64::MAX)),
        ("notes", json!(many)),
        ("notes", json!({"long": "x".repeat(5000)})),
        ("notes", json!({"x".repeat(300): "long"})),
    ] {
        assert!(prepare(field, value.clone()).is_err(), "{field} {value}");
    }
    for taken in [json!({"count": 1e308, "bytes": 1}), json!({"count": 1, "bytes": -1})] {
        assert!(ok::<Launched>(Ask::Launch { count: 1 }, json!({"allocations": taken})).is_err());
    }
    let offer = hello()["offers"][0].clone();
    for (pointer, value) in [
        ("/protocol", json!(0)),
        ("/protocol", json!(VERSION + 1)),
        ("/version", json!(" ")),
        ("/version", json!("9".repeat(300))),
        ("/runner", json!("x".repeat(300))),
        ("/offers", json!(vec![offer; 5000])),
        ("/offers/0/implementation", json!("../A")),
        ("/offers/0/operation", json!("x".repeat(300))),
        ("/offers/0/dtypes", json!(vec!["f32"; 65])),
        ("/notes", json!({"long": "x".repeat(5000)})),
    ] {
        let spoilt = with(hello(), pointer, value);
        assert!(ok::<Hello>(Ask::Hello { protocol: VERSION }, spoilt).is_err(), "{pointer}");
    }
}

#[test]
fn the_last_protocol_is_spoken_too() {
    for protocol in OLDEST..=VERSION {
        let spoken = with(hello(), "/protocol", json!(protocol));
        assert_eq!(ok::<Hello>(Ask::Hello { protocol: VERSION }, spoken).unwrap().protocol, protocol);
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let question = |ask| Question { id: 1, ask };
        let _ = parse_answer::<Hello>(&bytes, &question(Ask::Hello { protocol: VERSION }));
        let _ = parse_answer::<Visited>(&bytes, &question(VISIT));
    }

    #[test]
    fn what_passes_is_bounded(times in prop::collection::vec(prop::num::f64::ANY, 2)) {
        let visited = Visited { nanoseconds: times, ..Visited::default() };
        if visited.check(&VISIT).is_ok() {
            let sum: f64 = visited.nanoseconds.iter().sum();
            prop_assert!(visited.nanoseconds.iter().all(|time| *time > 0.0) && sum <= LONGEST_VISIT);
        }
    }
}
