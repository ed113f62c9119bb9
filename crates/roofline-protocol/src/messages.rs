//! The conversation between conductor and runner: every message, in one file.
//!
//! One JSON object a line. The conductor asks, the runner answers with the question's number. What
//! arrives from a runner is hostile bytes, which the core bounds and checks (`protocol/answer.rs` there).
//! `docs/protocol.md` is the specification for people; a test holds the two together.

use crate::declaration::{Declaration, Purpose};
use crate::dtype::Dtype;
use crate::work::Work;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of this protocol.
pub const VERSION: u32 = 2;

/// Oldest version that the conductor still speaks: the last one. Others are refused.
pub const OLDEST: u32 = VERSION - 1;

/// Longest line either side may send, in bytes, the newline included.
pub const MAX_LINE: usize = 1 << 20;

/// Most samples that one visit may ask for.
pub const MAX_SAMPLES: u32 = 10_000;

/// A numbered question of the conductor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub id: u64,
    #[serde(flatten)]
    pub ask: Ask,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Ask {
    /// Who are you, and what do you offer?
    Hello { protocol: u32 },
    /// Map these tensors and get ready to run this implementation.
    Prepare(Box<Prepare>),
    /// Run the implementation `count` times.
    Launch { count: u32 },
    /// Run `warmup` launches, then `samples` samples of `batch` launches, each timed.
    Visit { warmup: u32, samples: u32, batch: u32 },
    /// Unmap the tensors and forget the case.
    Release,
    /// End.
    Bye,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prepare {
    /// The case's id, for messages; the fields below say the same in parts.
    pub case: String,
    pub operation: String,
    /// Empty for the plain form of an operation.
    pub variant: String,
    /// Id of the precision: `bf16`, `f16+f16`, `w8a16`.
    #[serde(default)]
    pub precision: String,
    pub dtype: Dtype,
    /// What sums are kept in: the name of a type, or of what a unit does.
    pub accumulator: String,
    pub axes: BTreeMap<String, u64>,
    /// Every parameter of the operation.
    #[serde(default)]
    pub params: BTreeMap<String, f64>,
    /// `provider/name`, as offered.
    pub implementation: String,
    /// `cpu`, or the device to compute on: `cuda:0`.
    pub device: String,
    /// Upper limit of threads that may work at a time.
    pub threads: u32,
    /// The cores that the runner is pinned to.
    pub cores: Vec<u32>,
    /// What the reference of a declared operation is asked for; none is the implementation's own work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    /// The work of the case, for probes of its limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    /// Inputs first, then outputs, in the operation's order.
    pub tensors: Vec<Place>,
}

/// What an implementation does with a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Mapped for reading only; may change before any visit.
    Input,
    /// An input that preparation may read and pack: it changes only with a new preparation.
    Constant,
    /// Mapped for reading and writing.
    Output,
}

impl Role {
    pub fn is_input(self) -> bool {
        self != Role::Output
    }
}

/// Where one tensor lies: in a file of `size` bytes, `bytes` of data at `offset`.
///
/// The files travel as descriptors beside the line, one a tensor, in order; a conversation on
/// standard input names them by `path` instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    pub name: String,
    pub role: Role,
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    pub offset: u64,
    pub bytes: u64,
    pub size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Of an output, the input that it is a copy of before every launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_as: Option<String>,
    /// Bytes that a launch reads, or writes, where these are not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walked: Option<u64>,
    /// Where there are several sets of tensors: how many, and how far apart they lie in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets: Option<Sets>,
}

/// Tensors of one shape, one behind another: launch number n of a sample, of its warm-up or of a `launch` works on set
/// n mod `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sets {
    pub count: u64,
    /// Bytes from one set's first element to the next one's.
    pub stride: u64,
}

impl Place {
    /// How many sets there are.
    pub fn count(&self) -> u64 {
        self.sets.map_or(1, |sets| sets.count)
    }

    /// The tensor of one set, alone.
    pub fn of_set(&self, set: u64) -> Place {
        let stride = self.sets.map_or(0, |sets| sets.stride);
        Place { offset: self.offset + set * stride, sets: None, ..self.clone() }
    }
}

/// A runner's answer to `hello`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    pub runner: String,
    /// Version of what is measured, not of the glue: no version, no measurement.
    pub version: String,
    /// Those that are there: `cpu`, `cuda:0`.
    #[serde(default = "cpu")]
    pub devices: Vec<String>,
    pub offers: Vec<Offer>,
    /// Operations of its own, whose references it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Declaration>,
    /// Anything worth keeping with the record: compiler, flags, library build.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
}

/// One implementation of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// `provider/name`.
    pub implementation: String,
    /// `operation` or `operation.variant`.
    pub operation: String,
    /// Ids of precisions: `f32`, `f16+f16`.
    pub dtypes: Vec<String>,
    #[serde(default)]
    pub about: String,
    /// Whether it uses more than one thread when it may.
    #[serde(default)]
    pub parallel: bool,
    /// Kinds of device that it computes on: `cpu`, `cuda`.
    #[serde(default = "cpu")]
    pub devices: Vec<String>,
    /// What it requires of a case, such as `cols % 16 == 0`; empty for nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub requires: String,
    /// Parameters that it takes; of others it has the default alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<String>,
}

impl Offer {
    /// A serial one for the CPU that requires nothing and takes no parameter.
    pub fn new(implementation: &str, operation: &str, dtypes: &[&str]) -> Offer {
        Offer {
            implementation: implementation.to_owned(),
            operation: operation.to_owned(),
            dtypes: dtypes.iter().map(|&id| id.to_owned()).collect(),
            about: String::new(),
            parallel: false,
            devices: cpu(),
            requires: String::new(),
            params: Vec::new(),
        }
    }
}

/// A runner's answer to `prepare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// Threads that will work at a time.
    #[serde(default = "one")]
    pub threads: u32,
    #[serde(default)]
    pub output: OutputMode,
    /// Memory that the implementation holds beside the tensors.
    #[serde(default)]
    pub workspace_bytes: u64,
    /// What was chosen for this case: instruction set, tile, algorithm.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputMode {
    /// The implementation writes into the given memory.
    #[default]
    InPlace,
    /// The library allocates its result, which is copied off the clock.
    Fresh,
}

/// A runner's answer to `visit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Visited {
    /// Duration of each sample, of `batch` launches each.
    pub nanoseconds: Vec<f64>,
    /// What copying a fresh output took beside that, on average over samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_nanoseconds: Option<f64>,
    /// What asking for a launch takes the host, where a device computes and is not waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_nanoseconds: Option<f64>,
    /// The implementation left the rounding or flush-to-zero mode changed.
    #[serde(default)]
    pub float_mode_changed: bool,
}

/// A runner's answer to `launch`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    #[serde(default)]
    pub float_mode_changed: bool,
    /// What one launch took from the heap, for runners that count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocations: Option<Allocations>,
}

/// Takings from the heap, on average over launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Allocations {
    pub count: f64,
    pub bytes: f64,
}

/// What a runner says instead of doing what it was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    pub kind: RefusalKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// This runner does not have it: not a failure.
    Unsupported,
    /// The implementation raised an error.
    Failed,
    /// Memory could not be had.
    OutOfMemory,
}

/// An answer as it stands on the line: exactly one of `ok` and `error`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
}

/// The start of hostile bytes, printable.
pub fn excerpt(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(60)];
    format!("{:?}", String::from_utf8_lossy(start))
}

fn one() -> u32 {
    1
}

/// The one device that every machine has.
pub fn cpu() -> Vec<String> {
    vec!["cpu".to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_flat_objects() {
        let question = Question { id: 7, ask: Ask::Launch { count: 2 } };
        let text = serde_json::to_string(&question).unwrap();
        assert_eq!(text, r#"{"id":7,"ask":"launch","count":2}"#);
        assert_eq!(serde_json::from_str::<Question>(&text).unwrap(), question);
        let bye = serde_json::to_string(&Question { id: 8, ask: Ask::Bye }).unwrap();
        assert_eq!(bye, r#"{"id":8,"ask":"bye"}"#);
    }
}
