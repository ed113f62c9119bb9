//! `rope`: pairs of a head's values turned by an angle of position and pair.
//!
//! The pairs are (i, i + dim/2), or (2i, 2i + 1) in the forms called `interleaved`. The angle is
//! position · base^(−2i/dim), computed in f64; the `cached` forms look its cosine and sine up in tables. The
//! `in-place` forms overwrite what they turn, and `cached-beyond` computes the angles of positions that the tables have no row for.

pub mod cached;
pub mod parallel;
pub mod plain;
pub(crate) mod turns;
pub mod vector;

use crate::bind::{floats, lanes};
use crate::catalog::{Implementation, Kernel, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Scalar};
pub use parallel::{rope, rope_cached, rope_cached_beyond, rope_cached_in_place, rope_in_place};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("rope", floats!(prepare, Layout::Half, plain::rope))
        .params(&["base", "angle-bits"]),
    vector("rope", lanes!(prepare, Layout::Half, vector::rope)).params(&["base", "angle-bits"]),
    parallel("rope", floats!(prepare, Layout::Half, parallel::rope)).params(&["base", "angle-bits"]),
    Implementation::plain("rope.interleaved", floats!(prepare, Layout::Interleaved, plain::rope))
        .params(&["base", "angle-bits"]),
    vector("rope.interleaved", lanes!(prepare, Layout::Interleaved, vector::rope))
        .params(&["base", "angle-bits"]),
    parallel("rope.interleaved", floats!(prepare, Layout::Interleaved, parallel::rope))
        .params(&["base", "angle-bits"]),
    Implementation::plain("rope.cached", floats!(prepare_cached, Layout::Half, cached::rope_cached)),
    vector("rope.cached", lanes!(prepare_cached, Layout::Half, vector::rope_cached)),
    parallel("rope.cached", floats!(prepare_cached, Layout::Half, parallel::rope_cached)),
    Implementation::plain(
        "rope.interleaved-cached",
        floats!(prepare_cached, Layout::Interleaved, cached::rope_cached),
    ),
    vector("rope.interleaved-cached", lanes!(prepare_cached, Layout::Interleaved, vector::rope_cached)),
    parallel("rope.interleaved-cached", floats!(prepare_cached, Layout::Interleaved, parallel::rope_cached)),
    Implementation::plain("rope.in-place", floats!(prepare_in_place, Layout::Half, plain::rope_in_place))
        .params(&["base", "angle-bits"]),
    vector("rope.in-place", lanes!(prepare_in_place, Layout::Half, vector::rope_in_place))
        .params(&["base", "angle-bits"]),
    parallel("rope.in-place", floats!(prepare_in_place, Layout::Half, parallel::rope_in_place))
        .params(&["base", "angle-bits"]),
    Implementation::plain(
        "rope.interleaved-in-place",
        floats!(prepare_in_place, Layout::Interleaved, plain::rope_in_place),
    )
    .params(&["base", "angle-bits"]),
    vector("rope.interleaved-in-place", lanes!(prepare_in_place, Layout::Interleaved, vector::rope_in_place))
        .params(&["base", "angle-bits"]),
    parallel(
        "rope.interleaved-in-place",
        floats!(prepare_in_place, Layout::Interleaved, parallel::rope_in_place),
    )
    .params(&["base", "angle-bits"]),
    Implementation::plain(
        "rope.cached-in-place",
        floats!(prepare_cached_in_place, Layout::Half, cached::rope_cached_in_place),
    ),
    vector(
        "rope.cached-in-place",
        lanes!(prepare_cached_in_place, Layout::Half, vector::rope_cached_in_place),
    ),
    parallel(
        "rope.cached-in-place",
        floats!(prepare_cached_in_place, Layout::Half, parallel::rope_cached_in_place),
    ),
    Implementation::plain(
        "rope.interleaved-cached-in-place",
        floats!(prepare_cached_in_place, Layout::Interleaved, cached::rope_cached_in_place),
    ),
    vector(
        "rope.interleaved-cached-in-place",
        lanes!(prepare_cached_in_place, Layout::Interleaved, vector::rope_cached_in_place),
    ),
    parallel(
        "rope.interleaved-cached-in-place",
        floats!(prepare_cached_in_place, Layout::Interleaved, parallel::rope_cached_in_place),
    ),
    Implementation::plain(
        "rope.cached-beyond",
        floats!(prepare_beyond, Layout::Half, cached::rope_cached_beyond),
    )
    .params(&["base", "angle-bits"]),
    vector("rope.cached-beyond", lanes!(prepare_beyond, Layout::Half, vector::rope_cached_beyond))
        .params(&["base", "angle-bits"]),
    parallel("rope.cached-beyond", floats!(prepare_beyond, Layout::Half, parallel::rope_cached_beyond))
        .params(&["base", "angle-bits"]),
];

const fn vector(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    let about = "angles once for each position, pairs turned in lanes";
    Implementation::new(form, "vector", about, kernels).vector()
}

const fn parallel(form: &'static str, kernels: &'static [Kernel]) -> Implementation {
    let about = "the vector kernel on all threads, whole positions each; of f64 the definition";
    Implementation::new(form, "parallel", about, kernels).vector().parallel()
}

/// x \[seq, heads, dim\], and which of a head's values are a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Positions.
    pub seq: usize,
    /// Heads at a position.
    pub heads: usize,
    /// Values of a head: an even number.
    pub dim: usize,
    /// Its pairs.
    pub layout: Layout,
}

/// Which values are a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// i and i + dim/2.
    Half,
    /// 2i and 2i + 1.
    Interleaved,
}

impl Heads {
    fn of(args: &Args<'_>, layout: Layout) -> Result<Heads, Mismatch> {
        Ok(Heads { seq: args.axis("seq")?, heads: args.axis("heads")?, dim: args.axis("dim")?, layout })
    }

    #[track_caller]
    fn check(self, x: usize, positions: usize, y: usize) {
        let all = self.seq * self.heads * self.dim;
        assert!(
            self.dim.is_multiple_of(2) && [x, positions, y] == [all, self.seq, all],
            "lengths for {self:?}"
        );
    }

    /// Every pair of every head.
    fn pairs(self) -> impl Iterator<Item = Pair> {
        let Heads { seq, heads, dim, layout } = self;
        let pair = move |head: usize, i: usize| {
            let (a, b) = match layout {
                Layout::Half => (i, i + dim / 2),
                Layout::Interleaved => (2 * i, 2 * i + 1),
            };
            Pair { at: head / heads, i, a: head * dim + a, b: head * dim + b }
        };
        (0..seq * heads).flat_map(move |head| (0..dim / 2).map(move |i| pair(head, i)))
    }
}

/// Pair `i` of a head at a place of the sequence, and where its values lie.
#[derive(Clone, Copy)]
struct Pair {
    at: usize,
    i: usize,
    a: usize,
    b: usize,
}

/// A pair turned by the angle of this cosine and sine.
fn turned<T: Scalar>(a: T, b: T, [cos, sin]: [T::Wide; 2]) -> (T, T) {
    let (a, b) = (a.wide(), b.wide());
    (T::narrow(a * cos - b * sin), T::narrow(a * sin + b * cos))
}

type Rope<T> = fn(&Cpu, &[T], &[i32], &mut [T], Heads, f64);
/// Tables of cosines and sines, each \[positions, dim/2\].
pub type Tables<'a, W> = [&'a [W]; 2];
type Cached<T> = fn(&Cpu, &[T], &[i32], Tables<'_, <T as Scalar>::Wide>, &mut [T], Heads);
type Beyond<T> = fn(&Cpu, &[T], &[i32], Tables<'_, <T as Scalar>::Wide>, &mut [T], Heads, f64);
type CachedInPlace<T> = fn(&Cpu, &mut [T], &[i32], Tables<'_, <T as Scalar>::Wide>, Heads);

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    layout: Layout,
    kernel: Rope<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, positions, mut y) = (args.take("x")?, args.take("positions")?, args.take_out("y")?);
    let (shape, base) = (Heads::of(&args, layout)?, args.value("base")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &positions, &mut y, shape, base)))
}

fn prepare_cached<'a, T: Scalar<Wide: Datum>>(
    mut args: Args<'a>,
    layout: Layout,
    kernel: Cached<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, positions, mut y) = (args.take("x")?, args.take("positions")?, args.take_out("y")?);
    let (cos, sin) = (args.take("cos")?, args.take("sin")?);
    let shape = Heads::of(&args, layout)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &positions, [&cos, &sin], &mut y, shape)))
}

fn prepare_beyond<'a, T: Scalar<Wide: Datum>>(
    mut args: Args<'a>,
    layout: Layout,
    kernel: Beyond<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, positions, mut y) = (args.take("x")?, args.take("positions")?, args.take_out("y")?);
    let (cos, sin, base) = (args.take("cos")?, args.take("sin")?, args.value("base")?);
    let shape = Heads::of(&args, layout)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &positions, [&cos, &sin], &mut y, shape, base)))
}

fn prepare_in_place<'a, T: Datum>(
    mut args: Args<'a>,
    layout: Layout,
    kernel: fn(&Cpu, &mut [T], &[i32], Heads, f64),
) -> Result<Launch<'a>, Mismatch> {
    let (mut y, positions) = (args.take_out("y")?, args.take("positions")?);
    let (shape, base) = (Heads::of(&args, layout)?, args.value("base")?);
    Ok(Launch::new(move |cpu| kernel(cpu, &mut y, &positions, shape, base)))
}

fn prepare_cached_in_place<'a, T: Scalar<Wide: Datum>>(
    mut args: Args<'a>,
    layout: Layout,
    kernel: CachedInPlace<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (mut y, positions) = (args.take_out("y")?, args.take("positions")?);
    let (cos, sin) = (args.take("cos")?, args.take("sin")?);
    let shape = Heads::of(&args, layout)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &mut y, &positions, [&cos, &sin], shape)))
}
