//! Blocks of 32 codes with a scale in f16 each, as GGML's Q8_0 and Q4_0 have them: scales apart, or in two bytes before codes.

use super::{Coded, RUN, SHARE, Scales, look_up};
use crate::bytes::Bytes;
use crate::coded::rounded::Rounded;
use crate::lanes::Lanes;
use crate::{Element, Product, f16};

/// Elements of a block.
const BLOCK: usize = SHARE;
/// Blocks of a run.
const BLOCKS: usize = RUN / BLOCK;

/// Rows of whole blocks of so many bytes of codes.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a, const BYTES: usize> {
    /// In the bytes before codes where there are none here.
    scales: Option<&'a [f16]>,
    codes: &'a [i8],
    /// Blocks of a row.
    of_row: usize,
}

impl<'a, const BYTES: usize> Blocks<'a, BYTES> {
    /// Scales `s` and codes `q` apart.
    #[track_caller]
    pub(crate) fn apart(s: &'a [f16], q: &'a [i8], shape: Product) -> Self {
        let of_row = shape.k.div_ceil(BLOCK);
        let blocks = shape.n * of_row;
        assert!([s.len(), q.len()] == [blocks, BYTES * blocks], "lengths of s and q for {shape:?}");
        Self { scales: Some(s), codes: q, of_row }
    }

    /// Scales before codes.
    #[track_caller]
    pub(crate) fn raw(w: &'a [i8], shape: Product) -> Self {
        let of_row = shape.k.div_ceil(BLOCK);
        assert_eq!(w.len(), (2 + BYTES) * shape.n * of_row, "length of w for {shape:?}");
        Self { scales: None, codes: w, of_row }
    }

    /// The scales of a run, each times `offset` as offsets.
    #[inline(always)]
    fn scales<L: Lanes>(self, lanes: L, row: usize, run: usize, scales: &mut Scales, offset: f32) {
        let first = row * self.of_row + run * BLOCKS;
        let count = BLOCKS.min(self.of_row - run * BLOCKS);
        let mut narrow = [f16::ZERO; BLOCKS];
        match self.scales {
            Some(s) => narrow[..count].copy_from_slice(&s[first..first + count]),
            None => {
                let blocks = self.codes[first * (2 + BYTES)..].chunks_exact(2 + BYTES);
                for (narrow, block) in narrow[..count].iter_mut().zip(blocks) {
                    *narrow = f16::from_le_bytes([block[0] as u8, block[1] as u8]);
                }
            }
        }
        for at in (0..BLOCKS).step_by(L::LANES) {
            let wide = f16::load(lanes, &narrow[at..at + L::LANES]);
            lanes.store_f32(wide, &mut scales.scale[at..]);
            lanes.store_f32(lanes.mul(wide, lanes.splat(offset)), &mut scales.offset[at..]);
        }
    }

    #[inline(always)]
    fn codes(&self, row: usize, block: usize) -> &[i8] {
        let block = row * self.of_row + block;
        match self.scales {
            Some(_) => &self.codes[block * BYTES..][..BYTES],
            None => &self.codes[block * (2 + BYTES) + 2..][..BYTES],
        }
    }
}

/// Codes of eight bits.
impl Coded for Blocks<'_, 32> {
    const PART: usize = BLOCK;
    const BYTES: usize = 32;

    #[inline(always)]
    fn scales<L: Lanes>(self, lanes: L, row: usize, run: usize, scales: &mut Scales) {
        self.scales(lanes, row, run, scales, 0.0);
    }
    #[inline(always)]
    fn codes(&self, row: usize, part: usize) -> &[i8] {
        self.codes(row, part)
    }
    #[inline(always)]
    fn numbers<L: Lanes>(lanes: L, codes: &[i8], scales: &Scales, part: usize, place: usize) -> L::F {
        let codes = lanes.of_i32(lanes.load_i8(&codes[place..]));
        lanes.mul(codes, lanes.splat(scales.scale[part]))
    }
}

impl Rounded for Blocks<'_, 32> {
    #[inline(always)]
    fn bytes<B: Bytes>(bytes: B, codes: &[i8]) -> B::Codes {
        bytes.load(codes)
    }
}

/// Codes of four bits, the code 8 for zero.
impl Coded for Blocks<'_, 16> {
    const PART: usize = BLOCK;
    const BYTES: usize = 16;

    #[inline(always)]
    fn scales<L: Lanes>(self, lanes: L, row: usize, run: usize, scales: &mut Scales) {
        self.scales(lanes, row, run, scales, -8.0);
    }
    #[inline(always)]
    fn codes(&self, row: usize, part: usize) -> &[i8] {
        self.codes(row, part)
    }
    #[inline(always)]
    fn numbers<L: Lanes>(lanes: L, codes: &[i8], scales: &Scales, part: usize, place: usize) -> L::F {
        look_up(lanes, codes, Self::BYTES, scales, part, place)
    }
}

impl Rounded for Blocks<'_, 16> {
    #[inline(always)]
    fn bytes<B: Bytes>(bytes: B, codes: &[i8]) -> B::Codes {
        bytes.load_halves(codes)
    }
}
