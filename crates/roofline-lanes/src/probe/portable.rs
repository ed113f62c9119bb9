//! Arithmetic in plain Rust, as far as the compiler's baseline goes.
//!
//! Multiplication and addition apart: a fused one is a library call where the baseline has none.

use super::compute::{F64_SPECIAL, Loop, Unit, exponentials};
use crate::Isa;
use std::hint::black_box;

/// Vectors under way, and bytes of a vector of the baseline.
const ACCUMULATORS: usize = 8;
const GRAIN: u64 = 64;

/// A loop over `ACCUMULATORS` vectors of `$lanes` numbers: x = x · a + b, or x = x + b.
macro_rules! chains {
    ($type:ty, $lanes:literal, |$x:ident, $a:ident, $b:ident| $step:expr) => {
        Loop {
            operations: $lanes * ACCUMULATORS as u64,
            run: |blocks| {
                let ($a, $b): ($type, $type) = (black_box(0.5), black_box(1.0));
                let mut sums: [[$type; $lanes]; ACCUMULATORS] = [[$a; $lanes]; ACCUMULATORS];
                for _ in 0..blocks {
                    for sum in &mut sums {
                        for $x in sum {
                            *$x = $step;
                        }
                    }
                }
                black_box(sums);
            },
        }
    };
}

const FMA_F64: Loop = chains!(f64, 2, |x, a, b| *x * a + b);

pub(super) const F32: Unit = Unit {
    multiply_add: chains!(f32, 4, |x, a, b| *x * a + b),
    simple: chains!(f32, 4, |x, a, b| *x + b),
    special: exponentials(Isa::Portable),
    grain: GRAIN,
};

pub(super) const F64: Unit = Unit {
    multiply_add: FMA_F64,
    simple: chains!(f64, 2, |x, a, b| *x + b),
    special: Loop { operations: FMA_F64.operations / F64_SPECIAL, ..FMA_F64 },
    grain: GRAIN,
};
