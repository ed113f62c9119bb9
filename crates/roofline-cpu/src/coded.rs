//! Products with weights of codes in blocks, Y = X·Wᵀ, for the operations that have such weights.
//!
//! [`Coded`] says how the codes of a format are decoded in lanes; the loops are here: [`few_rows`] reads W once for up to eight
//! rows of X, [`rounded`] multiplies bytes where X becomes codes too, [`panels`] decodes a piece of W for many rows.

mod blocks;
pub(crate) mod few_rows;
mod halves;
pub(crate) mod panels;
pub(crate) mod rounded;

pub(crate) use blocks::Blocks;
pub(crate) use halves::look_up;

use crate::lanes::Lanes;

/// Elements of a row whose scales are widened together.
pub(crate) const RUN: usize = 512;
/// Elements that share a scale in every format, at least.
pub(crate) const SHARE: usize = 32;

/// What the codes of a run are taken times, and what is then added, for each `SHARE` of its elements.
#[derive(Clone, Copy)]
pub(crate) struct Scales {
    pub(crate) scale: [f32; RUN / SHARE],
    pub(crate) offset: [f32; RUN / SHARE],
}

impl Scales {
    pub(crate) const NONE: Scales = Scales { scale: [0.0; RUN / SHARE], offset: [0.0; RUN / SHARE] };
}

/// A matrix of weights in codes, row after row. Functions over lanes must be `#[inline(always)]`, as [`crate::Vectorize::run`].
pub(crate) trait Coded: Copy + Send + Sync {
    /// Elements of a part, which is decoded at once; `RUN` is whole parts.
    const PART: usize;
    /// Bytes of its codes.
    const BYTES: usize;

    /// The element of a part that is decoded in a place of it.
    #[inline(always)]
    fn element(place: usize) -> usize {
        place
    }
    /// Widens the scales of a run of a row, as far as the row goes.
    fn scales<L: Lanes>(self, lanes: L, row: usize, run: usize, scales: &mut Scales);
    /// The codes of a part of a row; fewer where the row ends within it and its bytes with it.
    fn codes(&self, row: usize, part: usize) -> &[i8];
    /// What the codes of a part, of this index in its run, stand for: `LANES` of them from a place on.
    fn numbers<L: Lanes>(lanes: L, codes: &[i8], scales: &Scales, part: usize, place: usize) -> L::F;
}

/// The most bytes that the codes of a part have.
const MOST_BYTES: usize = 32;

/// The codes of a part that is cut short, and zeros.
#[inline(always)]
fn filled_up(codes: &[i8]) -> [i8; MOST_BYTES] {
    let mut whole = [0; MOST_BYTES];
    whole[..codes.len()].copy_from_slice(codes);
    whole
}
