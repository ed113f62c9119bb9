//! Whole conversations: over a socket with descriptors, over pipes with files, and hostile ones.

use crate::conductor::{Conductor, PAGE, add, memory, read, table, write};
use roofline_core::protocol::Done;
use roofline_runner::protocol::{
    Ask, Hello, Launched, OutputMode, Prepare, Prepared, RefusalKind, Role, VERSION, Visited,
};
use roofline_runner::{Broken, Channel, Refusal, Session};
use serde_json::Value;
use std::fs::File;
use std::thread::{self, JoinHandle};

type End = JoinHandle<Result<(), Broken>>;

fn start() -> (Conductor, End) {
    let (conductor, socket) = Conductor::over_socket();
    let runner = thread::spawn(|| Session::new(table()).converse(Channel::over_socket(socket)));
    (conductor, runner)
}

/// Memory for `add` with content 1 and 2, and an output of zeros.
fn tensors(request: &Prepare) -> Vec<File> {
    let places = request.tensors.iter().zip([1.0, 2.0, 0.0]);
    places
        .map(|(place, value)| {
            memory(place.size, place.offset, &vec![value; place.bytes as usize / 4], place.role)
        })
        .collect()
}

fn prepare(conductor: &mut Conductor, request: &Prepare) -> Result<(Prepared, Vec<File>), Refusal> {
    let files = tensors(request);
    let borrowed: Vec<&File> = files.iter().collect();
    let prepared = conductor.ask_with(Ask::Prepare(Box::new(request.clone())), &borrowed)?;
    Ok((prepared, files))
}

#[test]
fn a_conversation_over_a_socket() {
    let (mut conductor, runner) = start();
    let hello: Hello = conductor.ask(Ask::Hello { protocol: VERSION }).unwrap();
    assert_eq!(hello.protocol, VERSION);
    assert_eq!((hello.runner.as_str(), hello.version.as_str()), ("test", "1.2.3"));
    assert_eq!(hello.offers[0].implementation, "test/sum");

    for cols in [1, 7, 1000, 5000] {
        let request = add("test/sum", cols);
        let (prepared, files) = prepare(&mut conductor, &request).unwrap();
        assert_eq!((prepared.threads, prepared.notes["order"].as_str()), (1, "as they come"));
        let launched: Launched = conductor.ask(Ask::Launch { count: 2 }).unwrap();
        assert!(!launched.float_mode_changed);
        let (offset, count) = (request.tensors[2].offset, cols as usize);
        assert_eq!(read(&files[2], offset, count), vec![3.0; count]);

        // The memory is shared: an output poisoned by the conductor is written again.
        write(&files[2], offset, &vec![f32::NAN; count]);
        let visited: Visited = conductor.ask(Ask::Visit { warmup: 1, samples: 5, batch: 3 }).unwrap();
        assert_eq!(visited.nanoseconds.len(), 5);
        assert_eq!(visited.copy_nanoseconds, None, "what is written in place is not copied");
        assert_eq!(read(&files[2], offset, count), vec![3.0; count]);
        let _: Done = conductor.ask(Ask::Release).unwrap();
    }
    let _: Done = conductor.ask(Ask::Bye).unwrap();
    runner.join().unwrap().unwrap();
}

#[test]
fn a_fresh_output_is_settled_after_every_sample_and_what_that_took_is_told() {
    let (mut conductor, runner) = start();
    let request = add("test/fresh", 5000);
    let (prepared, files) = prepare(&mut conductor, &request).unwrap();
    assert_eq!(prepared.output, OutputMode::Fresh);
    let settled = || read(&files[2], request.tensors[2].offset, 5000);
    let _: Launched = conductor.ask(Ask::Launch { count: 4 }).unwrap();
    assert_eq!(settled(), [1.0; 5000]);
    let visited: Visited = conductor.ask(Ask::Visit { warmup: 2, samples: 5, batch: 3 }).unwrap();
    assert_eq!(visited.nanoseconds.len(), 5);
    assert!(visited.copy_nanoseconds.is_some_and(|time| time > 0.0), "{visited:?}");
    assert_eq!(settled(), [6.0; 5000]);
    let visited: Visited = conductor.ask(Ask::Visit { warmup: 2, samples: 0, batch: 1 }).unwrap();
    assert_eq!(visited.copy_nanoseconds, None);
    assert_eq!(settled(), [7.0; 5000]);
    let _: Launched = conductor.ask(Ask::Launch { count: 0 }).unwrap();
    assert_eq!(settled(), [7.0; 5000]);
    drop(conductor);
    runner.join().unwrap().unwrap();
}

#[test]
fn a_conversation_over_pipes_with_files() {
    let (from_us, to_runner) = rustix::pipe::pipe().unwrap();
    let (from_runner, to_us) = rustix::pipe::pipe().unwrap();
    let runner = thread::spawn(|| Session::new(table()).converse(Channel::over_streams(from_us, to_us)));
    let mut conductor = Conductor::new(to_runner, from_runner);
    let folder = tempfile::tempdir().unwrap();
    let mut request = add("test/sum", 100);
    for (place, value) in request.tensors.iter_mut().zip([1.0, 2.0, 0.0]) {
        let path = folder.path().join(&place.name);
        let file = File::create(&path).unwrap();
        file.set_len(place.size).unwrap();
        write(&file, place.offset, &[value; 100]);
        place.path = Some(path.to_str().unwrap().to_owned());
    }
    let _: Prepared = conductor.ask(Ask::Prepare(Box::new(request.clone()))).unwrap();
    let _: Launched = conductor.ask(Ask::Launch { count: 1 }).unwrap();
    let output = File::open(folder.path().join("z")).unwrap();
    assert_eq!(read(&output, request.tensors[2].offset, 100), [3.0; 100]);

    request.tensors[0].path = Some("/nowhere/x".to_owned());
    let refusal = conductor.ask::<Prepared>(Ask::Prepare(Box::new(request))).unwrap_err();
    assert!(refusal.message.contains("cannot open `/nowhere/x`"), "{refusal:?}");
    drop(conductor);
    runner.join().unwrap().unwrap();
}

#[test]
fn failures_of_kernels_are_answers() {
    let (mut conductor, runner) = start();
    let mut failure = |implementation: &str, ask: Ask| {
        let refusal = match prepare(&mut conductor, &add(implementation, 10)) {
            Ok(_) => conductor.ask::<Done>(ask).unwrap_err(),
            Err(refusal) => refusal,
        };
        assert_eq!(refusal.kind, RefusalKind::Failed, "{implementation}");
        refusal.message
    };
    let launch = Ask::Launch { count: 1 };
    let visit = Ask::Visit { warmup: 0, samples: 2, batch: 1 };
    assert_eq!(failure("test/panic", launch.clone()), "panicked: at element 3");
    assert_eq!(failure("test/panic", visit.clone()), "panicked: at element 3");
    assert_eq!(failure("test/panic-early", launch.clone()), "panicked: while packing");
    assert_eq!(failure("test/error", launch.clone()), "no plan for this size");
    assert_eq!(failure("test/error", visit.clone()), "no clock for 2 samples");
    assert_eq!(failure("test/twice", launch.clone()), "output `z` is already in use");
    // What failed is not launched again, whether it failed at once or later.
    for implementation in ["test/twice", "test/error"] {
        let failed = prepare(&mut conductor, &add(implementation, 10)).map(|_| ());
        failed.and_then(|()| conductor.ask::<Done>(launch.clone()).map(|_| ())).unwrap_err();
        let refusal = conductor.ask::<Done>(launch.clone()).unwrap_err();
        assert_eq!(refusal.message, "nothing is prepared");
    }
    prepare(&mut conductor, &add("test/sum", 10)).unwrap();
    let _: Visited = conductor.ask(visit).unwrap();
    let refusal = conductor.ask::<Done>(Ask::Visit { warmup: 0, samples: 20_000, batch: 1 }).unwrap_err();
    assert!(refusal.message.contains("at most 10000"), "{refusal:?}");
    drop(conductor);
    runner.join().unwrap().unwrap();
}

#[test]
fn what_is_not_offered_is_unsupported() {
    let (mut conductor, _runner) = start();
    let mut kind = |request: &Prepare| prepare(&mut conductor, request).unwrap_err().kind;
    assert_eq!(kind(&add("test/other", 10)), RefusalKind::Unsupported);
    let other = Prepare { operation: "softmax".to_owned(), ..add("test/sum", 10) };
    assert_eq!(kind(&other), RefusalKind::Unsupported);
    let other = Prepare { precision: "f64".to_owned(), ..add("test/sum", 10) };
    assert_eq!(kind(&other), RefusalKind::Unsupported);
    assert_eq!(kind(&add("test/types", 10)), RefusalKind::Unsupported);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_changed_float_mode_is_told_and_put_back() {
    let (mut conductor, _runner) = start();
    let _ = prepare(&mut conductor, &add("test/float-mode", 10)).unwrap();
    for _ in 0..2 {
        let launched: Launched = conductor.ask(Ask::Launch { count: 1 }).unwrap();
        assert!(launched.float_mode_changed);
        let visited: Visited = conductor.ask(Ask::Visit { warmup: 0, samples: 1, batch: 1 }).unwrap();
        assert!(visited.float_mode_changed);
    }
    let launched: Launched = conductor.ask(Ask::Launch { count: 0 }).unwrap();
    assert!(!launched.float_mode_changed);
}

#[test]
fn hostile_places_are_refused_before_they_are_mapped() {
    let (mut conductor, runner) = start();
    let mut refused = |spoil: &dyn Fn(&mut Prepare), expected: &str| {
        let good = add("test/sum", 100);
        let files = tensors(&good);
        let borrowed: Vec<&File> = files.iter().collect();
        let mut request = good;
        spoil(&mut request);
        let answer = conductor.ask_with::<Prepared>(Ask::Prepare(Box::new(request)), &borrowed);
        let refusal = answer.unwrap_err();
        assert_eq!(refusal.kind, RefusalKind::Failed);
        assert!(refusal.message.contains(expected), "`{}` has no `{expected}`", refusal.message);
    };
    refused(&|r| r.tensors[0].offset = PAGE, "do not fit in a file of 4096");
    refused(&|r| r.tensors[0].offset = u64::MAX - 3, "do not fit");
    refused(&|r| r.tensors[0].offset = 2, "not a multiple of the 4 bytes of f32");
    refused(&|r| r.tensors[1].bytes = 396, "`bytes` is 396");
    refused(&|r| r.tensors[1].shape = vec![u64::MAX, u64::MAX], "`bytes` is 400");
    refused(&|r| r.tensors[1].shape = vec![1; 17], "17 axes");
    refused(&|r| r.tensors[2].size = 0, "multiple of the page");
    refused(&|r| r.tensors[2].size = 5000, "multiple of the page");
    refused(&|r| r.tensors[2].size = u64::MAX - PAGE + 1, "multiple of the page");
    refused(&|r| r.tensors[2].size = 2 * PAGE, "the file has 4096 bytes, not 8192");
    refused(&|r| r.tensors[0].role = Role::Output, "an input stands after an output");
    refused(&|r| r.tensors[1].name = "x".to_owned(), "named twice");
    refused(&|r| r.tensors.truncate(2), "3 descriptors came with 2 tensors");
    refused(&|r| r.tensors = vec![r.tensors[0].clone(); 40], "40 tensors");
    refused(&|r| r.threads = 0, "`threads` is 0");
    refused(&|r| r.axes.clear(), "has no axis `cols`");
    let request = Ask::Prepare(Box::new(add("test/sum", 100)));
    let refusal = conductor.ask::<Prepared>(request).unwrap_err();
    assert!(refusal.message.contains("neither a descriptor nor a `path`"), "{refusal:?}");
    drop(conductor);
    runner.join().unwrap().unwrap();
}

#[test]
fn an_input_cannot_be_mapped_as_an_output() {
    let (mut conductor, _runner) = start();
    let mut request = add("test/sum", 100);
    let sealed = tensors(&request).remove(0);
    request.tensors.swap(0, 2);
    request.tensors.truncate(1);
    let refusal = conductor.ask_with::<Prepared>(Ask::Prepare(Box::new(request)), &[&sealed]).unwrap_err();
    assert!(refusal.message.contains("cannot map 4096 bytes"), "{refusal:?}");
}

#[test]
fn unknown_questions_are_answered() {
    let (mut conductor, runner) = start();
    for question in [
        r#"{"id":41,"ask":"sing"}"#,
        r#"{"id":41}"#,
        r#"{"id":41,"ask":"launch"}"#,
        r#"{"id":41,"ask":"launch","count":-1}"#,
        r#"{"id":41,"ask":"prepare","case":7}"#,
    ] {
        conductor.send(&format!("{question}\n"), &[]);
        let answer: Value = serde_json::from_slice(&conductor.receive()).unwrap();
        assert_eq!(answer["id"], 41);
        assert_eq!(answer["error"]["kind"], "failed", "{question}");
    }
    drop(conductor);
    runner.join().unwrap().unwrap();
}

#[test]
fn malformed_lines_end_the_conversation() {
    let long = format!("{{\"id\":1,\"ask\":\"{}\"}}\n", "x".repeat(1 << 20));
    for (line, expected) in [
        ("hello\n", "not a question"),
        ("\n", "not a question"),
        ("[1,2]\n", "without a number"),
        ("{\"ask\":\"bye\"}\n", "without a number"),
        ("{\"id\":1,\"ask\":\"by", "ended in a line"),
        (long.as_str(), "more than 1048576 bytes"),
    ] {
        let (mut conductor, socket) = Conductor::over_socket();
        let runner = thread::spawn(|| Session::new(table()).converse(Channel::over_socket(socket)));
        let text = line.to_owned();
        let writer = thread::spawn(move || {
            // The runner may leave before it has read all.
            let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| conductor.send(&text, &[])));
            drop(sent);
        });
        let broken = runner.join().unwrap().unwrap_err();
        assert!(broken.to_string().contains(expected), "{broken} has no {expected}");
        writer.join().unwrap();
    }
}
