//! The checks that a row goes through, by name, and what each was worth for it.
//!
//! The conductor makes them; they stand here because records list them, and because a check that no
//! record can name is one that nobody can ask for.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One check. The comment says what gets through without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The derived bound; off, it is a million times as wide. Low precision, scaled results.
    Bound,
    /// Data flush against unreadable pages. Reads and writes out of bounds.
    Guards,
    /// Canaries around outputs of timed visits. Writes out of bounds while timed.
    Canaries,
    /// Poisoned outputs. Work that is not done at all.
    Poison,
    /// Other contents than the timed one. Kernels right on easy data only.
    Families,
    /// Shapes that the kernel has not seen. Kernels right on special sizes only.
    OtherShapes,
    /// Inputs changed between visits. Caches keyed by address, shape or a few elements.
    ChangedInputs,
    /// Every unit of the work rewritten while a visit runs. Results remembered by their inputs' content.
    Memos,
    /// Outputs of timed visits judged. Kernels that cheat when timed.
    JudgedVisits,
    /// Outputs watched while their inputs change in a batch. Batches in which one launch works.
    WatchedBatch,
    /// Outputs read again later. Late writes.
    LateWrites,
    /// A last judged launch after the timing. Kernels that stop working after n calls.
    AfterTiming,
    /// The projection of large products. A wrong tile that the sample misses.
    Projection,
    /// The conductor's clock and the CPU clock over n and 2n launches. Faked times.
    WallClock,
    /// What a visit leaves unclaimed beside an empty one. Work that is put off to when nobody times it.
    Unclaimed,
    /// What the copy of a fresh output takes. Work that is done in the copying.
    Copies,
    /// What no hardware can do. Faked times, far off.
    Ceiling,
    /// Threads and CPU time. Kernels that take more cores than the case allows.
    Threads,
    /// CPU time after the answer. Pools that spin while others are measured.
    Idle,
    /// Processes left behind.
    Children,
    /// Rounding and flush-to-zero modes.
    FloatMode,
    /// Isolation of the process. Network, other priorities, reaching into other processes.
    Sandbox,
}

impl Check {
    pub const ALL: &[Check] = &[
        Check::Bound,
        Check::Guards,
        Check::Canaries,
        Check::Poison,
        Check::Families,
        Check::OtherShapes,
        Check::ChangedInputs,
        Check::Memos,
        Check::JudgedVisits,
        Check::WatchedBatch,
        Check::LateWrites,
        Check::AfterTiming,
        Check::Projection,
        Check::WallClock,
        Check::Unclaimed,
        Check::Copies,
        Check::Ceiling,
        Check::Threads,
        Check::Idle,
        Check::Children,
        Check::FloatMode,
        Check::Sandbox,
    ];

    /// Its name in records, tables and documents.
    pub fn name(self) -> &'static str {
        match self {
            Check::Bound => "bound",
            Check::Guards => "guards",
            Check::Canaries => "canaries",
            Check::Poison => "poison",
            Check::Families => "families",
            Check::OtherShapes => "other-shapes",
            Check::ChangedInputs => "changed-inputs",
            Check::Memos => "memos",
            Check::JudgedVisits => "judged-visits",
            Check::WatchedBatch => "watched-batch",
            Check::LateWrites => "late-writes",
            Check::AfterTiming => "after-timing",
            Check::Projection => "projection",
            Check::WallClock => "wall-clock",
            Check::Unclaimed => "unclaimed",
            Check::Copies => "copies",
            Check::Ceiling => "ceiling",
            Check::Threads => "threads",
            Check::Idle => "idle",
            Check::Children => "children",
            Check::FloatMode => "float-mode",
            Check::Sandbox => "sandbox",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a check was worth for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It was made in full, and the row came through.
    Held,
    /// The row has nothing that it could be made on.
    NotApplicable,
    /// It was made in part, or not at all, for a reason outside the row.
    Weaker,
}

impl Standing {
    pub fn name(self) -> &'static str {
        match self {
            Standing::Held => "held",
            Standing::NotApplicable => "not applicable",
            Standing::Weaker => "weaker",
        }
    }
}

/// A check of a row, what it was worth, and why if it was not made in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    pub check: Check,
    pub standing: Standing,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_records() {
        for check in Check::ALL {
            assert_eq!(serde_json::to_string(check).unwrap(), format!("\"{check}\""));
        }
    }
}
