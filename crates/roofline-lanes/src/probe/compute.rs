//! The arithmetic of a case and nothing else: as many operations of the same kinds on one unit of
//! the processor, from registers.
//!
//! A unit has a loop for each kind of operation. A loop runs whole blocks: one instruction on each
//! of its accumulators, which are as many as it takes to keep the pipelines full. The kinds are run
//! one after the other, as they share the ports of a core. The accumulators are named in assembly,
//! because a probe whose accumulators went through memory would measure that.

use crate::lanes::Lanes;
use crate::math::exp;
use crate::{Cpu, Isa, Vectorize};
use std::hint::black_box;

/// Operations by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Fused multiply-adds, or products summed into a wider accumulator.
    pub multiply_adds: u64,
    /// Additions, multiplications, comparisons that stand alone.
    pub simple: u64,
    /// Exponentials, divisions, roots.
    pub special: u64,
}

/// A unit of the processor.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub(super) multiply_add: Loop,
    pub(super) simple: Loop,
    pub(super) special: Loop,
    /// Blocks that are worth the hearing of another thread.
    pub(super) grain: u64,
}

/// Parts that each thread is dealt.
const DEALT: u64 = 4;

/// A loop that keeps a unit busy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// Operations of a block.
    pub operations: u64,
    /// Runs so many blocks.
    pub run: fn(u64),
}

impl Unit {
    /// Executes at least `amount` on the threads of `cpu`, rounded up to a block of each kind
    /// and part. To be called where the unit is there only.
    ///
    /// ```
    /// use roofline_lanes::{Cpu, probe::{Amount, Entry, PROBES}};
    ///
    /// let amount = Amount { multiply_adds: 1 << 20, ..Amount::default() };
    /// for probe in PROBES.iter().filter(|probe| (probe.available)()) {
    ///     if let Entry::Compute(unit) = probe.entry {
    ///         unit.compute(&Cpu::new(2), amount);
    ///     }
    /// }
    /// ```
    pub fn compute(&self, cpu: &Cpu, amount: Amount) {
        let Amount { multiply_adds, simple, special } = amount;
        let kinds = [(self.multiply_add, multiply_adds), (self.simple, simple), (self.special, special)];
        let kinds = kinds.map(|(kind, count)| (kind, count.div_ceil(kind.operations)));
        let blocks: u64 = kinds.iter().map(|(_, blocks)| *blocks).sum();
        let (threads, worth) = (cpu.pool.threads() as u64, blocks / self.grain);
        // Several parts a thread where that is cheap: one that others hold up leaves more to the rest.
        let parts = if worth >= DEALT * threads { DEALT * threads } else { worth.min(threads).max(1) };
        let part = || {
            for (kind, blocks) in kinds {
                if blocks > 0 {
                    (kind.run)(blocks.div_ceil(parts));
                }
            }
        };
        cpu.pool.run(parts as usize, |_| part());
    }
}

/// Vectors of exponentials in a block: enough that one hides the latency of another.
const EXPONENTIALS: usize = 8;

/// Exponentials by this crate's own function, at a level.
pub(super) const fn exponentials(isa: Isa) -> Loop {
    match isa {
        Isa::Portable => {
            Loop { operations: 8 * EXPONENTIALS as u64, run: |n| run_exponentials(Isa::Portable, n) }
        }
        Isa::Avx2 => Loop { operations: 8 * EXPONENTIALS as u64, run: |n| run_exponentials(Isa::Avx2, n) },
        Isa::Avx512 => {
            Loop { operations: 16 * EXPONENTIALS as u64, run: |n| run_exponentials(Isa::Avx512, n) }
        }
    }
}

fn run_exponentials(isa: Isa, blocks: u64) {
    isa.run(Exponentials { blocks });
}

struct Exponentials {
    blocks: u64,
}

impl Vectorize for Exponentials {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut arguments = [lanes.splat(-4.5); EXPONENTIALS];
        for (i, argument) in arguments.iter_mut().enumerate() {
            *argument = lanes.splat(i as f32 - 4.5);
        }
        for _ in 0..self.blocks {
            // Through memory, once in and once out for each: two moves beside some fifteen
            // instructions, and blocks do not wait for one another.
            let mut values = black_box(arguments);
            for value in &mut values {
                *value = exp(lanes, *value);
            }
            black_box(values);
        }
    }
}

/// A special operation in f64, in multiply-adds: about what the shortest known exponential takes.
pub(super) const F64_SPECIAL: u64 = 12;
