//! In lanes: codes widened, or taken apart by their bits, and a product for each.

use crate::bits8::Bits8;
use crate::lanes::Lanes;
use crate::matmul::block::Block;
use crate::rowwise::PIECE;
use crate::{Cpu, Element, Fp8E4m3, Pool, Rows, Vectorize};

/// y = q·s, with a scale for each `block` elements of a row.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, dequantize::vector::dequantize};
///
/// let mut y = [0.0f32; 4];
/// dequantize(&Cpu::serial(), &[127, -2, 3, 0], &[0.5, 2.0], &mut y, Rows { rows: 2, cols: 2 }, 2);
/// assert_eq!(y, [63.5, -1.0, 6.0, 0.0]);
/// ```
pub fn dequantize<T: Element>(cpu: &Cpu, q: &[i8], s: &[f32], y: &mut [T], shape: Rows, block: usize) {
    by_groups(Pool::alone(), cpu, q, (s, &[]), y, shape, block, Int8);
}

/// The same of codes in fp8-e4m3.
pub fn dequantize_fp8<T: Element>(
    cpu: &Cpu,
    q: &[Fp8E4m3],
    s: &[f32],
    y: &mut [T],
    shape: Rows,
    block: usize,
) {
    by_groups(Pool::alone(), cpu, Bits8::bytes(q), (s, &[]), y, shape, block, E4m3);
}

/// y = (q − z)·s, with a scale and a code of zero for each row; the difference is one of integers.
pub fn dequantize_u8<T: Element>(cpu: &Cpu, q: &[u8], s: &[f32], z: &[u8], y: &mut [T], shape: Rows) {
    assert_eq!(z.len(), shape.rows, "length of z for {shape:?}");
    by_groups(Pool::alone(), cpu, Bits8::bytes(q), (s, z), y, shape, shape.cols, Uint8);
}

/// What codes stand for. `number` must be `#[inline(always)]`, as [`Vectorize::run`].
pub(super) trait Decoding: Copy + Sync {
    /// The number of each code, which is widened with its sign, above the code of zero.
    fn number<L: Lanes>(self, lanes: L, code: L::I, zero: L::I) -> L::F;
}

#[derive(Clone, Copy)]
pub(super) struct Int8;

impl Decoding for Int8 {
    #[inline(always)]
    fn number<L: Lanes>(self, lanes: L, code: L::I, _zero: L::I) -> L::F {
        lanes.of_i32(code)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Uint8;

impl Decoding for Uint8 {
    #[inline(always)]
    fn number<L: Lanes>(self, lanes: L, code: L::I, zero: L::I) -> L::F {
        lanes.of_i32(lanes.sub_i32(lanes.and_i32(code, lanes.splat_i32(0xff)), zero))
    }
}

#[derive(Clone, Copy)]
pub(super) struct E4m3;

impl Decoding for E4m3 {
    #[inline(always)]
    fn number<L: Lanes>(self, lanes: L, code: L::I, _zero: L::I) -> L::F {
        const SUBNORMALS: f32 = 512.0;
        let magnitude = lanes.and_i32(code, lanes.splat_i32(0x7f));
        let of_codes = lanes.of_i32(magnitude);
        let normal = lanes.shift_left(lanes.add_i32(magnitude, lanes.splat_i32(120 << 3)), 20);
        let subnormal = lanes.mul(of_codes, lanes.splat(1.0 / SUBNORMALS));
        let is_subnormal = lanes.less(of_codes, lanes.splat(8.0));
        let number = lanes.select(is_subnormal, subnormal, lanes.of_bits(normal));
        let is_number = lanes.less(of_codes, lanes.splat(127.0));
        let number = lanes.select(is_number, number, lanes.splat(f32::NAN));
        let sign = lanes.and_i32(code, lanes.splat_i32(i32::MIN));
        lanes.of_bits(lanes.or_i32(lanes.to_bits(number), sign))
    }
}

/// A product for each code, by the scale of its group.
#[expect(clippy::too_many_arguments, reason = "the arguments of the public function, and what codes are")]
pub(super) fn by_groups<T: Element>(
    pool: &Pool,
    cpu: &Cpu,
    q: &[i8],
    (s, z): (&[f32], &[u8]),
    y: &mut [T],
    shape: Rows,
    block: usize,
    decoding: impl Decoding,
) {
    let block = block.clamp(1, shape.cols.max(1));
    let of_row = shape.cols.div_ceil(block);
    let lengths = [shape.len(), shape.rows * of_row, shape.len()];
    assert!([q.len(), s.len(), y.len()] == lengths, "lengths for {shape:?} in blocks of {block}");
    let streamed = cpu.streams(size_of_val(q) + size_of_val(y));
    // One scale for all: any cut will do.
    let (rows, cols, block) = match s {
        [_] if z.is_empty() => (shape.len().div_ceil(PIECE), PIECE, PIECE),
        _ => (shape.rows, shape.cols, block),
    };
    let (length, y) = (y.len(), Block::new(y, 1, shape.len()));
    pool.run_parts(rows, 1, PIECE.div_ceil(cols.max(1)), |rows| {
        let places = rows.start * cols..length.min(rows.end * cols);
        // SAFETY: parts do not overlap.
        let mut y = unsafe { y.part(0..1, places.clone()) };
        let (q, y, first) = (&q[places], y.row(0), rows.start);
        cpu.isa.run(Groups { q, s, z, y, first, cols, block, decoding, streamed });
    });
}

struct Groups<'a, T, D> {
    q: &'a [i8],
    /// Of all rows.
    s: &'a [f32],
    z: &'a [u8],
    y: &'a mut [T],
    /// The number of the first row.
    first: usize,
    cols: usize,
    block: usize,
    decoding: D,
    streamed: bool,
}

impl<T: Element, D: Decoding> Vectorize for Groups<'_, T, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        if self.streamed {
            self.write::<L, true>(lanes);
            lanes.fence();
        } else {
            self.write::<L, false>(lanes);
        }
    }
}

impl<T: Element, D: Decoding> Groups<'_, T, D> {
    #[inline(always)]
    fn write<L: Lanes, const STREAM: bool>(self, lanes: L) {
        let Groups { q, s, z, y, first, cols, block, decoding, .. } = self;
        let of_row = cols.div_ceil(block);
        let rows = q.chunks(cols.max(1)).zip(y.chunks_mut(cols.max(1)));
        for (row, (q, y)) in (first..).zip(rows) {
            let zero = lanes.splat_i32(z.get(row).copied().map_or(0, i32::from));
            for (group, (q, y)) in q.chunks(block).zip(y.chunks_mut(block)).enumerate() {
                let scale = lanes.splat(if let [one] = s { *one } else { s[row * of_row + group] });
                let (mut q, mut y) = (q.chunks_exact(L::LANES), y.chunks_exact_mut(L::LANES));
                for (q, y) in (&mut q).zip(&mut y) {
                    let number = decoding.number(lanes, lanes.load_i8(q), zero);
                    T::put::<L, STREAM>(lanes, lanes.mul(number, scale), y);
                }
                let (q, y) = (q.remainder(), y.into_remainder());
                if !q.is_empty() {
                    let mut whole = [0; crate::lanes::MAX_LANES];
                    whole[..q.len()].copy_from_slice(q);
                    let number = decoding.number(lanes, lanes.load_i8(&whole), zero);
                    T::store_partial(lanes, lanes.mul(number, scale), y);
                }
            }
        }
    }
}
