//! Vectors of f32 and i32 lanes, one type per instruction set.
//!
//! A kernel is written once, generic over [`Lanes`], and compiled once for each
//! level of [`crate::Isa`]. A value of a `Lanes` type is a *token*: it exists
//! only where its instructions were detected, which is what makes the vector
//! methods safe to call. All arithmetic is f32 (or i32); bf16 and f16 are
//! widened by the load and rounded to nearest even by the store, subnormals
//! included. Loads and stores come in two forms: whole vectors, and `partial`
//! ones that touch exactly the elements of the slice they are given.

mod portable;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod transpose;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use portable::Portable;

/// The widest vector of all levels, in lanes.
pub const MAX_LANES: usize = 16;
/// The most rows of a register tile.
pub const MAX_TILE_ROWS: usize = 14;

/// One instruction set, seen as vectors of `LANES` numbers of 32 bits.
///
/// Whole loads and stores use the first `LANES` elements of their slice and
/// panic on a shorter one.
pub trait Lanes: Copy + Send + Sync + 'static {
    /// Numbers in one vector.
    const LANES: usize;
    /// Rows of the register tile of a matrix product (it is two vectors wide).
    const TILE_ROWS: usize;

    /// A vector of f32.
    type F: Copy;
    /// A vector of i32.
    type I: Copy;
    /// One answer for each lane.
    type M: Copy;
    /// `TILE_ROWS` values, kept in registers.
    type Tile<V: Copy>: Copy + AsRef<[V]> + AsMut<[V]>;

    /// `LANES` vectors.
    type Square<V: Copy>: Copy + AsRef<[V]> + AsMut<[V]>;

    /// A square with the same value in every row.
    fn square<V: Copy>(self, value: V) -> Self::Square<V>;
    /// Rows become columns.
    fn transpose(self, rows: Self::Square<Self::F>) -> Self::Square<Self::F>;
    /// Rows become columns.
    fn transpose_i32(self, rows: Self::Square<Self::I>) -> Self::Square<Self::I>;

    /// A register tile with the same value in every row.
    fn tile<V: Copy>(self, value: V) -> Self::Tile<V>;

    /// The same number in every lane.
    fn splat(self, value: f32) -> Self::F;
    /// a + b
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    /// a - b
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    /// a · b
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    /// a / b
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// √v
    fn sqrt(self, v: Self::F) -> Self::F;
    /// a · b + c, fused where the instruction set can.
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// The larger of the two; `b` where either is NaN.
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    /// The smaller of the two; `b` where either is NaN.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    /// To the nearest integer, ties to even, for |v| below 2²².
    fn round(self, v: Self::F) -> Self::F;
    /// v · 2ⁿ with one rounding, for normal v and integral |n| up to 250.
    fn scale(self, v: Self::F, n: Self::F) -> Self::F;
    /// a · b + c rounded once, or so nearly that a split constant of 24 bits a part can rely on it.
    #[inline(always)]
    fn fused(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        self.mul_add(a, b, c)
    }
    /// 1 / v to one unit in the last place, for normal v whose reciprocal is normal.
    #[inline(always)]
    fn reciprocal(self, v: Self::F) -> Self::F {
        self.div(self.splat(1.0), v)
    }
    /// Whether a < b; no where either is NaN.
    fn less(self, a: Self::F, b: Self::F) -> Self::M;
    /// `a` where the answer is yes, else `b`.
    fn select(self, which: Self::M, a: Self::F, b: Self::F) -> Self::F;
    /// Lanes of the two by turns: a₀, b₀, a₁, b₁ and so on, in two vectors.
    fn interleave(self, a: Self::F, b: Self::F) -> [Self::F; 2];
    /// Each pair of neighbours exchanged.
    fn swap_pairs(self, v: Self::F) -> Self::F;
    /// Whether all answers are yes.
    fn all(self, which: Self::M) -> bool;
    /// The code of each number.
    fn to_bits(self, v: Self::F) -> Self::I;
    /// The number of each code.
    fn of_bits(self, v: Self::I) -> Self::F;
    /// Integers as numbers, rounded to nearest.
    fn of_i32(self, v: Self::I) -> Self::F;
    /// The sum of all lanes.
    fn sum(self, v: Self::F) -> f32;
    /// The largest lane, for vectors without NaN.
    fn largest(self, v: Self::F) -> f32;

    /// Reads one vector.
    fn load_f32(self, x: &[f32]) -> Self::F;
    /// Writes one vector.
    fn store_f32(self, v: Self::F, y: &mut [f32]);
    /// Reads one vector of bf16 codes.
    fn load_bf16(self, x: &[u16]) -> Self::F;
    /// Rounds one vector to bf16 codes.
    fn store_bf16(self, v: Self::F, y: &mut [u16]);
    /// Reads one vector of f16 codes.
    fn load_f16(self, x: &[u16]) -> Self::F;
    /// Rounds one vector to f16 codes.
    fn store_f16(self, v: Self::F, y: &mut [u16]);

    /// The same number in every lane.
    fn splat_i32(self, value: i32) -> Self::I;
    /// a + b, wrapping.
    fn add_i32(self, a: Self::I, b: Self::I) -> Self::I;
    /// a - b, wrapping.
    fn sub_i32(self, a: Self::I, b: Self::I) -> Self::I;
    /// a · b of numbers without a sign, 64 bits wide: the lower 32 of each lane, and the upper 32.
    fn mul_wide(self, a: Self::I, b: Self::I) -> [Self::I; 2];
    /// Whether a < b, of numbers without a sign.
    fn below(self, a: Self::I, b: Self::I) -> Self::M;
    /// Bits that both have.
    fn and_i32(self, a: Self::I, b: Self::I) -> Self::I;
    /// Bits that either has.
    fn or_i32(self, a: Self::I, b: Self::I) -> Self::I;
    /// Bits that one has and the other has not.
    fn xor_i32(self, a: Self::I, b: Self::I) -> Self::I;
    /// Bits moved up by `count` < 32, zeros behind them.
    fn shift_left(self, v: Self::I, count: i32) -> Self::I;
    /// Bits moved down by `count` < 32, zeros before them.
    fn shift_right(self, v: Self::I, count: i32) -> Self::I;
    /// Reads one vector.
    fn load_i32(self, x: &[i32]) -> Self::I;
    /// Writes one vector.
    fn store_i32(self, v: Self::I, y: &mut [i32]);
    /// Reads one vector of codes, zeros above them.
    fn load_u16(self, x: &[u16]) -> Self::I;
    /// Writes the lower halves of a vector whose upper ones are zero.
    fn store_u16(self, v: Self::I, y: &mut [u16]);
    /// Reads `2 * LANES` numbers, widened to two i16 a lane.
    fn load_pairs(self, x: &[i8]) -> Self::I;
    /// Reads `LANES` numbers of each of two rows: a lane holds one of the first and, as its upper i16, one of the second.
    fn load_pairs_of(self, first: &[i8], second: &[i8]) -> Self::I;
    /// Reads `LANES` numbers, each widened to a lane.
    fn load_i8(self, x: &[i8]) -> Self::I;
    /// Writes the lowest eight bits of each lane.
    fn store_i8(self, v: Self::I, y: &mut [i8]);
    /// Of sixteen numbers in the first lanes of two vectors, those at the places that the lowest four bits of each lane say.
    fn look_up(self, numbers: [Self::F; 2], places: Self::I) -> Self::F;
    /// The sum of all lanes, wrapping.
    fn sum_i32(self, v: Self::I) -> i32;
    /// acc + a.0 · b.0 + a.1 · b.1 in each lane, where a lane of `a` and `b`
    /// holds two i16. Wrapping.
    fn dot_pairs(self, acc: Self::I, a: Self::I, b: Self::I) -> Self::I;

    /// Reads `x.len() <= LANES` elements, `fill` in the lanes beyond them.
    #[inline(always)]
    fn load_partial_f32(self, x: &[f32], fill: f32) -> Self::F {
        let mut whole = [fill; MAX_LANES];
        whole[..x.len()].copy_from_slice(x);
        self.load_f32(&whole)
    }
    /// Writes the first `y.len() <= LANES` lanes.
    #[inline(always)]
    fn store_partial_f32(self, v: Self::F, y: &mut [f32]) {
        let mut whole = [0.0; MAX_LANES];
        self.store_f32(v, &mut whole);
        y.copy_from_slice(&whole[..y.len()]);
    }
    /// Reads `x.len() <= LANES` codes, `fill` beyond them.
    #[inline(always)]
    fn load_partial_u16(self, x: &[u16], fill: u16) -> [u16; MAX_LANES] {
        let mut whole = [fill; MAX_LANES];
        whole[..x.len()].copy_from_slice(x);
        whole
    }
    /// Writes the first `y.len() <= LANES` codes.
    #[inline(always)]
    fn store_partial_u16(self, v: [u16; MAX_LANES], y: &mut [u16]) {
        y.copy_from_slice(&v[..y.len()]);
    }
    /// Writes the first `y.len() <= LANES` lanes.
    #[inline(always)]
    fn store_partial_i32(self, v: Self::I, y: &mut [i32]) {
        let mut whole = [0; MAX_LANES];
        self.store_i32(v, &mut whole);
        y.copy_from_slice(&whole[..y.len()]);
    }
    /// Writes the lowest eight bits of the first `y.len() <= LANES` lanes.
    #[inline(always)]
    fn store_partial_i8(self, v: Self::I, y: &mut [i8]) {
        let mut whole = [0; MAX_LANES];
        self.store_i8(v, &mut whole);
        y.copy_from_slice(&whole[..y.len()]);
    }
    /// Reads `x.len() <= LANES` elements, zero in the lanes beyond them.
    #[inline(always)]
    fn load_partial_i32(self, x: &[i32]) -> Self::I {
        let mut whole = [0; MAX_LANES];
        whole[..x.len()].copy_from_slice(x);
        self.load_i32(&whole)
    }

    /// Like `store_f32`, but past the caches where `y` is aligned to a vector.
    /// Ends with [`Lanes::fence`].
    #[inline(always)]
    fn stream_f32(self, v: Self::F, y: &mut [f32]) {
        self.store_f32(v, y);
    }
    /// Like `store_bf16`, but past the caches where `y` is aligned to a vector.
    #[inline(always)]
    fn stream_bf16(self, v: Self::F, y: &mut [u16]) {
        self.store_bf16(v, y);
    }
    /// Like `store_f16`, but past the caches where `y` is aligned to a vector.
    #[inline(always)]
    fn stream_f16(self, v: Self::F, y: &mut [u16]) {
        self.store_f16(v, y);
    }
    /// Asks for the cache line at `x`, which may be any address.
    #[inline(always)]
    fn prefetch<T>(self, _x: *const T) {}
    /// The same into the second cache, which waits for more lines at a time than the first.
    #[inline(always)]
    fn prefetch_second<T>(self, _x: *const T) {}
    /// Orders streamed stores before everything that follows.
    #[inline(always)]
    fn fence(self) {}
}
