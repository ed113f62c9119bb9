//! `paged-attention`: one query a sequence to all its keys and values, which lie in pages of a pool. bf16 and f16 are
//! computed in f32, probabilities too.

pub mod parallel;
pub mod plain;

use crate::attention::heads;
use crate::bind::kernel;
use crate::catalog::{Implementation, Kernel, Launch};
use crate::{Args, Cpu, Datum, Mismatch, bf16, f16};
pub use parallel::paged_attention;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("paged-attention", heads!(prepare, plain::paged_attention)).params(&["scale"]),
    Implementation::new(
        "paged-attention",
        "parallel",
        "the definition, heads of queries shared out among threads",
        heads!(prepare, parallel::paged_attention),
    )
    .params(&["scale"])
    .parallel(),
];

/// Where the keys of sequences lie.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'a> {
    /// Keys of a page.
    pub page: usize,
    /// Numbers of pages in the pool, one sequence after the other.
    pub pages: &'a [i32],
    /// Where the pages of each sequence begin in that list, and where the last one's end.
    pub offsets: &'a [i32],
    /// The place of each sequence's last key in its last page.
    pub last: &'a [i32],
}

impl Pages<'_> {
    /// The places in the pool of the keys of a sequence.
    fn keys(&self, sequence: usize) -> impl Iterator<Item = usize> {
        let [first, end] = [sequence, sequence + 1].map(|at| self.offsets[at] as usize);
        let last = self.last[sequence] as usize + 1;
        self.pages[first..end].iter().enumerate().flat_map(move |(at, number)| {
            let count = if first + at + 1 == end { last } else { self.page };
            (0..count).map(move |key| *number as usize * self.page + key)
        })
    }
}

/// Heads of queries and of keys, and their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values: a divisor of `heads`.
    pub kv_heads: usize,
    /// Length of a head.
    pub dim: usize,
}

type Paged<T> = fn(&Cpu, [&[T]; 3], &mut [T], Heads, Pages<'_>, Option<f64>);

fn prepare<'a, T: Datum>(mut args: Args<'a>, kernel: Paged<T>) -> Result<Launch<'a>, Mismatch> {
    let (q, k, v, mut y) = (args.take("q")?, args.take("k")?, args.take("v")?, args.take_out("y")?);
    let (pages, offsets, last) = (args.take("pages")?, args.take("offsets")?, args.take("last")?);
    let (heads, kv_heads, dim) = (args.axis("heads")?, args.axis("kv-heads")?, args.axis("dim")?);
    let (shape, page) = (Heads { heads, kv_heads, dim }, args.axis("page")?);
    let scale = Some(args.value("scale")?).filter(|scale| *scale != 0.0);
    Ok(Launch::new(move |cpu| {
        let pages = Pages { page, pages: &pages, offsets: &offsets, last: &last };
        kernel(cpu, [&q, &k, &v], &mut y, shape, pages, scale);
    }))
}
