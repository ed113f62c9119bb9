//! Which checks are made, so that a study can show what each of them is for.
//!
//! Every check is on. Only `cargo xtask gate-mutations` turns some off, through the library; no
//! option of the command line does. Sealed inputs, deadlines, memory limits and the form of answers
//! cannot be turned off: without them there is no conversation.

pub use roofline_core::check::Check;

/// Which checks are on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Checks {
    off: &'static [Check],
}

impl Checks {
    /// All but these.
    pub fn without(off: &'static [Check]) -> Checks {
        Checks { off }
    }

    pub fn on(self, check: Check) -> bool {
        !self.off.contains(&check)
    }

    /// Factor on every bound.
    pub fn loosen(self) -> f64 {
        if self.on(Check::Bound) { 1.0 } else { 1e6 }
    }
}
