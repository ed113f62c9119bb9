//! Answers that break the protocol. The kernels behind them are honest; each function sends what it
//! likes in place of the honest answer to a launch or a visit.

use roofline_runner::Channel;
use roofline_runner::protocol::{Ask, Question};
use serde_json::Value;
use std::thread;
use std::time::Duration;

/// protocol: the conversation ends inside a line, the process lives on.
pub(crate) fn half_a_line(mut channel: Channel, _: &Question, answer: Vec<u8>) -> Channel {
    send(&mut channel, &answer[..answer.len() / 2]);
    drop(channel);
    sleep_on()
}

/// protocol: the process goes inside a line.
pub(crate) fn half_a_line_and_exits(mut channel: Channel, _: &Question, answer: Vec<u8>) -> Channel {
    send(&mut channel, &answer[..answer.len() / 2]);
    leave(0)
}

/// protocol: whole, but longer than a line may be.
pub(crate) fn huge_line(channel: Channel, question: &Question, _: Vec<u8>) -> Channel {
    let text = format!(
        r#"{{"id":{},"error":{{"kind":"failed","message":"{}"}}}}"#,
        question.id,
        "x".repeat(2 << 20)
    );
    send_line(channel, text.as_bytes())
}

/// protocol: memory must not grow with it.
pub(crate) fn endless_line(mut channel: Channel, _: &Question, _: Vec<u8>) -> Channel {
    loop {
        send(&mut channel, &[b' '; 1 << 16]);
    }
}

/// protocol.
pub(crate) fn unnumbered(channel: Channel, _: &Question, answer: Vec<u8>) -> Channel {
    change(channel, &answer, |answer| {
        answer.as_object_mut().expect("an answer is an object").remove("id");
    })
}

/// protocol.
pub(crate) fn wrong_number(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    let id = question.id + 1;
    change(channel, &answer, |answer| answer["id"] = id.into())
}

/// protocol.
pub(crate) fn invalid_json(channel: Channel, question: &Question, _: Vec<u8>) -> Channel {
    send_line(channel, format!(r#"{{"id":{},"ok":{{"#, question.id).as_bytes())
}

/// C2 10, protocol: the second answer is found when the next question is asked, or before.
pub(crate) fn two_answers(mut channel: Channel, _: &Question, answer: Vec<u8>) -> Channel {
    send(&mut channel, &answer.repeat(2));
    channel
}

/// protocol.
pub(crate) fn neither(channel: Channel, question: &Question, _: Vec<u8>) -> Channel {
    send_line(channel, format!(r#"{{"id":{}}}"#, question.id).as_bytes())
}

/// protocol.
pub(crate) fn wrong_sample_count(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    times(channel, question, &answer, |times| [times, ",1000.0"].concat())
}

/// protocol.
pub(crate) fn negative_time(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    times(channel, question, &answer, |times| each(times, |time| format!("-{time}")))
}

/// protocol: not even JSON.
pub(crate) fn nan_time(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    times(channel, question, &answer, |times| each(times, |_| "NaN".to_owned()))
}

/// protocol: JSON, but no number of this machine.
pub(crate) fn infinite_time(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    times(channel, question, &answer, |times| each(times, |_| "1e999".to_owned()))
}

/// protocol: a number of this machine, and longer than the world is old.
pub(crate) fn claims_forever(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    times(channel, question, &answer, |times| each(times, |_| "1e308".to_owned()))
}

/// protocol: thirty digits.
pub(crate) fn claims_thirty_digits(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    times(channel, question, &answer, |times| each(times, |_| "9".repeat(30)))
}

/// protocol: no time at all.
pub(crate) fn claims_nothing(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    times(channel, question, &answer, |times| each(times, |_| "0".to_owned()))
}

/// protocol: the answer's fields in order, without their names.
pub(crate) fn list_for_answer(channel: Channel, question: &Question, _: Vec<u8>) -> Channel {
    send_line(channel, format!("[{},{{}}]", question.id).as_bytes())
}

/// protocol: the same inside the answer.
pub(crate) fn list_for_result(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    match question.ask {
        Ask::Visit { .. } => change(channel, &answer, |answer| {
            let times = answer["ok"]["nanoseconds"].take();
            answer["ok"] = Value::Array(vec![times, Value::Null, false.into()]);
        }),
        _ => change(channel, &answer, |answer| answer["ok"] = Value::Array(vec![false.into(), Value::Null])),
    }
}

/// protocol.
pub(crate) fn text_for_times(channel: Channel, question: &Question, answer: Vec<u8>) -> Channel {
    times(channel, question, &answer, |times| each(times, |time| format!("\"{time}\"")))
}

/// protocol.
pub(crate) fn binary_garbage(channel: Channel, _: &Question, _: Vec<u8>) -> Channel {
    let bytes: Vec<u8> = (0..=255).filter(|byte| *byte != b'\n').collect();
    send_line(channel, &bytes)
}

/// timeout: the work is done, and nobody hears of it.
pub(crate) fn never_answers(_channel: Channel, _: &Question, _: Vec<u8>) -> Channel {
    sleep_on()
}

/// C2 10, crashed: a good answer is no excuse.
pub(crate) fn answers_and_exits(mut channel: Channel, _: &Question, answer: Vec<u8>) -> Channel {
    send(&mut channel, &answer);
    leave(0)
}

/// Sleeps until it is killed.
pub(crate) fn sleep_on() -> ! {
    loop {
        thread::sleep(Duration::from_secs(60));
    }
}

/// Ends the process, and with it whatever it was about.
pub(crate) fn leave(code: i32) -> ! {
    std::process::exit(code)
}

/// A conductor that has left must not keep a saboteur alive.
fn send(channel: &mut Channel, bytes: &[u8]) {
    if channel.send(bytes).is_err() {
        leave(0);
    }
}

fn send_line(mut channel: Channel, line: &[u8]) -> Channel {
    send(&mut channel, &[line, b"\n"].concat());
    channel
}

fn change(channel: Channel, answer: &[u8], change: impl FnOnce(&mut Value)) -> Channel {
    let mut value = serde_json::from_slice(answer).expect("the SDK answers in JSON");
    change(&mut value);
    send_line(channel, value.to_string().as_bytes())
}

/// Changes the list of times as text; answers to launches stay as they are.
fn times(
    mut channel: Channel,
    question: &Question,
    answer: &[u8],
    change: impl FnOnce(&str) -> String,
) -> Channel {
    let text = String::from_utf8_lossy(answer);
    let (before, rest) = text.split_once('[').unwrap_or((&text, ""));
    match (&question.ask, rest.split_once(']')) {
        (Ask::Visit { .. }, Some((times, after))) => {
            send(&mut channel, format!("{before}[{}]{after}", change(times)).as_bytes());
        }
        _ => send(&mut channel, answer),
    }
    channel
}

fn each(times: &str, change: impl Fn(&str) -> String) -> String {
    times.split(',').map(change).collect::<Vec<_>>().join(",")
}
