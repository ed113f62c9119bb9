//! What ends a row, and what ends a run.

use crate::instance::Placement;
use roofline_core::fill::Fill;
use roofline_core::judge::Fault;
use roofline_core::record::Status;
use std::io;

/// A row that did not come through: its status, one sentence, and what the judge saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub status: Status,
    pub why: String,
    pub fault: Option<Box<Fault>>,
    /// The instance, fill and check in which it was seen.
    pub seen_in: String,
    /// The instance of the gate that it was seen on.
    pub seen_on: Option<Box<SeenOn>>,
}

/// An instance of the gate: what it takes to lay out the very bytes again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenOn {
    /// May be one that only the gate has drawn.
    pub case: String,
    pub placement: Placement,
    pub fill: Fill,
    /// Of the fill.
    pub seed: u64,
}

impl Failure {
    pub fn new(status: Status, why: impl Into<String>) -> Failure {
        Failure { status, why: why.into(), fault: None, seen_in: String::new(), seen_on: None }
    }

    /// The same failure with the place where it was seen, unless it has one.
    pub fn seen_in(mut self, place: &str) -> Failure {
        if self.seen_in.is_empty() {
            self.seen_in = place.to_owned();
        }
        self
    }
}

/// Why work on a row stopped: the row's own fault, or a reason to stop altogether.
#[derive(Debug)]
pub enum Stop {
    Row(Failure),
    /// The user asked.
    Interrupted,
    /// The conductor itself cannot go on.
    Own(io::Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Row(failure)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Own(error)
    }
}
