//! The only clock of a sample.

use crate::kernel::{Kernel, Samples, Visit};
use roofline_protocol::messages::Refusal;
use std::time::Instant;

/// `warmup` untimed launches, then every sample timed, and apart from it what settling took.
pub(crate) fn samples<K: Kernel + ?Sized>(visit: &Visit, kernel: &mut K) -> Result<Samples, Refusal> {
    let mut samples = Samples { nanoseconds: Vec::with_capacity(visit.samples as usize), settling: 0.0 };
    if visit.warmup > 0 {
        kernel.repeat(visit.warmup)?;
    }
    for _ in 0..visit.samples {
        let start = Instant::now();
        kernel.repeat(visit.batch)?;
        let end = Instant::now();
        samples.nanoseconds.push((end - start).as_nanos() as f64);
        kernel.settle()?;
        samples.settling += end.elapsed().as_nanos() as f64;
    }
    // Where nothing is timed, the warm-up's output is the one to be seen.
    if visit.samples == 0 && visit.warmup > 0 {
        kernel.settle()?;
    }
    Ok(samples)
}
