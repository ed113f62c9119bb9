//! `varlen-attention`: attention within each of several sequences that lie one behind another (`varlen-attention.causal`: to
//! no key after a query's own). bf16 and f16 are computed in f32, probabilities too.

pub mod parallel;
pub mod plain;

use crate::attention::heads;
use crate::bind::kernel;
use crate::catalog::{Implementation, Kernel, Launch};
use crate::paged_attention::Heads;
use crate::{Args, Cpu, Datum, Mismatch, bf16, f16};
pub use parallel::varlen_attention;
use std::ops::Range;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    plain("varlen-attention", heads!(prepare, false, plain::varlen_attention)),
    parallel("varlen-attention", heads!(prepare, false, parallel::varlen_attention)),
    plain("varlen-attention.causal", heads!(prepare, true, plain::varlen_attention)),
    parallel("varlen-attention.causal", heads!(prepare, true, parallel::varlen_attention)),
];

const fn plain(operation: &'static str, kernels: &'static [Kernel]) -> Implementation {
    Implementation::plain(operation, kernels).params(&["scale"])
}

const fn parallel(operation: &'static str, kernels: &'static [Kernel]) -> Implementation {
    let about = "the definition, heads of queries shared out among threads";
    Implementation::new(operation, "parallel", about, kernels).params(&["scale"]).parallel()
}

/// Where sequences lie, and what a query sees of its own.
#[derive(Clone, Copy, Debug)]
pub struct Sequences<'a> {
    /// Where each sequence begins among the tokens, and where the last one ends.
    pub offsets: &'a [i32],
    /// Whether a query sees no key after its own.
    pub causal: bool,
}

impl Sequences<'_> {
    /// The keys that a token's query sees; none where it belongs to no sequence.
    fn seen(&self, token: usize) -> Range<usize> {
        let next = self.offsets.partition_point(|offset| *offset as usize <= token);
        match (next.checked_sub(1).map(|own| self.offsets[own] as usize), self.offsets.get(next)) {
            (Some(first), Some(end)) => first..if self.causal { token + 1 } else { *end as usize },
            _ => 0..0,
        }
    }
}

type Varlen<T> = fn(&Cpu, [&[T]; 3], &mut [T], Heads, Sequences<'_>, Option<f64>);

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    causal: bool,
    kernel: Varlen<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (q, k, v, mut y) = (args.take("q")?, args.take("k")?, args.take("v")?, args.take_out("y")?);
    let offsets = args.take("offsets")?;
    let (heads, kv_heads, dim) = (args.axis("heads")?, args.axis("kv-heads")?, args.axis("dim")?);
    let shape = Heads { heads, kv_heads, dim };
    let scale = Some(args.value("scale")?).filter(|scale| *scale != 0.0);
    Ok(Launch::new(move |cpu| {
        kernel(cpu, [&q, &k, &v], &mut y, shape, Sequences { offsets: &offsets, causal }, scale);
    }))
}
