//! Outputs that are a copy of an input before every launch, for kernels that work in place.
//!
//! Such a kernel finds its own result in the way: without a fresh copy the second launch computes something else. The
//! copy is made off the clock, so every launch of a sample is timed by itself.

use crate::kernel::{Kernel, Samples, Visit};
use crate::sys::tensor::{Input, Output};
use roofline_protocol::messages::Refusal;
use std::time::Instant;

/// An output and the input that it starts as. Its memory is mapped once more here, as it is in the conductor.
pub(crate) struct Restore {
    pub(crate) from: Input<u8>,
    pub(crate) to: Output<u8>,
}

/// A kernel before whose launches outputs are restored.
pub(crate) struct Restored {
    pub(crate) kernel: Box<dyn Kernel>,
    pub(crate) outputs: Vec<Restore>,
}

impl Restored {
    fn restore(&mut self) {
        for Restore { from, to } in &mut self.outputs {
            to.copy_from_slice(from);
        }
    }
}

impl Kernel for Restored {
    fn launch(&mut self) -> Result<(), Refusal> {
        self.restore();
        self.kernel.repeat(1)
    }

    fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
        let mut samples = Samples::default();
        self.repeat(visit.warmup)?;
        for _ in 0..visit.samples {
            // Without a gap: what reading the clock takes is part of the one or the other.
            let (mut sample, mut end) = (0.0, Instant::now());
            for _ in 0..visit.batch {
                self.restore();
                let restored = Instant::now();
                self.kernel.repeat(1)?;
                samples.settling += (restored - end).as_nanos() as f64;
                end = Instant::now();
                sample += (end - restored).as_nanos() as f64;
            }
            samples.nanoseconds.push(sample);
            self.kernel.settle()?;
            samples.settling += end.elapsed().as_nanos() as f64;
        }
        if visit.samples == 0 && visit.warmup > 0 {
            self.kernel.settle()?;
        }
        Ok(samples)
    }

    fn settle(&mut self) -> Result<(), Refusal> {
        self.kernel.settle()
    }

    fn uses_our_heap(&self) -> bool {
        self.kernel.uses_our_heap()
    }
}
