//! A record: what was seen of one row in one run. All samples are kept; aggregates are recomputed.

use crate::judge::Fault;
use crate::ops::Work;
use crate::protocol::OutputMode;
use crate::stats;
use crate::units::{Bytes, Seconds};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Version of the record as JSON, raised when a field changes its meaning.
pub const SCHEMA: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub schema: u32,
    /// Identifies the record; sorts by time.
    pub id: String,
    /// Identifies the run that it belongs to.
    pub run: String,
    /// When the row was finished, RFC 3339.
    pub at: String,
    /// The case's id.
    pub case: String,
    /// `provider/name`.
    pub implementation: String,
    pub status: Status,
    /// One sentence that says why the status is not `ok`; empty otherwise.
    pub why: String,
    /// The command that shows the same again.
    pub reproduce: String,
    pub work: Work,
    pub gate: Gate,
    /// Every sample, in the order taken; empty when the row has no time.
    pub samples: Vec<Sample>,
    pub evidence: Evidence,
    pub provenance: Provenance,
}

impl Record {
    /// The row's id, `CASE@provider/name`.
    pub fn row(&self) -> String {
        format!("{}@{}", self.case, self.implementation)
    }

    /// Median time of one launch over all samples.
    pub fn median(&self) -> Option<Seconds> {
        let times: Vec<f64> = self.samples.iter().map(Sample::per_launch).collect();
        stats::median(&times).map(Seconds::from_nanoseconds)
    }
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Ok,
    /// An output is outside its bound.
    Wrong,
    /// Times or resources cannot be believed.
    Suspect,
    /// The runner says no.
    Unsupported,
    /// The conductor says no.
    Refused,
    /// Ended by a signal or an exit, or raised an error.
    Crashed,
    Timeout,
    OutOfMemory,
    /// Broke the protocol.
    Protocol,
}

impl Status {
    pub const ALL: &[Status] = &[
        Status::Ok,
        Status::Wrong,
        Status::Suspect,
        Status::Unsupported,
        Status::Refused,
        Status::Crashed,
        Status::Timeout,
        Status::OutOfMemory,
        Status::Protocol,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Wrong => "wrong",
            Status::Suspect => "suspect",
            Status::Unsupported => "unsupported",
            Status::Refused => "refused",
            Status::Crashed => "crashed",
            Status::Timeout => "timeout",
            Status::OutOfMemory => "out-of-memory",
            Status::Protocol => "protocol",
        }
    }

    /// Whether the row failed, as opposed to passing or not applying.
    pub fn is_failure(self) -> bool {
        !matches!(self, Status::Ok | Status::Unsupported | Status::Refused)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One timed sample of `batch` launches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The visit that it was taken in, from 0.
    pub visit: u32,
    pub batch: u32,
    pub nanoseconds: f64,
}

impl Sample {
    pub fn per_launch(&self) -> f64 {
        self.nanoseconds / f64::from(self.batch.max(1))
    }
}

/// What the gate saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Launches whose outputs were judged.
    pub launches: u32,
    /// Output elements compared with their reference.
    pub checked: u64,
    /// Those outside their bound.
    pub failed: u64,
    /// Largest score among those that passed: the share of the soft bound that was used.
    pub score: f64,
    /// The worst element outside its bound.
    pub fault: Option<Fault>,
    /// Where the fault was seen: the instance, the fill, the check.
    pub seen_in: String,
    /// Whether two launches on the same inputs gave the same bits; `None` when not tried.
    pub deterministic: Option<bool>,
    /// Visits in the timed part whose outputs were judged.
    pub judged_visits: u32,
}

/// How far a time can be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// The runner's own clock, nothing beside it.
    #[default]
    Claimed,
    /// The conductor's clock over n and 2n launches agrees.
    Corroborated,
}

/// What corroborates the times, and what the row used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub grade: Grade,
    /// Time of one launch by the conductor's clock: (wall of 2n - wall of n) / n.
    pub wall_per_launch: Option<Seconds>,
    /// Threads that the runner said it would use.
    pub threads: u32,
    /// Threads that were seen working.
    pub threads_seen: u32,
    /// CPU time over wall time while the runner worked.
    pub cpu_share: Option<f64>,
    pub peak_memory: Option<Bytes>,
    pub workspace: Bytes,
    pub output: OutputMode,
    /// Time from `prepare` to its answer: compiling, planning, packing.
    pub prepare: Option<Seconds>,
}

/// Where a record comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    pub roofline: String,
    pub runner: String,
    pub runner_version: String,
    /// Fingerprint of the machine; the run holds the whole description.
    pub machine: String,
    /// Seed of all fills, secret until the run ended.
    pub seed: u64,
    pub notes: BTreeMap<String, String>,
}

/// One start of `roofline check` or `roofline run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub schema: u32,
    pub id: String,
    /// RFC 3339.
    pub started: String,
    /// The command line, for people.
    pub command: String,
    /// Description of the machine as JSON.
    pub machine: serde_json::Value,
}
