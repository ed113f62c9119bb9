//! X in blocks of codes too, as GGML computes: sums of products of bytes in each block, times both scales, added up.
//!
//! Over [`few_rows`](super::few_rows): an instruction multiplies 32 codes or more and nothing is widened first.

use std::ops::Range;

use super::few_rows::{AHEAD, GROUP, PIECE, UNIT};
use super::{Coded, RUN, SHARE, Scales};
use crate::bytes::{self, Bytes, OnBytes};
use crate::lanes::Lanes;
use crate::matmul::block::Block;
use crate::quantize::vector::{largest, rounded_away};
use crate::scratch::Scratch;
use crate::{Element, Isa, Pool, Product, Vectorize, f16};

/// Weights whose parts are 32 codes with one scale, for bytes.
pub(crate) trait Rounded: Coded {
    /// The codes of a part.
    fn bytes<B: Bytes>(bytes: B, codes: &[i8]) -> B::Codes;
}

/// Y = X·Wᵀ, by the threads of a pool. W was made for this shape.
pub(crate) fn multiply<W: Rounded>(isa: Isa, pool: &Pool, x: &[f32], w: W, y: &mut [f32], shape: Product) {
    let Product { m, n, k } = shape;
    assert!([x.len(), y.len()] == [m * k, m * n], "lengths of x and y for {shape:?}");
    if k == 0 || n == 0 {
        return y.fill(0.0);
    }
    let blocks = k.div_ceil(SHARE);
    for (x, y) in x.chunks(GROUP * k).zip(y.chunks_mut(GROUP * n)) {
        let m = x.len() / k;
        let (mut codes, mut scales) = (Scratch::take(m * blocks * SHARE), Scratch::take(m * blocks));
        isa.run(Round { x, k, codes: &mut codes, scales: &mut scales });
        let (codes, scales, y) = (&*codes, &*scales, Block::new(y, m, n));
        pool.run_parts(n, UNIT, PIECE.div_ceil(k), |cols| {
            // SAFETY: parts do not overlap.
            let y = unsafe { y.part(0..m, cols.clone()) };
            bytes::run(isa, Dots { codes, scales, w, blocks, cols, y });
        });
    }
}

/// X as what its codes and their scales stand for, for kernels that take numbers.
pub(crate) fn numbers(isa: Isa, x: &[f32], k: usize) -> Scratch<f32> {
    let (rows, blocks) = (x.len() / k.max(1), k.div_ceil(SHARE));
    let (mut codes, mut scales) = (Scratch::take(rows * blocks * SHARE), Scratch::take(rows * blocks));
    isa.run(Round { x, k, codes: &mut codes, scales: &mut scales });
    let mut numbers = Scratch::take(x.len());
    for (row, numbers) in numbers.chunks_mut(k.max(1)).enumerate() {
        for (block, numbers) in numbers.chunks_mut(SHARE).enumerate() {
            let at = block * rows + row;
            let codes = &codes[at * SHARE..];
            numbers.iter_mut().zip(codes).for_each(|(number, code)| *number = f32::from(*code) * scales[at]);
        }
    }
    numbers
}

/// Rows of X as codes, filled up with zeros to whole blocks, and scales as f16 holds them: a block of each row in turn.
struct Round<'a> {
    x: &'a [f32],
    k: usize,
    codes: &'a mut [i8],
    scales: &'a mut [f32],
}

impl Vectorize for Round<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Round { x, k, codes, scales } = self;
        let m = x.len() / k.max(1);
        for (row, x) in x.chunks_exact(k.max(1)).enumerate() {
            for (block, x) in x.chunks(SHARE).enumerate() {
                let at = block * m + row;
                let codes = &mut codes[at * SHARE..][..SHARE];
                let scale = largest(lanes, x) / 127.0;
                scales[at] = f16::from_f32(scale).to_f32();
                codes[x.len()..].fill(0);
                // Zeros over any number.
                let over = lanes.splat(if scale == 0.0 { 1.0 } else { scale });
                for (x, codes) in x.chunks(L::LANES).zip(codes.chunks_mut(L::LANES)) {
                    let quotient = lanes.div(f32::load_partial(lanes, x, 0.0), over);
                    lanes.store_i8(rounded_away(lanes, quotient, 127.0), codes);
                }
            }
        }
    }
}

/// Columns `cols` of Y from blocks of X.
struct Dots<'a, W> {
    codes: &'a [i8],
    scales: &'a [f32],
    w: W,
    blocks: usize,
    cols: Range<usize>,
    y: Block<'a, f32>,
}

impl<W: Rounded> OnBytes for Dots<'_, W> {
    #[inline(always)]
    fn run<B: Bytes>(self, bytes: B) {
        match self.y.rows() {
            1 => self.walk::<B, 1, 8>(bytes),
            2 => self.walk::<B, 2, 4>(bytes),
            3 => self.walk::<B, 3, 3>(bytes),
            4 => self.walk::<B, 4, 2>(bytes),
            5 => self.walk::<B, 5, 2>(bytes),
            6 => self.walk::<B, 6, 2>(bytes),
            7 => self.walk::<B, 7, 1>(bytes),
            _ => self.walk::<B, 8, 1>(bytes),
        }
    }
}

impl<W: Rounded> Dots<'_, W> {
    /// `M` rows of X by `R` rows of W at a time.
    #[inline(always)]
    fn walk<B: Bytes, const M: usize, const R: usize>(mut self, bytes: B) {
        let lanes = bytes.lanes();
        let Dots { codes: x, scales: of_x, w, blocks, .. } = self;
        let (first, length) = (self.cols.start, self.cols.len());
        let of_each = length.div_ceil(R);
        assert!(self.y.rows() == M && x.len() == M * blocks * SHARE && of_x.len() == M * blocks);
        for row in 0..of_each {
            let mut rows = [0; R];
            for (stream, of_w) in rows.iter_mut().enumerate() {
                // Streams that are a row short take their last one twice.
                *of_w = first + (stream * of_each + row).min(length - 1);
            }
            let mut sums = [[lanes.splat(0.0); R]; M];
            let mut scales = [Scales::NONE; R];
            for block in 0..blocks {
                let in_run = block % (RUN / SHARE);
                if in_run == 0 {
                    for r in 0..R {
                        w.scales(lanes, rows[r], block * SHARE / RUN, &mut scales[r]);
                    }
                }
                let (x, of_x) = (&x[block * M * SHARE..][..M * SHARE], &of_x[block * M..][..M]);
                for r in 0..R {
                    let codes = w.codes(rows[r], block);
                    lanes.prefetch(codes.as_ptr().wrapping_add(AHEAD));
                    let of_block = W::bytes(bytes, codes);
                    let of_w = lanes.splat(scales[r].scale[in_run]);
                    for i in 0..M {
                        let products = bytes.dot(of_block, bytes.load(&x[i * SHARE..]));
                        let scale = lanes.mul(of_w, lanes.splat(of_x[i]));
                        sums[i][r] = lanes.mul_add(products, scale, sums[i][r]);
                    }
                }
            }
            for (i, sums) in sums.into_iter().enumerate() {
                let y = self.y.row(i);
                for (stream, sum) in sums.into_iter().enumerate() {
                    y[(stream * of_each + row).min(length - 1)] = lanes.sum(sum);
                }
            }
        }
    }
}
