//! X as the rungs above the plain one read it: codes with scales, or bf16 without.

use super::Blocks;
use crate::{Fp8E4m3, bf16};

/// The side of a product that comes new with every call.
#[derive(Clone, Copy)]
pub(super) enum Activations<'a> {
    Codes(Blocks<'a>),
    Bf16(&'a [bf16]),
}

impl Activations<'_> {
    #[track_caller]
    pub(super) fn check(self, rows: usize, k: usize, block: usize) {
        match self {
            Activations::Codes(x) => {
                x.check(rows, k);
                assert_eq!(x.block, block, "blocks of one length");
            }
            Activations::Bf16(x) => assert_eq!(x.len(), rows * k, "{rows} rows of {k} numbers"),
        }
    }

    /// An element of a row, without its scale.
    #[inline(always)]
    pub(super) fn get(self, at: usize) -> f32 {
        match self {
            Activations::Codes(x) => DECODED[usize::from(x.codes[at].0)],
            Activations::Bf16(x) => x[at].to_f32(),
        }
    }

    /// The scale of a block of a row, of so many blocks.
    #[inline(always)]
    pub(super) fn scale(self, row: usize, block: usize, blocks: usize) -> f32 {
        match self {
            Activations::Codes(x) => x.scales[row / x.rows * blocks + block],
            Activations::Bf16(_) => 1.0,
        }
    }
}

/// What each code stands for.
pub(super) const DECODED: [f32; 256] = {
    let mut decoded = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        decoded[code] = Fp8E4m3(code as u8).to_f32();
        code += 1;
    }
    decoded
};
