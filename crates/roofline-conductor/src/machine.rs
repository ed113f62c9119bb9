//! The machine that measures: its identity, its fingerprint, and what on it disturbs measuring.
//!
//! Facts come from `/proc`, `/sys`, CPUID and the clock. What the system does not tell, or tells in
//! a form that makes no sense, is `None` and prints as `not visible`: never an error, never a guess.
//! Everything that reads files takes the root of the tree, so that tests bring their own machines.

mod compiler;
mod display;
mod fingerprint;
mod memory;
mod processor;
pub mod roofs;
mod source;
mod sys;
mod system;
mod warnings;

#[cfg(test)]
mod tests;

pub use compiler::Compiler;
pub use memory::Memory;
pub use processor::{Cache, CacheKind, Instructions, Processor, Tiles};
pub use system::{Frequency, System, Virtualization};
pub use warnings::Warning;

use roofline_core::units::Seconds;
use serde::{Deserialize, Serialize};
use source::Source;

/// What is known of a machine at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub processor: Processor,
    pub frequency: Frequency,
    pub memory: Memory,
    pub system: System,
    /// What compiled this program and the kernels inside it.
    pub compiler: Compiler,
}

impl Machine {
    /// Reads the machine this program runs on.
    pub fn read() -> Machine {
        Machine::from_source(&Source::new("/"), &Answers::ask())
    }

    fn from_source(source: &Source, answers: &Answers) -> Machine {
        Machine {
            processor: Processor::read(source, answers),
            frequency: Frequency::read(source),
            memory: Memory::read(source, answers),
            system: System::read(source, answers),
            compiler: Compiler::of_this_program(),
        }
    }
}

/// Threads of this machine, more than which nobody can keep busy.
pub fn threads_online() -> Option<usize> {
    processor::online(&Source::new("/")).map(|online| online.len())
}

/// What the processor and the kernel answer directly, beside their files.
#[derive(Clone, Debug, Default)]
struct Answers {
    /// Vendor text of the hypervisor, from CPUID.
    hypervisor: Option<String>,
    /// Whether CPUID offers the tile unit at all.
    tiles: Option<bool>,
    /// Register states that the kernel has switched on (XCR0).
    enabled_states: Option<u64>,
    /// Register states that a process may ask for.
    permitted_states: Option<u64>,
    page_size: Option<u64>,
    clock_reading: Option<Seconds>,
}

impl Answers {
    fn ask() -> Answers {
        Answers {
            hypervisor: sys::hypervisor_vendor(),
            tiles: sys::has_tiles(),
            enabled_states: sys::enabled_states(),
            permitted_states: sys::permitted_states(),
            page_size: Some(rustix::param::page_size() as u64),
            clock_reading: system::time_of_a_clock_reading(),
        }
    }
}
