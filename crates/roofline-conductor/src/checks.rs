//! The checks of the gate, by name, so that a study can show what each of them is for.
//!
//! Every check is on. Only `cargo xtask gate-mutations` turns one off, through the library; no
//! option of the command line does. Sealed inputs, deadlines, memory limits and the form of answers
//! cannot be turned off: without them there is no conversation.

/// One check. The comment says what gets through without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Inputs changed between visits. Caches keyed by content.
    ChangedInputs,
    /// Outputs of timed visits judged. Kernels that cheat when timed.
    JudgedVisits,
    /// Outputs watched during a batch. Batches in which one launch works.
    WatchedBatch,
    /// Outputs read again later. Late writes.
    LateWrites,
    /// A last judged launch after the timing. Kernels that stop working after n calls.
    AfterTiming,
    /// The projection of large products. A wrong tile that the sample misses.
    Projection,
    /// The conductor's clock over n and 2n launches. Faked times.
    WallClock,
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
        Check::JudgedVisits,
        Check::WatchedBatch,
        Check::LateWrites,
        Check::AfterTiming,
        Check::Projection,
        Check::WallClock,
        Check::Ceiling,
        Check::Threads,
        Check::Idle,
        Check::Children,
        Check::FloatMode,
    ];
}

/// Which checks are on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Checks {
    off: Option<Check>,
}

impl Checks {
    /// All but one.
    pub fn without(check: Check) -> Checks {
        Checks { off: Some(check) }
    }

    pub fn on(self, check: Check) -> bool {
        self.off != Some(check)
    }

    /// Factor on every bound.
    pub fn loosen(self) -> f64 {
        if self.on(Check::Bound) { 1.0 } else { 1e6 }
    }
}
