//! Questions that are spoilt by lot: each has one answer, or ends the session with words; none ends the process.

use crate::conductor::{add, memory, table};
use roofline_core::philox::Draws;
use roofline_runner::protocol::{Ask, Prepare, Question, Role, VERSION};
use roofline_runner::{Broken, Message, Session};
use serde_json::{Value, json};
use std::os::fd::OwnedFd;

const QUESTIONS: u64 = 4000;

fn questions() -> Vec<Value> {
    let asks = [
        Ask::Hello { protocol: VERSION },
        Ask::Prepare(Box::new(add("test/sum", 10))),
        Ask::Launch { count: 1 },
        Ask::Visit { warmup: 1, samples: 2, batch: 3 },
        Ask::Release,
        Ask::Bye,
    ];
    let question = |ask| serde_json::to_value(Question { id: 5, ask }).unwrap();
    asks.into_iter().map(question).collect()
}

fn files(request: &Prepare) -> Vec<OwnedFd> {
    let file = |place: &roofline_runner::protocol::Place| {
        memory(place.size, place.offset, &[1.0; 10], place.role).into()
    };
    request.tensors.iter().map(file).collect()
}

/// The question with one of its parts replaced or taken away.
fn spoilt(draws: &mut Draws, mut question: Value) -> Value {
    let odd = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(u64::MAX),
        json!(1e300),
        json!("x"),
        json!("x".repeat(5000)),
        json!([]),
        json!({}),
        json!([[[0]]]),
        json!(4096),
        json!(true),
    ];
    let mut places = Vec::new();
    pointers(&question, String::new(), &mut places);
    let place = &places[draws.below(places.len() as u64) as usize];
    let (above, name) = place.rsplit_once('/').unwrap();
    match question.pointer_mut(above) {
        Some(Value::Object(parts)) if draws.below(4) == 0 => drop(parts.remove(name)),
        Some(Value::Array(parts)) if draws.below(4) == 0 => parts.extend(parts.clone()),
        _ => *question.pointer_mut(place).unwrap() = odd[draws.below(odd.len() as u64) as usize].clone(),
    }
    question
}

fn pointers(value: &Value, here: String, places: &mut Vec<String>) {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(parts) => parts.iter().map(|(name, part)| (name.clone(), part)).collect(),
        Value::Array(parts) => parts.iter().enumerate().map(|(i, part)| (i.to_string(), part)).collect(),
        _ => Vec::new(),
    };
    for (name, part) in parts {
        let place = format!("{here}/{name}");
        places.push(place.clone());
        pointers(part, place, places);
    }
}

/// Whether a question may ask for more launches than a test has time for.
fn is_long(question: &Value) -> bool {
    ["count", "warmup", "samples", "batch"].iter().any(|name| question[name].as_u64() > Some(10_000))
}

#[test]
fn every_spoilt_question_has_one_answer() {
    let mut draws = Draws::of(7, "hostile questions");
    let mut session = Session::new(table());
    let questions = questions();
    let (mut answers, mut breaches) = (0, 0);
    for _ in 0..QUESTIONS {
        let mut question = questions[draws.below(questions.len() as u64) as usize].clone();
        for _ in 0..draws.below(3) {
            question = spoilt(&mut draws, question);
        }
        if is_long(&question) {
            continue;
        }
        let mut line = question.to_string().into_bytes();
        if draws.below(8) == 0 {
            let at = draws.below(line.len() as u64) as usize;
            line[at] = draws.bits() as u8;
        }
        // A byte may have turned a small count into a large one.
        if serde_json::from_slice(&line).is_ok_and(|question: Value| is_long(&question)) {
            continue;
        }
        let files = if question["ask"] == "prepare" { files(&add("test/sum", 10)) } else { Vec::new() };
        match session.answer(Message { line: line.clone(), files }) {
            Ok(answered) => {
                let answer: Value = serde_json::from_slice(&answered.line).unwrap();
                assert!(answer["ok"].is_object() != answer["error"].is_object(), "{answer}");
                assert_eq!(answer["id"], serde_json::from_slice::<Value>(&line).unwrap()["id"]);
                answers += 1;
            }
            Err(Broken::Breach(why)) => {
                assert!(!why.is_empty());
                breaches += 1;
            }
            Err(Broken::Io(error)) => panic!("{error}"),
        }
    }
    assert!(answers > QUESTIONS / 2 && breaches > QUESTIONS / 100, "{answers} answers, {breaches} breaches");
    // Whatever it was asked, it works.
    let request = add("test/sum", 10);
    let files = files(&request);
    assert_eq!(request.tensors.iter().filter(|place| place.role == Role::Output).count(), 1);
    let mut say = |ask, files| {
        let line = serde_json::to_vec(&Question { id: 9, ask }).unwrap();
        let answer = session.answer(Message { line, files }).unwrap().line;
        serde_json::from_slice::<Value>(&answer).unwrap()["ok"].is_object()
    };
    assert!(say(Ask::Prepare(Box::new(request)), files) && say(Ask::Launch { count: 1 }, Vec::new()));
}
