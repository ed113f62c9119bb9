//! How lanes decode the blocks: two parts share their bytes, and the six bits of eight scales and offsets are put together at
//! once.

use super::{BLOCK, CODES, PART, RAW, SCALES};
use crate::coded::{Coded, RUN, Scales, look_up};
use crate::lanes::{Lanes, MAX_LANES};
use crate::{Element, Product, f16};

/// Parts of a block.
const PARTS: usize = BLOCK / PART;

/// Rows of whole blocks.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a> {
    w: &'a [i8],
    /// Blocks of a row.
    of_row: usize,
}

impl<'a> Blocks<'a> {
    #[track_caller]
    pub(super) fn new(w: &'a [i8], shape: Product) -> Self {
        let Product { n, k, .. } = shape;
        assert!(k.is_multiple_of(BLOCK) && w.len() == n * (k / BLOCK * RAW), "length of w for {shape:?}");
        Self { w, of_row: k / BLOCK }
    }

    fn block(&self, row: usize, block: usize) -> &'a [i8] {
        &self.w[(row * self.of_row + block) * RAW..][..RAW]
    }
}

impl Coded for Blocks<'_> {
    /// Low halves, then high ones.
    const PART: usize = 2 * PART;
    const BYTES: usize = PART;

    #[inline(always)]
    fn scales<L: Lanes>(self, lanes: L, row: usize, run: usize, scales: &mut Scales) {
        let blocks = run * (RUN / BLOCK)..self.of_row.min((run + 1) * (RUN / BLOCK));
        for (index, block) in blocks.enumerate() {
            let block = self.block(row, block);
            let number = |at: usize| f16::from_le_bytes([block[at] as u8, block[at + 1] as u8]);
            let mut narrow = [f16::ZERO; MAX_LANES];
            (narrow[0], narrow[1]) = (number(0), -number(2));
            let mut wide = [0.0; MAX_LANES];
            lanes.store_f32(f16::load(lanes, &narrow), &mut wide);
            let parts = index * PARTS..(index + 1) * PARTS;
            let six = sixes(&block[SCALES..CODES]);
            for (scale, six) in scales.scale[parts.clone()].iter_mut().zip(six[0]) {
                *scale = wide[0] * f32::from(six);
            }
            for (offset, six) in scales.offset[parts].iter_mut().zip(six[1]) {
                *offset = wide[1] * f32::from(six);
            }
        }
    }
    #[inline(always)]
    fn codes(&self, row: usize, part: usize) -> &[i8] {
        let of_block = BLOCK / Self::PART;
        let block = self.block(row, part / of_block);
        &block[CODES + part % of_block * Self::BYTES..][..Self::BYTES]
    }
    #[inline(always)]
    fn numbers<L: Lanes>(lanes: L, codes: &[i8], scales: &Scales, part: usize, place: usize) -> L::F {
        look_up(lanes, codes, Self::BYTES, scales, 2 * part + place / PART, place)
    }
}

/// The scales of eight parts, and their offsets, from twelve bytes; where their bits lie is said at [`part`](super::part).
#[inline(always)]
fn sixes(bytes: &[i8]) -> [[u8; PARTS]; 2] {
    let four = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i] as u8));
    let (scales, offsets, later) = (four(0), four(4), four(8));
    let (lower, upper) = (0x0f0f_0f0f, 0x3030_3030);
    let eight = |first: u32, later: u32| {
        let second = later & lower | first >> 2 & upper;
        (u64::from(second) << 32 | u64::from(first & (lower | upper))).to_le_bytes()
    };
    [eight(scales, later), eight(offsets, later >> 4)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_at_once_are_as_one_by_one() {
        for seed in 0..200u8 {
            let bytes: [i8; 12] =
                std::array::from_fn(|i| seed.wrapping_mul(37).wrapping_add(i as u8 * 91) as i8);
            let [scales, offsets] = sixes(&bytes);
            for index in 0..PARTS {
                assert_eq!([scales[index], offsets[index]], super::super::part(&bytes, index));
            }
        }
    }
}
