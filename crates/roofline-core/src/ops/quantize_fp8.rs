//! `quantize-fp8`: codes q = round(x / s) in fp8-e4m3 with the scale s = max|x| / 448 of each row or each 128 of it; a group
//! of zeros has the scale 1. Rounded to nearest, ties to even, and never beyond 448, where the type has only NaN.

use super::quantize::{self, Codes, How, TYPES, has_groups, judged, mutant, quantized};
use crate::dtype::Dtype::{self, Bf16, F32};
use crate::fill::Fill;
use crate::format::FP8_E4M3;
use crate::operation::{Mutant, Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "quantize-fp8",
    also: &["quantise-fp8"],
    about: "q = round(x / s) in fp8-e4m3, s = max|x| / 448, and 1 where all is zero",
    variants: &[
        Variant { name: "", about: "a scale for each row" },
        Variant { name: "block", about: "a scale for each 128 of a row" },
    ],
    precisions: TYPES,
    tensors: |case| quantize::tensors(case, E4M3),
    judged: judged(|all, output, wanted| quantized(all, output, wanted, RIGHT)),
    mutants: &[
        mutant("scale of the maximum, not of the largest magnitude", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { size: |x| x, ..RIGHT })
        }),
        mutant("cut off, not rounded", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { round: |x, _| cut(x), ..RIGHT })
        }),
        mutant("scale rounded to bf16", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { held: Bf16, ..RIGHT })
        }),
        mutant("scale for the largest number of another format", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { codes: Codes { most: 240.0, ..E4M3 }, ..RIGHT })
        }),
        Mutant {
            of: has_groups,
            ..mutant("the scale of the next group", Fill::Normal, |all, output, wanted| {
                quantized(all, output, wanted, How { beside: 1, ..RIGHT })
            })
        },
        Mutant {
            of: has_groups,
            ..mutant("zeros over their own scale", Fill::Integers, |all, output, wanted| {
                quantized(all, output, wanted, How { of_zeros: 0.0, ..RIGHT })
            })
        },
    ],
    ..quantize::OPERATION
};

pub(super) const E4M3: Codes = Codes { dtype: Dtype::Fp8E4m3, most: 448.0, block: 128 };

pub(super) const RIGHT: How = How {
    codes: E4M3,
    size: |x| x.abs(),
    of_zeros: 1.0,
    held: F32,
    beside: 0,
    round: |x, _| FP8_E4M3.round(x.clamp(-448.0, 448.0)),
};

/// The number of the type next to x towards zero.
pub(super) fn cut(x: f64) -> f64 {
    let nearest = FP8_E4M3.round(x.clamp(-448.0, 448.0));
    if nearest.abs() <= x.abs() {
        return nearest;
    }
    // Codes count upwards with the magnitude.
    FP8_E4M3.decode(FP8_E4M3.encode(nearest) - 1)
}
