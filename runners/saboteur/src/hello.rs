//! Runners that break the very first answer.

use crate::Saboteur;
use crate::protocol::{leave, sleep_on};
use roofline_runner::protocol::{Question, VERSION};
use roofline_runner::{Broken, Channel, Runner};
use serde_json::json;

/// Answers the first question the way of `name` and then nothing more.
pub(crate) fn converse(name: &str) -> Result<(), Broken> {
    let mut channel = Channel::open()?;
    let Some(message) = channel.receive()? else { return Ok(()) };
    let id = serde_json::from_slice::<Question>(&message.line).map_or(0, |question| question.id);
    let mut hello = Saboteur { device: None }.hello();
    match name {
        "other-version" => hello.protocol = VERSION + 1,
        "no-version" => hello.version = String::new(),
        "bad-name" => hello.offers[0].implementation = "../Saboteur".to_owned(),
        "garbage" => {
            channel.send(b"\xff\xfe\x00 hello\n")?;
            sleep_on();
        }
        "silent" => sleep_on(),
        _ => leave(3),
    }
    let line = json!({"id": id, "ok": hello}).to_string() + "\n";
    channel.send(line.as_bytes())?;
    while channel.receive()?.is_some() {}
    Ok(())
}
