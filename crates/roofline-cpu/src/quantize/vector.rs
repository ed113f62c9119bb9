//! In lanes: the largest magnitude of a group, then its codes while it is near, or of a whole tensor in parts.

use super::Ties;
use crate::bits8::Bits8;
use crate::lanes::Lanes;
use crate::matmul::block::Block;
use crate::rowwise::{self, Number, PIECE};
use crate::{Cpu, Element, Pool, Rows, Vectorize, stream};

/// Codes q = round(x / s) in -127..=127 and the scale s = max|x| / 127 of each `block` elements of a row; of zeros it is 1.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, quantize::{Ties, vector::quantize}};
///
/// let (mut q, mut s) = ([0; 6], [0.0; 2]);
/// let x = [63.5f32, -0.25, 0.75, 0.0, 0.0, 0.0];
/// quantize(&Cpu::serial(), &x, &mut q, &mut s, Rows { rows: 2, cols: 3 }, 3, Ties::ToEven);
/// assert_eq!((q, s), ([127, 0, 2, 0, 0, 0], [0.5, 1.0]));
/// ```
pub fn quantize<T: Element>(
    cpu: &Cpu,
    x: &[T],
    q: &mut [i8],
    s: &mut [f32],
    shape: Rows,
    block: usize,
    ties: Ties,
) {
    int8(Pool::alone(), cpu, x, q, s, shape, block, ties);
}

/// Codes q = round(x / s) in -128..=127 and the scale s = 2·max|x| / 255 of each row, ties to even; of zeros it is 1.
pub fn quantize_full<T: Element>(cpu: &Cpu, x: &[T], q: &mut [i8], s: &mut [f32], shape: Rows) {
    by_groups(Pool::alone(), cpu, x, q, s, shape, shape.cols, Full);
}

#[expect(clippy::too_many_arguments, reason = "the arguments of the public function, and threads")]
pub(super) fn int8<T: Element>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    q: &mut [i8],
    s: &mut [f32],
    shape: Rows,
    block: usize,
    ties: Ties,
) {
    match ties {
        Ties::ToEven => by_groups(pool, cpu, x, q, s, shape, block, ToEven),
        Ties::Away => by_groups(pool, cpu, x, q, s, shape, block, Away),
    }
}

/// How quotients become codes of eight bits. `code` must be `#[inline(always)]`, as [`Vectorize::run`].
pub(crate) trait Coding: Copy + Sync + 'static {
    /// What codes are held as.
    type Code: Bits8;
    /// What the largest magnitude of a group becomes.
    const MOST: f32;
    /// The code of each quotient in the lowest bits of its lane.
    fn code<L: Lanes>(self, lanes: L, quotient: L::F) -> L::I;
}

/// -127..=127, ties to even.
#[derive(Clone, Copy)]
pub(crate) struct ToEven;

impl Coding for ToEven {
    type Code = i8;
    const MOST: f32 = 127.0;
    #[inline(always)]
    fn code<L: Lanes>(self, lanes: L, quotient: L::F) -> L::I {
        rounded(lanes, quotient, -127.0, 127.0)
    }
}

/// -127..=127, ties away from zero.
#[derive(Clone, Copy)]
pub(super) struct Away;

impl Coding for Away {
    type Code = i8;
    const MOST: f32 = 127.0;
    #[inline(always)]
    fn code<L: Lanes>(self, lanes: L, quotient: L::F) -> L::I {
        rounded_away(lanes, quotient, 127.0)
    }
}

/// -128..=127, ties to even.
#[derive(Clone, Copy)]
pub(super) struct Full;

impl Coding for Full {
    type Code = i8;
    const MOST: f32 = 127.5;
    #[inline(always)]
    fn code<L: Lanes>(self, lanes: L, quotient: L::F) -> L::I {
        rounded(lanes, quotient, -128.0, 127.0)
    }
}

/// At 1.5·2²³ the spacing of f32 is one: a sum with it is rounded, and its lowest bits are an integer of two's complement.
const UNITS: f32 = 12_582_912.0;

/// To the nearest integer in the lowest bits of each lane, ties to even.
#[inline(always)]
pub(crate) fn rounded<L: Lanes>(lanes: L, v: L::F, least: f32, most: f32) -> L::I {
    let v = lanes.min(lanes.max(v, lanes.splat(least)), lanes.splat(most));
    lanes.to_bits(lanes.add(v, lanes.splat(UNITS)))
}

/// The same with ties away from zero, within ±`most`.
#[inline(always)]
pub(crate) fn rounded_away<L: Lanes>(lanes: L, v: L::F, most: f32) -> L::I {
    let bits = lanes.to_bits(lanes.max(lanes.min(v, lanes.splat(most)), lanes.splat(-most)));
    let sign = lanes.and_i32(bits, lanes.splat_i32(i32::MIN));
    let magnitude = lanes.of_bits(lanes.xor_i32(bits, sign));
    let even = lanes.round(magnitude);
    // A tie that went down has half a step left; the difference is exact.
    let is_below = lanes.less(lanes.sub(magnitude, even), lanes.splat(0.5));
    let away = lanes.select(is_below, even, lanes.add(even, lanes.splat(1.0)));
    let signed = lanes.of_bits(lanes.or_i32(lanes.to_bits(away), sign));
    lanes.to_bits(lanes.add(signed, lanes.splat(UNITS)))
}

#[inline(always)]
fn magnitude<L: Lanes>(lanes: L, v: L::F) -> L::F {
    lanes.of_bits(lanes.and_i32(lanes.to_bits(v), lanes.splat_i32(i32::MAX)))
}

/// The largest magnitude of a row, 0 of none.
#[inline(always)]
pub(crate) fn largest<L: Lanes, T: Element>(lanes: L, row: &[T]) -> f32 {
    /// As many partial results hide the latency of one.
    const PARTS: usize = 4;
    let mut most = [lanes.splat(0.0); PARTS];
    let mut blocks = row.chunks_exact(PARTS * L::LANES);
    for block in &mut blocks {
        for (most, x) in most.iter_mut().zip(block.chunks_exact(L::LANES)) {
            *most = lanes.max(magnitude(lanes, T::load(lanes, x)), *most);
        }
    }
    for x in blocks.remainder().chunks(L::LANES) {
        most[0] = lanes.max(magnitude(lanes, T::load_partial(lanes, x, T::default())), most[0]);
    }
    let [a, b, c, d] = most;
    lanes.largest(lanes.max(lanes.max(a, b), lanes.max(c, d)))
}

/// The largest magnitude as a number of a row.
#[derive(Clone, Copy)]
struct Largest;

impl Number<1> for Largest {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, [row]: [&[T]; 1]) -> [f32; 1] {
        [largest(lanes, row)]
    }
}

/// The scale of a group.
pub(crate) fn scale(largest: f32, most: f32) -> f32 {
    if largest == 0.0 { 1.0 } else { largest / most }
}

/// A scale for each group, which takes its largest magnitude to the largest code, and a code for each quotient.
#[expect(clippy::too_many_arguments, reason = "the arguments of the public function, and what codes are")]
pub(crate) fn by_groups<T: Element, C: Coding>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    q: &mut [C::Code],
    s: &mut [f32],
    shape: Rows,
    block: usize,
    codes: C,
) {
    let q = Bits8::bytes_mut(q);
    let block = block.clamp(1, shape.cols.max(1));
    let of_row = shape.cols.div_ceil(block);
    let lengths = [shape.len(), shape.len(), shape.rows * of_row];
    assert!([x.len(), q.len(), s.len()] == lengths, "lengths for {shape:?} in blocks of {block}");
    if let [s] = s {
        return whole(pool, cpu, x, q, s, codes);
    }
    // Blocks that fill their rows are rows, for as many threads as there are.
    let (rows, cols) = match shape.cols.is_multiple_of(block) {
        true => (shape.rows * of_row, block),
        false => (shape.rows, shape.cols),
    };
    let of_row = cols.div_ceil(block.max(1));
    let (q, s) = (Block::new(q, rows, cols), Block::new(s, rows, of_row));
    pool.run_parts(rows, 1, PIECE.div_ceil(cols.max(1)), |part| {
        // SAFETY: parts do not overlap.
        let (q, s) = unsafe { (q.part(part.clone(), 0..cols), s.part(part.clone(), 0..of_row)) };
        cpu.isa.run(Groups { x: &x[part.start * cols..part.end * cols], q, s, block, codes });
    });
}

struct Groups<'a, T, C> {
    x: &'a [T],
    q: Block<'a, i8>,
    s: Block<'a, f32>,
    block: usize,
    codes: C,
}

impl<T: Element, C: Coding> Vectorize for Groups<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        for (row, x) in self.x.chunks_exact(self.q.cols().max(1)).enumerate() {
            let groups = x.chunks(self.block).zip(self.q.row(row).chunks_mut(self.block));
            for ((x, q), s) in groups.zip(self.s.row(row)) {
                write_row(lanes, x, q, s, self.codes);
            }
        }
    }
}

/// One scale for all, and so two passes over memory.
fn whole<T: Element, C: Coding>(pool: &Pool, cpu: &Cpu, x: &[T], q: &mut [i8], s: &mut f32, codes: C) {
    let of_blocks = rowwise::blocks(pool, cpu, [x], Largest);
    *s = scale(of_blocks.iter().flatten().flatten().copied().fold(0.0, f32::max), C::MOST);
    let scale = *s;
    pool.run_pieces(q, stream::line::<i8>(), PIECE, |offset, q| {
        cpu.isa.run(Piece { x: &x[offset..][..q.len()], q, scale, codes });
    });
}

struct Piece<'a, T, C> {
    x: &'a [T],
    q: &'a mut [i8],
    scale: f32,
    codes: C,
}

impl<T: Element, C: Coding> Vectorize for Piece<'_, T, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        write(lanes, self.x, self.q, self.scale, self.codes);
    }
}

/// The codes of a group.
#[inline(always)]
pub(crate) fn write<L: Lanes, T: Element, C: Coding>(lanes: L, x: &[T], q: &mut [i8], scale: f32, codes: C) {
    let scale = lanes.splat(scale);
    let (mut x, mut q) = (x.chunks_exact(L::LANES), q.chunks_exact_mut(L::LANES));
    for (x, q) in (&mut x).zip(&mut q) {
        lanes.store_i8(codes.code(lanes, lanes.div(T::load(lanes, x), scale)), q);
    }
    let (x, q) = (x.remainder(), q.into_remainder());
    if !x.is_empty() {
        let x = T::load_partial(lanes, x, T::default());
        lanes.store_partial_i8(codes.code(lanes, lanes.div(x, scale)), q);
    }
}

/// The scale of a row, and its codes.
#[inline(always)]
pub(crate) fn write_row<L: Lanes, T: Element, C: Coding>(
    lanes: L,
    row: &[T],
    q: &mut [i8],
    s: &mut f32,
    codes: C,
) {
    *s = scale(largest(lanes, row), C::MOST);
    write(lanes, row, q, *s, codes);
}
