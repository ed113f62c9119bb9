//! A record: what was seen of one row in one run. All samples are kept; aggregates are recomputed.

use crate::check::Checked;
use crate::judge::Fault;
use crate::operation::Work;
use crate::protocol::{Allocations, OutputMode};
use crate::stats;
use crate::units::{Bytes, Seconds};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Version of the record as JSON, raised when a field changes its meaning.
pub const SCHEMA: u32 = 2;

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
    /// Its place among the rows that its run planned, from 0; probes have none, nor records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// What the run was asked to compare it with: an implementation, a glob, or a provider, whose fastest is meant. Records of
    /// before do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    pub work: Work,
    pub gate: Gate,
    /// Every sample, in the order taken; empty when the row has no time.
    #[serde(with = "by_visit")]
    pub samples: Vec<Sample>,
    /// How the row did beside its neighbours in time; `None` when it was not measured.
    pub rounds: Option<Rounds>,
    pub evidence: Evidence,
    pub provenance: Provenance,
}

impl Record {
    /// The row's id, `CASE@provider/name`.
    pub fn row(&self) -> String {
        format!("{}@{}", self.case, self.implementation)
    }

    /// Whether another tool measured it: nothing about it was judged or corroborated here.
    pub fn is_imported(&self) -> bool {
        self.provenance.imported.is_some()
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
    /// The set of fresh processes that it was taken in, and the visit within it, both from 0.
    pub set: u32,
    pub visit: u32,
    pub batch: u32,
    pub nanoseconds: f64,
}

impl Sample {
    pub fn per_launch(&self) -> f64 {
        self.nanoseconds / f64::from(self.batch.max(1))
    }
}

/// Samples as they stand in JSON: `[set, visit, batch, [nanoseconds, ...]]` for every visit.
pub(crate) mod by_visit {
    use super::Sample;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Visit = (u32, u32, u32, Vec<f64>);

    pub fn serialize<S: Serializer>(samples: &[Sample], serializer: S) -> Result<S::Ok, S::Error> {
        let visit = |sample: &Sample| (sample.set, sample.visit, sample.batch);
        let visits = samples.chunk_by(|a, b| visit(a) == visit(b)).map(|chunk| {
            let (set, number, batch) = visit(&chunk[0]);
            (set, number, batch, chunk.iter().map(|sample| sample.nanoseconds).collect())
        });
        visits.collect::<Vec<Visit>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Sample>, D::Error> {
        let visits = Vec::<Visit>::deserialize(deserializer)?;
        let samples = visits.into_iter().flat_map(|(set, visit, batch, times)| {
            times.into_iter().map(move |nanoseconds| Sample { set, visit, batch, nanoseconds })
        });
        Ok(samples.collect())
    }
}

/// What the rounds found: a row's time beside that of the hub, its neighbour in time.
///
/// A set is one fresh start of all processes. Its value is the median, over pairs of neighbouring
/// visits, of ln(time / hub's time); differences of such values compare any two rows of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rounds {
    /// The implementation that was visited between the others.
    pub hub: String,
    /// Values of the sets, in order; zeros for the hub itself.
    pub to_hub: Vec<f64>,
    /// The limit that was measured beside the row.
    pub limit: Option<Limit>,
    /// What the pilot found, and so how visits were asked for: alike for all sides.
    pub course: Course,
    /// Error probability of the interval at the last look, all earlier looks paid.
    pub alpha: f64,
    /// A relative difference within this counts as none.
    #[serde(default = "usual_delta")]
    pub delta: f64,
    pub ended: Ended,
    /// What the sets before these had found, where the run would have failed by them and so they were taken again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
}

/// Sets that were taken again, by other processes, before a run fails by what they say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Before {
    pub to_hub: Vec<f64>,
    pub alpha: f64,
    /// What they took; records of before do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Seconds>,
}

fn usual_delta() -> f64 {
    crate::verdict::DELTA
}

/// The probe that bounds a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The member of the family that the pilot found fastest.
    pub probe: String,
    pub by: Limiter,
    /// Values of the probe in the row's sets.
    pub to_hub: Vec<f64>,
}

/// What bounds a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limiter {
    Traffic,
    Compute,
}

impl Limiter {
    pub fn name(self) -> &'static str {
        match self {
            Limiter::Traffic => "traffic",
            Limiter::Compute => "compute",
        }
    }

    /// What a probe measures, by its name, and how: `limit/traffic-copy`, `limit/compute-avx2-f32`.
    pub fn of_probe(implementation: &str) -> Option<(Limiter, &str)> {
        let (family, how) = implementation.strip_prefix("limit/")?.split_once('-')?;
        let families = [Limiter::Traffic, Limiter::Compute];
        families.into_iter().find(|limiter| limiter.name() == family).map(|limiter| (limiter, how))
    }
}

/// How the visits of a case are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    pub kind: Kind,
    /// Launches before the first sample of a visit, samples of a visit, launches of a sample.
    pub warmup: u32,
    pub samples: u32,
    pub batch: u32,
    /// Time for the pairs of one row in one set.
    pub block: Seconds,
    /// What reading the clock costs a sample.
    pub timer: Seconds,
}

/// The kind of a pair, by the quicker launch of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Below 2 µs.
    Tiny,
    /// Up to 100 µs.
    Short,
    /// One launch is one visit.
    Long,
    /// Each launch finds its tensors flushed from the caches.
    Cold,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Tiny => "tiny",
            Kind::Short => "short",
            Kind::Long => "long",
            Kind::Cold => "cold",
        }
    }
}

/// Why no further set was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// All that was asked of the row is known.
    Decided,
    /// The last look was taken.
    Looks,
    /// The row's budget was spent.
    Budget,
    /// The run's budget was spent.
    TotalBudget,
    /// Too slow for six sets: a median of a few launches, and no verdict.
    Slow,
    /// The hub failed, so that there was nothing left to compare with.
    HubFailed,
}

impl Ended {
    pub fn name(self) -> &'static str {
        match self {
            Ended::Decided => "decided",
            Ended::Looks => "looks",
            Ended::Budget => "budget",
            Ended::TotalBudget => "total-budget",
            Ended::Slow => "slow",
            Ended::HubFailed => "hub-failed",
        }
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
    /// The command that writes the very tensors of the fault as files; empty where they cannot be had again.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub replay: String,
    /// Whether two launches on the same inputs gave the same bits; `None` when not tried.
    pub deterministic: Option<bool>,
    /// Visits, each with marks in its tensors, and those whose outputs were judged.
    #[serde(default)]
    pub visits: u32,
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
    /// Time of one launch by the conductor's clock, and by the CPU clock of the process where one thread
    /// works: what is claimed for it, and what passes unclaimed in a visit of 2n launches beyond one of n.
    pub wall_per_launch: Option<Seconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_per_launch: Option<Seconds>,
    /// Share of its time that a launch could have claimed too little before these clocks refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<f64>,
    /// How much longer a launch takes when every unit of its work has new values than when they are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_of_content: Option<f64>,
    /// Share of the launches of watched batches that were seen to write the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<f64>,
    /// Threads that the runner said it would use.
    pub threads: u32,
    /// Threads that were seen working.
    pub threads_seen: u32,
    /// CPU time over wall time while the runner worked.
    pub cpu_share: Option<f64>,
    pub peak_memory: Option<Bytes>,
    /// What one launch takes from the heap; `None` where the runner does not count.
    #[serde(default)]
    pub allocations: Option<Allocations>,
    /// Share of the machine's time that the host gave to others while the row was measured.
    #[serde(default)]
    pub steal: Option<f64>,
    /// Share of the machine's time that other programs used while the row was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// How often the runner's threads were taken off their cores while the row was measured.
    #[serde(default)]
    pub switches: Option<u64>,
    pub workspace: Bytes,
    pub output: OutputMode,
    /// What copying a fresh output took, off the clock, as the runner says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<Seconds>,
    /// Time from `prepare` to its answer: compiling, planning, packing.
    pub prepare: Option<Seconds>,
    /// Every check and what it was worth here; none in records that did not list them yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Checked>,
}

/// Where a record comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    pub roofline: String,
    pub runner: String,
    pub runner_version: String,
    /// Fingerprint of the machine; the run holds the whole description.
    pub machine: String,
    /// Seed of all fills, secret until the run ended; as text where it was exported.
    #[serde(deserialize_with = "seed")]
    pub seed: u64,
    pub notes: BTreeMap<String, String>,
    /// Names the mathematics that the row was held to: records with another cannot be compared with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The file that it was read from; `None` for what was measured here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

/// A number, or the same as text.
fn seed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Seed {
        Number(u64),
        Text(String),
    }
    match Seed::deserialize(deserializer)? {
        Seed::Number(seed) => Ok(seed),
        Seed::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

/// Where a record was read from that another tool measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Name of the format.
    pub format: String,
    /// The file or folder, as it was named.
    pub file: String,
}

/// One start of `roofline check` or `roofline run`, or one `roofline import`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub schema: u32,
    pub id: String,
    /// RFC 3339.
    pub started: String,
    /// The command line, for people, and word by word for whoever goes on with it.
    pub command: String,
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Description of the machine as JSON; null where nothing was measured.
    pub machine: serde_json::Value,
    /// A hash of the program that began it: another build may measure otherwise. Empty where nothing was measured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// The commit that the folder of the command was at, by its short name, with a `+` where files differed from it; empty
    /// outside a repository.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub revision: String,
}
