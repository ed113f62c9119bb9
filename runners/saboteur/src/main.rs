//! A runner of implementations that cheat, break and lie: the tests of the gate.
//!
//! `saboteur` is a runner like any other. `saboteur --table` prints what it offers and the status
//! that each row must get. `saboteur --hello NAME` is a runner that breaks the first answer, `saboteur --fuzz
//! SEED` one whose answers are spoilt by lot, `saboteur --on cuda:0` the same rows on a stand-in's memory. Beside the table, every
//! mutant of the core is offered (`mutant.rs`).

mod crashed;
mod deceit;
mod escapes;
mod everyday;
mod fickle;
mod fuzz;
mod hello;
mod honest;
mod honest_rows;
mod hosts;
mod knowing;
mod mutant;
mod needs;
mod product;
mod protocol;
mod resources;
mod suspect;
mod table;
mod wrong;

use crate::table::{HELLOS, ROWS, Row, Way};
use roofline_core::case::Case;
use roofline_runner::protocol::{Ask, Question, VERSION, cpu};
use roofline_runner::{
    Broken, Channel, Hello, Job, Message, Offer, Ready, Refusal, Runner, Session, unsupported,
};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let end = match arguments.as_slice() {
        [] => converse(Saboteur { device: None }),
        ["--on", device] => converse(Saboteur { device: Some((*device).to_owned()) }),
        ["--table"] => {
            let _ = writeln!(std::io::stdout(), "{:#}", table::as_json());
            Ok(())
        }
        ["--hello", name] if HELLOS.iter().any(|(known, ..)| known == name) => hello::converse(name),
        ["--fuzz", seed] if seed.parse::<u64>().is_ok() => fuzz::converse(seed.parse().unwrap_or_default()),
        _ => {
            let names: Vec<&str> = HELLOS.iter().map(|(name, ..)| *name).collect();
            let usage =
                format!("saboteur [--on DEVICE | --table | --hello {} | --fuzz SEED]", names.join("|"));
            let _ = writeln!(std::io::stderr(), "usage: {usage}");
            return ExitCode::from(2);
        }
    };
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(broken) => {
            let _ = writeln!(std::io::stderr(), "error: {broken}");
            ExitCode::from(2)
        }
    }
}

/// The SDK's conversation, with answers that pass through the prepared row's hands.
fn converse(saboteur: Saboteur) -> Result<(), Broken> {
    let mut channel = Channel::open()?;
    let mut session = Session::new(saboteur);
    let mut row = None;
    while let Some(message) = channel.receive()? {
        let question = parse(&message);
        let answered = session.answer(message)?;
        if let Some(Ask::Prepare(request)) = question.as_ref().map(|question| &question.ask) {
            row = find(&request.implementation);
        }
        let speech = match (&question, row.map(|row: &Row| row.way)) {
            (Some(question), Some(Way::Speech(speech)))
                if matches!(question.ask, Ask::Launch { .. } | Ask::Visit { .. }) =>
            {
                Some((question, speech))
            }
            _ => None,
        };
        match speech {
            Some((question, speech)) => channel = speech(channel, question, answered.line),
            None => channel.send(&answered.line)?,
        }
        if answered.last {
            break;
        }
    }
    Ok(())
}

fn parse(message: &Message) -> Option<Question> {
    serde_json::from_slice(&message.line).ok()
}

fn find(implementation: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.implementation() == implementation)
}

struct Saboteur {
    /// The device that it claims to compute on: the stand-in, whose memory is the host's.
    device: Option<String>,
}

impl Runner for Saboteur {
    fn hello(&self) -> Hello {
        Hello {
            protocol: VERSION,
            runner: "saboteur".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            devices: self.device.clone().map_or_else(cpu, |device| vec![device]),
            offers: ROWS
                .iter()
                .flat_map(offers)
                .chain(mutant::offers())
                .map(|offer| self.placed(offer))
                .collect(),
            operations: Vec::new(),
            notes: BTreeMap::new(),
        }
    }

    fn prepare(&mut self, mut job: Job) -> Result<Ready, Refusal> {
        if let Some(ready) = mutant::prepare(&mut job) {
            return ready;
        }
        let row = find(&job.implementation);
        let row = row.ok_or_else(|| unsupported(format!("no `{}`", job.implementation)))?;
        match row.way {
            Way::Kernel(prepare) => prepare(&mut job),
            Way::Speech(_) => honest_rows::honest(&mut job),
        }
    }
}

impl Saboteur {
    /// An offer for the device that this process is on.
    fn placed(&self, offer: Offer) -> Offer {
        let kind = self.device.as_ref().and_then(|device| device.split(':').next());
        Offer { devices: kind.map_or_else(cpu, |kind| vec![kind.to_owned()]), ..offer }
    }
}

/// One offer for each operation of the row's cases.
fn offers(row: &Row) -> Vec<Offer> {
    let mut offers: Vec<Offer> = Vec::new();
    for case in row.cases {
        let case: Case = case.parse().expect("the table's cases are cases");
        let operation = case.form();
        if offers.iter().all(|offer| offer.operation != operation) {
            offers.push(Offer {
                about: row.about.to_owned(),
                parallel: case.threads > 1 || row.cases.iter().any(|case| case.contains("/threads=")),
                requires: row.requires.to_owned(),
                ..Offer::new(&row.implementation(), &operation, &[case.precision.id])
            });
        }
    }
    offers
}
