//! A runner whose answers are spoilt by lot: `saboteur --fuzz SEED`. The kernels behind them are honest.
//!
//! The seed decides from which question on, how often, and how. Half of the seeds leave processes alone
//! that begin with a gate launch, so that rows come through the proof and are spoilt in the rounds.

use crate::Saboteur;
use crate::protocol::{leave, sleep_on};
use roofline_core::philox::Draws;
use roofline_runner::protocol::{Ask, Question};
use roofline_runner::{Broken, Channel, Session};
use serde_json::{Map, Value, json};
use std::thread;
use std::time::Duration;

pub(crate) fn converse(seed: u64) -> Result<(), Broken> {
    let mut channel = Channel::open()?;
    let mut session = Session::new(Saboteur { device: None });
    let mut lot = Lot::new(seed);
    while let Some(message) = channel.receive()? {
        let question: Option<Question> = serde_json::from_slice(&message.line).ok();
        let answered = session.answer(message)?;
        match question {
            Some(question) if lot.spoils(&question.ask) => {
                channel = spoil(&mut lot.draws, channel, &answered.line);
            }
            _ => channel.send(&answered.line)?,
        }
        if answered.last {
            break;
        }
    }
    Ok(())
}

/// Which answers are spoilt.
struct Lot {
    draws: Draws,
    in_rounds: bool,
    /// Answers until the first one.
    left: u64,
    again: bool,
    /// Whether this process may spoil any, once it is known.
    takes_part: Option<bool>,
}

impl Lot {
    fn new(seed: u64) -> Lot {
        let mut draws = Draws::of(seed, "fuzz");
        let in_rounds = draws.below(2) == 0;
        // Mostly early, where every kind of question comes; now and then late.
        let reach = [1, 4, 16, 64, 256][draws.below(5) as usize];
        let left = draws.below(reach);
        let again = draws.below(4) == 0;
        Lot { draws, in_rounds, left, again, takes_part: None }
    }

    fn spoils(&mut self, ask: &Ask) -> bool {
        if let (None, Ask::Prepare(request)) = (self.takes_part, ask) {
            // Between canaries, and not flush with a page: where times are taken.
            let is_timed = request
                .tensors
                .iter()
                .all(|place| place.offset > 0 && place.offset + place.bytes < place.size);
            self.takes_part = Some(is_timed || !self.in_rounds);
        }
        if !self.takes_part.unwrap_or(!self.in_rounds) {
            return false;
        }
        match self.left {
            0 if self.again => self.left = self.draws.below(3),
            0 => self.takes_part = Some(false),
            _ => {
                self.left -= 1;
                return false;
            }
        }
        true
    }
}

/// Sends something in place of an answer.
fn spoil(draws: &mut Draws, mut channel: Channel, answer: &[u8]) -> Channel {
    let mut line = answer.to_vec();
    match draws.below(18) {
        0..=7 => line = with_part_changed(draws, answer),
        8 => {
            // Bytes of the line become others.
            for _ in 0..=draws.below(4) {
                let at = draws.below(line.len() as u64 - 1) as usize;
                line[at] = draws.bits() as u8;
            }
        }
        9 => line = [b"[".repeat(100_000), b"\n".to_vec()].concat(),
        10 => line = answer.repeat(1 + draws.below(3) as usize),
        11 => line.truncate(draws.below(answer.len() as u64) as usize),
        12 => {
            send(&mut channel, &line[..draws.below(line.len() as u64) as usize]);
            match draws.below(3) {
                0 => leave(0),
                1 => std::process::abort(),
                _ => {
                    drop(channel);
                    sleep_on()
                }
            }
        }
        13 => {
            for byte in line.chunks(1 + draws.below(64) as usize) {
                send(&mut channel, byte);
                thread::sleep(Duration::from_micros(100));
            }
            return channel;
        }
        14 => line = refusal(draws, answer),
        15..=16 => line = with_other_times(draws, answer),
        _ => sleep_on(),
    }
    send(&mut channel, &line);
    channel
}

/// The answer with one of its parts taken away, doubled, or made into something else.
fn with_part_changed(draws: &mut Draws, answer: &[u8]) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(answer).expect("the SDK answers in JSON");
    let mut places = Vec::new();
    pointers(&value, String::new(), &mut places);
    let place = &places[draws.below(places.len() as u64) as usize];
    let (above, name) = place.rsplit_once('/').unwrap_or_default();
    let mut raw = None;
    match (draws.below(4), value.pointer_mut(above)) {
        (0, Some(Value::Object(parts))) => drop(parts.remove(name)),
        (1, Some(parts @ Value::Object(_))) => *parts = listed(parts),
        (2, Some(Value::Object(parts))) => {
            // The name twice, with something else the second time.
            raw = Some(format!("{},{}:{}", parts[name], Value::from(name), any(draws)));
            parts[name] = json!(HOLE);
        }
        _ => {
            raw = Some(any(draws));
            if let Some(part) = value.pointer_mut(place) {
                *part = json!(HOLE);
            }
        }
    }
    let text = value.to_string() + "\n";
    raw.map_or(text.clone(), |raw| text.replace(&json!(HOLE).to_string(), &raw)).into_bytes()
}

/// The answer with times that may be some, and are too long or too short by powers of ten.
fn with_other_times(draws: &mut Draws, answer: &[u8]) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(answer).expect("the SDK answers in JSON");
    let factor = 10_f64.powi(draws.below(31) as i32 - 15);
    for time in value["ok"]["nanoseconds"].as_array_mut().into_iter().flatten() {
        *time = json!(time.as_f64().unwrap_or_default() * factor);
    }
    (value.to_string() + "\n").into_bytes()
}

/// Stands where text is put that no value can be.
const HOLE: &str = "\u{1}hole\u{1}";

/// Anything that is not what belongs there, mostly JSON.
fn any(draws: &mut Draws) -> String {
    const ODD: &[&str] = &[
        "0",
        "-0.0",
        "1",
        "-1",
        "0.001",
        "1e-300",
        "5e-324",
        "1e12",
        "8e13",
        "1e17",
        "1e308",
        "-1e308",
        "1e999",
        "NaN",
        "65536",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "999999999999999999999999999999",
        "null",
        "true",
        "false",
        "\"\"",
        "\"\\u0000\"",
        "\"cpu\"",
        "\"../..\"",
        "[]",
        "{}",
        "[[[]]]",
        "[null]",
        "{\"a\":{\"b\":[]}}",
        "\"\\ud800\"",
        "",
    ];
    match draws.below(6) {
        0 => format!("\"{}\"", "x".repeat(1 << draws.below(22))),
        1 => "[".repeat(1 << draws.below(10)),
        2 => format!(
            "[{}]",
            vec![ODD[draws.below(ODD.len() as u64) as usize]; draws.below(20_000) as usize].join(",")
        ),
        _ => ODD[draws.below(ODD.len() as u64) as usize].to_owned(),
    }
}

/// The fields of an object without their names.
fn listed(object: &Value) -> Value {
    object.as_object().into_iter().flat_map(Map::values).cloned().collect()
}

fn refusal(draws: &mut Draws, answer: &[u8]) -> Vec<u8> {
    let id = serde_json::from_slice::<Value>(answer).expect("the SDK answers in JSON")["id"].clone();
    let kind = ["unsupported", "failed", "out-of-memory", "other", ""][draws.below(5) as usize];
    let message =
        ["", "no", "\u{7}\u{1b}[2J\r\n\t", "✗"][draws.below(4) as usize].repeat(1 << draws.below(16));
    (json!({"id": id, "error": {"kind": kind, "message": message}}).to_string() + "\n").into_bytes()
}

/// Where every part of a value lies, itself left out.
fn pointers(value: &Value, here: String, places: &mut Vec<String>) {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(parts) => {
            parts.iter().map(|(name, part)| (name.replace('~', "~0").replace('/', "~1"), part)).collect()
        }
        // One of a list stands for all of them: a visit has thousands.
        Value::Array(parts) => parts.first().map(|part| ("0".to_owned(), part)).into_iter().collect(),
        _ => Vec::new(),
    };
    for (name, part) in parts {
        let place = format!("{here}/{name}");
        places.push(place.clone());
        pointers(part, place, places);
    }
}

fn send(channel: &mut Channel, bytes: &[u8]) {
    if channel.send(bytes).is_err() {
        leave(0);
    }
}
