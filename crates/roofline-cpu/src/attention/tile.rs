//! The register tile of attention: a column of packed keys or values times a row of queries or powers, over and over.

use crate::lanes::Lanes;

/// Numbers in the order in which the tile reads them as vectors: pieces of so many rows, and of each piece the left
/// vectors of all rows, then the right ones.
pub(super) fn place<L: Lanes>(rows: usize, row: usize, half: usize) -> usize {
    ((row / rows * 2 + half) * rows + row % rows) * L::LANES
}

/// Steps of a round: with one at a time the counting would take slots of products.
const ROUND: usize = 4;
/// Steps by which numbers are asked for ahead: they come from the second cache.
const AHEAD: usize = 64;

/// The sums of `a` \[step, R\] times `b`, the left vectors of all steps and then the right ones.
#[inline(always)]
pub(super) fn product<L: Lanes, const R: usize>(lanes: L, a: &[f32], b: &[f32]) -> [[L::F; 2]; R] {
    let mut sums = [[lanes.splat(0.0); 2]; R];
    let (left, right) = b.split_at(b.len() / 2);
    let rounds = a.chunks_exact(ROUND * R);
    let (rest, done) = (rounds.remainder(), a.len() / (ROUND * R) * ROUND * L::LANES);
    for (round, a) in rounds.enumerate() {
        let left = &left[round * ROUND * L::LANES..][..ROUND * L::LANES];
        let right = &right[round * ROUND * L::LANES..][..ROUND * L::LANES];
        for step in 0..ROUND {
            let a = &a[step * R..][..R];
            lanes.prefetch(a.as_ptr().wrapping_add(AHEAD * R));
            add(lanes, a, &left[step * L::LANES..], &right[step * L::LANES..], &mut sums);
        }
    }
    for (step, a) in rest.chunks_exact(R).enumerate() {
        let from = done + step * L::LANES;
        add(lanes, a, &left[from..], &right[from..], &mut sums);
    }
    sums
}

/// One step: `R` numbers times two vectors.
#[inline(always)]
fn add<L: Lanes, const R: usize>(
    lanes: L,
    a: &[f32],
    left: &[f32],
    right: &[f32],
    sums: &mut [[L::F; 2]; R],
) {
    let (left, right) = (lanes.load_f32(left), lanes.load_f32(right));
    for (sums, a) in sums.iter_mut().zip(a) {
        let a = lanes.splat(*a);
        sums[0] = lanes.mul_add(a, left, sums[0]);
        sums[1] = lanes.mul_add(a, right, sums[1]);
    }
}

/// Calls a function with a number of rows as a constant; one of [`HEIGHTS`].
macro_rules! with_height {
    ($rows:expr, $call:ident::<$lanes:ident>($($argument:expr),*)) => {
        match $rows {
            6 if $lanes::TILE_ROWS >= 6 => $call::<$lanes, 6>($($argument),*),
            8 if $lanes::TILE_ROWS >= 8 => $call::<$lanes, 8>($($argument),*),
            13 if $lanes::TILE_ROWS >= 13 => $call::<$lanes, 13>($($argument),*),
            14 if $lanes::TILE_ROWS >= 14 => $call::<$lanes, 14>($($argument),*),
            _ => $call::<$lanes, 4>($($argument),*),
        }
    };
}

pub(super) use with_height;

/// Rows that tiles may have, the most that a level has registers for being [`Lanes::TILE_ROWS`].
const HEIGHTS: [usize; 5] = [4, 6, 8, 13, 14];

/// The height of tiles that have the least to do for so many rows: what is beyond them is computed for nothing, and a
/// tile costs as much as a row on top.
pub(super) fn height<L: Lanes>(rows: usize) -> usize {
    let cost = |height: usize| rows.div_ceil(height) * (height + 1);
    let heights = HEIGHTS.into_iter().filter(|height| *height <= L::TILE_ROWS);
    heights.min_by_key(|height| cost(*height)).unwrap_or(L::TILE_ROWS)
}
