//! What whoever begins a run asks of it, whichever command line that was read from.
//!
//! ```text
//! arguments ─► Ask, Lineup ─► plans ─► Request ─► Outcome ─► Ask::judge ─► report ─► Ask::end
//! ```

use crate::{Lineup, half_of_memory, secret_seed};
use roofline_conductor::isolation::Sandbox;
use roofline_conductor::machine::Machine;
use roofline_conductor::session::Limits;
use roofline_conductor::stage::Options;
use roofline_core::decision::FailOn;
use roofline_core::policy::Policy;
use roofline_core::target::Target;
use std::path::Path;
use std::time::Duration;

/// How rows are measured, and what a run fails on beside rows that fail themselves.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Time for one row; `None` measures nothing.
    pub budget: Option<Duration>,
    pub total_budget: Option<Duration>,
    /// Shorter blocks, as many sets.
    pub quick: bool,
    /// A difference that counts as none, as a share.
    pub delta: f64,
    /// The difference that is to show, as a share; instead of the budget.
    pub detect: Option<f64>,
    pub fail_on: Option<FailOn>,
    /// The rules of the repository, where the run fails on them.
    pub policy: Option<Policy>,
    /// What the rows are to reach.
    pub targets: Vec<Target>,
    /// How long one launch may take.
    pub timeout: Duration,
    /// Limit of memory; half of the machine's by default.
    pub memory: Option<u64>,
    /// How long to wait for another run to end; as long as it takes by default.
    pub wait: Option<Duration>,
    /// A secret one by default.
    pub seed: Option<u64>,
    pub sandbox: Sandbox,
    pub require_held: bool,
}

impl Ask {
    /// What runners are held to.
    pub fn limits(&self, machine: &Machine) -> Limits {
        Limits { patience: self.timeout, memory: self.memory.unwrap_or_else(|| half_of_memory(machine)) }
    }

    /// Rows by which the run would fail are measured again before it does: by a policy, all that it may speak of.
    pub fn measured_again(&self) -> Option<FailOn> {
        self.policy.as_ref().map(Policy::least).or(self.fail_on)
    }

    /// The same to the conductor, with who takes part.
    pub(crate) fn options(&self, program: &Path, lineup: &Lineup, machine: &Machine) -> Options {
        let seed = self.seed.unwrap_or_else(secret_seed);
        Options {
            budget: self.budget,
            total_budget: self.total_budget,
            quick: self.quick,
            delta: self.detect.unwrap_or(self.delta),
            detect: self.detect,
            fail_on: self.measured_again(),
            sandbox: self.sandbox,
            require_held: self.require_held,
            ..Options::new(program.to_owned(), lineup.specs.clone(), self.limits(machine), seed)
        }
    }
}
