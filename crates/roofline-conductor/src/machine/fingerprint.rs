//! A short name for a machine, the same as long as its limits are the same.
//!
//! In it: what fixes how fast the machine can be. Processor (name, vendor, family, model, stepping),
//! microcode, sockets, cores and threads online, SMT, memory nodes, caches, instruction sets and the
//! tile unit, the hypervisor, and memory to the next coarse step.
//!
//! Not in it: what changes from hour to hour (load, frequency, governor, turbo, page settings,
//! clocks, quota), and what changes with an update and leaves the machine the same one (kernel,
//! compiler). The description holds all of these, so a reader of records can still tell them apart.

use super::{Cache, Machine, Virtualization};
use roofline_core::units::Bytes;
use std::fmt::{Display, Write};

/// Goes up when the list of facts changes, because all names change with it.
const VERSION: u32 = 1;

impl Machine {
    /// Twelve hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        let hash = fnv1a(self.stable_facts().as_bytes());
        format!("{:012x}", (hash >> 48) ^ (hash & 0xffff_ffff_ffff))
    }

    fn stable_facts(&self) -> String {
        let processor = &self.processor;
        let hypervisor = match &self.system.virtualization {
            Some(Virtualization::Guest(name)) => Some(name.as_deref().unwrap_or("unnamed")),
            Some(Virtualization::Bare) => Some("none"),
            None => None,
        };
        let mut facts = format!("version={VERSION}\n");
        // Facts hold no line breaks, so a line cannot pretend to be two. Writing to a string cannot fail.
        let mut add = |name: &str, fact: Option<&dyn Display>| {
            let _ = match fact {
                Some(fact) => writeln!(facts, "{name}={fact}"),
                None => writeln!(facts, "{name}"),
            };
        };
        add("name", known(&processor.name));
        add("vendor", known(&processor.vendor));
        add("family", known(&processor.family));
        add("model", known(&processor.model));
        add("stepping", known(&processor.stepping));
        add("microcode", known(&processor.microcode));
        add("sockets", known(&processor.sockets));
        add("cores", known(&processor.cores));
        add("threads", known(&processor.threads));
        add("smt", known(&processor.smt));
        add("nodes", known(&processor.nodes));
        for Cache { level, kind, size: Bytes(size), shared_by, count } in &processor.caches {
            add("cache", Some(&format!("{level}{kind} {size} {shared_by} {count}")));
        }
        add("instructions", known(&processor.instructions.sets.as_ref().map(|sets| sets.join(" "))));
        add("tiles", known(&processor.instructions.tiles));
        add("hypervisor", known(&hypervisor));
        add("memory", known(&self.memory.total.map(coarse_gibibytes)));
        facts
    }
}

fn known<T: Display>(fact: &Option<T>) -> Option<&dyn Display> {
    fact.as_ref().map(|fact| fact as &dyn Display)
}

/// Memory in GiB, rounded up to a step of 1/32 of the next power of two (at least 1 GiB).
///
/// Kernel and firmware keep a little, and not always the same; installed sizes lie on these steps.
fn coarse_gibibytes(memory: Bytes) -> u64 {
    let gibibytes = memory.0.div_ceil(1 << 30);
    let step = (gibibytes.next_power_of_two() / 32).max(1);
    gibibytes.div_ceil(step) * step
}

/// 64-bit FNV-1a: names need no secrecy, only to stay the same in every build.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn memory_that_the_kernel_keeps_does_not_show() {
        let gibibytes = |gibibytes: f64| coarse_gibibytes(Bytes((gibibytes * (1_u64 << 30) as f64) as u64));
        assert_eq!(gibibytes(23.54), 24);
        assert_eq!(gibibytes(23.40), 24);
        assert_eq!(gibibytes(503.6), 512);
        assert_eq!(gibibytes(503.1), 512);
        assert_eq!(gibibytes(0.4), 1);
        assert_eq!(coarse_gibibytes(Bytes(u64::MAX)), 1 << 34);
    }
}
