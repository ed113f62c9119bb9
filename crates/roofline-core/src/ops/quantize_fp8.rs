//! `quantize-fp8`: codes q = round(x / s) in fp8-e4m3 with the scale s = max|x| / 448 of each row or each block of it; a group
//! of zeros has the scale 1. Rounded to nearest, ties to even, and never beyond 448, where the type has only NaN.
//! `quantize-fp8.e5m2` is the same in fp8-e5m2, whose largest number is 57344.

use super::quantize::{self, Codes, How, TYPES, block, has_groups, judged, mutant, quantized};
use crate::case::Case;
use crate::dtype::Dtype::{self, Bf16, F32};
use crate::fill::Fill;
use crate::format::{FP8_E4M3, FP8_E5M2, Format};
use crate::operation::{Mutant, Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "quantize-fp8",
    also: &["quantise-fp8"],
    about: "q = round(x / s) in fp8-e4m3, s = max|x| / 448, and 1 where all is zero",
    variants: &[
        Variant { name: "", about: "a scale for each row" },
        Variant { name: "block", about: "a scale for each block of a row" },
        Variant { name: "e5m2", about: "a scale for each row, codes in fp8-e5m2" },
    ],
    params: &[block(128.0)],
    precisions: TYPES,
    tensors: |case| quantize::tensors(case, RIGHT),
    judged: judged(|all, output, wanted| quantized(all, output, wanted, RIGHT)),
    mutants: &[
        mutant("scale of the maximum, not of the largest magnitude", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { size: |x| x, ..RIGHT })
        }),
        mutant("cut off, not rounded", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { round: |x, case| cut_to(format(case), x), ..RIGHT })
        }),
        mutant("scale rounded to bf16", Fill::Normal, |all, output, wanted| {
            quantized(all, output, wanted, How { held: Bf16, ..RIGHT })
        }),
        mutant("scale for the largest number of another format", Fill::Normal, |all, output, wanted| {
            quantized(
                all,
                output,
                wanted,
                How { codes: |case| Codes { over: 240.0, ..codes(case) }, ..RIGHT },
            )
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

fn format(case: &Case) -> Format {
    if case.variant == "e5m2" { FP8_E5M2 } else { FP8_E4M3 }
}

fn codes(case: &Case) -> Codes {
    let dtype = if case.variant == "e5m2" { Dtype::Fp8E5m2 } else { Dtype::Fp8E4m3 };
    let most = dtype.max_finite();
    Codes { dtype, least: -most, most, over: most }
}

pub(super) const RIGHT: How = How {
    codes,
    size: |x| x.abs(),
    of_zeros: 1.0,
    held: F32,
    beside: 0,
    round: |x, case| nearest(format(case), x),
};

fn nearest(format: Format, x: f64) -> f64 {
    format.round(x.clamp(-format.max_finite, format.max_finite))
}

/// The number of fp8-e4m3 next to x towards zero.
pub(super) fn cut(x: f64) -> f64 {
    cut_to(FP8_E4M3, x)
}

fn cut_to(format: Format, x: f64) -> f64 {
    let nearest = nearest(format, x);
    if nearest.abs() <= x.abs() {
        return nearest;
    }
    // Codes count upwards with the magnitude.
    format.decode(format.encode(nearest) - 1)
}
