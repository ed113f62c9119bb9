//! The only clock of a sample.

use crate::kernel::Visit;
use roofline_core::protocol::Refusal;
use std::time::Instant;

/// `warmup` untimed launches, then every sample timed, in nanoseconds.
pub(crate) fn samples(
    visit: &Visit,
    mut repeat: impl FnMut(u32) -> Result<(), Refusal>,
) -> Result<Vec<f64>, Refusal> {
    let mut nanoseconds = Vec::with_capacity(visit.samples as usize);
    if visit.warmup > 0 {
        repeat(visit.warmup)?;
    }
    for _ in 0..visit.samples {
        let start = Instant::now();
        repeat(visit.batch)?;
        nanoseconds.push(start.elapsed().as_nanos() as f64);
    }
    Ok(nanoseconds)
}
