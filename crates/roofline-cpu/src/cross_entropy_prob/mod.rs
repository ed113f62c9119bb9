//! `cross-entropy-prob`: y = −Σ t · ln(max(p, 10⁻⁸)), for probabilities. bf16 and f16 are computed in f32.

pub mod plain;

use crate::bind::{Binary, floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Datum, Mismatch};
pub use plain::cross_entropy_prob;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] =
    &[Implementation::plain("cross-entropy-prob", floats!(prepare, plain::cross_entropy_prob))];

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Binary<T>) -> Result<Launch<'a>, Mismatch> {
    let (p, t, mut y, shape) = (args.take("p")?, args.take("t")?, args.take_out("y")?, rows(&args)?);
    Ok(Launch::new(move |cpu| kernel(cpu, &p, &t, &mut y, shape)))
}
