//! `rope`: pairs of a head's values turned by an angle of position and pair.
//!
//! The pairs are (i, i + dim/2), or (2i, 2i + 1) in the forms called `interleaved`. The angle is
//! position · base^(−2i/dim), computed in f64; the `cached` forms look its cosine and sine up in tables.

pub mod cached;
pub mod plain;

use crate::bind::floats;
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Datum, Mismatch, Scalar};
pub use cached::rope_cached;
pub use plain::rope;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("rope", floats!(prepare, Layout::Half, plain::rope)).params(&["base"]),
    Implementation::plain("rope.interleaved", floats!(prepare, Layout::Interleaved, plain::rope))
        .params(&["base"]),
    Implementation::plain("rope.cached", floats!(prepare_cached, Layout::Half, cached::rope_cached)),
    Implementation::plain(
        "rope.interleaved-cached",
        floats!(prepare_cached, Layout::Interleaved, cached::rope_cached),
    ),
];

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

    /// Turns every pair i at row `s` by the angle whose cosine and sine `turn(s, i)` gives.
    fn turn<T: Scalar>(self, x: &[T], y: &mut [T], turn: impl Fn(usize, usize) -> [T::Wide; 2]) {
        let half = self.dim / 2;
        let rows = self.heads * self.dim;
        for (index, (x, y)) in x.chunks(self.dim.max(1)).zip(y.chunks_mut(self.dim.max(1))).enumerate() {
            let s = index * self.dim / rows;
            for i in 0..half {
                let (a, b) = match self.layout {
                    Layout::Half => (i, i + half),
                    Layout::Interleaved => (2 * i, 2 * i + 1),
                };
                let [cos, sin] = turn(s, i);
                y[a] = T::narrow(x[a].wide() * cos - x[b].wide() * sin);
                y[b] = T::narrow(x[a].wide() * sin + x[b].wide() * cos);
            }
        }
    }
}

type Rope<T> = fn(&Cpu, &[T], &[i32], &mut [T], Heads, f64);
/// Tables of cosines and sines, each \[positions, dim/2\].
pub type Tables<'a, W> = [&'a [W]; 2];
type Cached<T> = fn(&Cpu, &[T], &[i32], Tables<'_, <T as Scalar>::Wide>, &mut [T], Heads);

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
