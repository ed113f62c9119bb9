//! What a case computes in: the types of its tensors, and what its sums are kept in.
//!
//! A precision has an id that case ids, suites, offers and records share: `f32`, `bf16`, `f16+f16` (sums in
//! f16), `bf16+p16` (probabilities, or what else there is halfway, in 16 bits), `i8-bf16` (codes of i8 that give bf16), `w8a16`
//! (weights of 8 bits, activations of 16), `w4a16-f16` (weights of 4, activations of f16), `w8a8+tc14x128` (tensor cores that keep 14 bits, promoted
//! every 128 terms), `w8a16+fp8` and `f32+q8` (activations that become codes on the way), `w16a32` (weights of 16 bits, activations of f32),
//! `f32+winograd` (an algorithm that rounds more). Each operation lists its own.

use crate::dtype::Dtype;
use crate::format::{self, Format};
use std::fmt;

/// Types of one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    pub id: &'static str,
    /// Of inputs and outputs that are not of a type of their own.
    pub dtype: Dtype,
    /// Of weights.
    pub weights: Dtype,
    /// Of results.
    pub output: Dtype,
    pub accumulator: Accumulator,
    /// What the results of one sum may be rounded to before they meet another: probabilities in attention.
    pub halfway: Option<Dtype>,
}

/// What sums are kept in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accumulator {
    /// `f32`, or what the unit does: `tc14x128`.
    pub name: &'static str,
    /// `None` is exact: integers.
    pub format: Option<Format>,
    /// So many terms are summed in `format`; their sums are then added up in f32.
    pub promoted: Option<usize>,
}

impl Accumulator {
    pub const F64: Accumulator = Accumulator { name: "f64", format: Some(format::F64), promoted: None };
    pub const F32: Accumulator = Accumulator { name: "f32", format: Some(format::F32), promoted: None };
    pub const F16: Accumulator = Accumulator { name: "f16", format: Some(format::F16), promoted: None };
    pub const I32: Accumulator = Accumulator { name: "i32", format: None, promoted: None };
    /// Tensor cores of the fp8 kind: 14 bits, promoted every 128 terms.
    pub const TC14X128: Accumulator = Accumulator {
        name: "tc14x128",
        format: Some(Format { precision: 14, width: 0, ..format::F32 }),
        promoted: Some(128),
    };

    /// The one that a type has when nothing else is said.
    pub const fn of(dtype: Dtype) -> Accumulator {
        match dtype {
            Dtype::F64 => Accumulator::F64,
            Dtype::I8 | Dtype::U8 | Dtype::I32 => Accumulator::I32,
            _ => Accumulator::F32,
        }
    }

    /// Relative error of one rounding; 0 where sums are exact.
    #[inline]
    pub fn unit_roundoff(&self) -> f64 {
        self.format.map_or(0.0, |format| format.unit_roundoff())
    }

    #[inline]
    pub fn smallest_subnormal(&self) -> f64 {
        self.format.map_or(0.0, |format| format.smallest_subnormal())
    }

    #[inline]
    pub fn smallest_normal(&self) -> f64 {
        self.format.map_or(0.0, |format| format.smallest_normal())
    }

    #[inline]
    pub fn max_finite(&self) -> f64 {
        self.format.map_or(f64::from(i32::MAX), |format| format.max_finite)
    }
}

impl fmt::Display for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Precision {
    /// Whether it is of whole numbers, whose rates are not of floating-point operations.
    pub const fn is_whole(&self) -> bool {
        self.accumulator.format.is_none()
    }

    /// A type with its usual accumulator; integers leave in theirs.
    pub const fn of(dtype: Dtype) -> Precision {
        let output = if matches!(dtype, Dtype::I8) { Dtype::I32 } else { dtype };
        let accumulator = Accumulator::of(dtype);
        Precision { id: dtype.name(), dtype, weights: dtype, output, accumulator, halfway: None }
    }

    /// f16 with sums in f16.
    pub const F16_F16: Precision =
        Precision { id: "f16+f16", accumulator: Accumulator::F16, ..Precision::of(Dtype::F16) };

    /// Codes of i8, whose exact sums are scaled in f32.
    pub const I8_F32: Precision = Precision {
        id: "i8-f32",
        output: Dtype::F32,
        accumulator: Accumulator::F32,
        ..Precision::of(Dtype::I8)
    };
    pub const I8_BF16: Precision = Precision { id: "i8-bf16", output: Dtype::Bf16, ..Precision::I8_F32 };

    /// Weights of fp8 with activations of fp8, or of bf16.
    pub const W8A8: Precision =
        Precision { id: "w8a8", output: Dtype::Bf16, ..Precision::of(Dtype::Fp8E4m3) };
    pub const W8A8_F32: Precision = Precision { id: "w8a8-f32", output: Dtype::F32, ..Precision::W8A8 };
    pub const W8A16: Precision =
        Precision { id: "w8a16", weights: Dtype::Fp8E4m3, ..Precision::of(Dtype::Bf16) };

    /// The same on tensor cores of the fp8 kind.
    pub const W8A8_TC: Precision =
        Precision { id: "w8a8+tc14x128", accumulator: Accumulator::TC14X128, ..Precision::W8A8 };
    /// Activations of bf16 that become codes of fp8 on the way, with a scale for each block.
    pub const W8A16_FP8: Precision =
        Precision { id: "w8a16+fp8", halfway: Some(Dtype::Fp8E4m3), ..Precision::W8A16 };

    /// Weights of 16 bits with activations and results of f32.
    pub const W16A32: Precision =
        Precision { id: "w16a32", weights: Dtype::Bf16, ..Precision::of(Dtype::F32) };
    pub const W16A32_F16: Precision =
        Precision { id: "w16a32-f16", weights: Dtype::F16, ..Precision::of(Dtype::F32) };

    /// Activations of f32 that become codes of i8 on the way, with a scale for each block.
    pub const F32_Q8: Precision =
        Precision { id: "f32+q8", halfway: Some(Dtype::I8), ..Precision::of(Dtype::F32) };

    /// Convolutions by Winograd's transforms, F(2×2, 3×3), which round more than sums of products do.
    pub const F32_WINOGRAD: Precision = Precision { id: "f32+winograd", ..Precision::of(Dtype::F32) };

    /// Weights of four bits, two in a byte, with activations of bf16 or f16.
    pub const W4A16: Precision = Precision { id: "w4a16", weights: Dtype::I8, ..Precision::of(Dtype::Bf16) };
    pub const W4A16_F16: Precision =
        Precision { id: "w4a16-f16", weights: Dtype::I8, ..Precision::of(Dtype::F16) };

    /// bf16 and f16 whose results halfway may be rounded to the same: probabilities before they meet values.
    pub const BF16_P16: Precision =
        Precision { id: "bf16+p16", halfway: Some(Dtype::Bf16), ..Precision::of(Dtype::Bf16) };
    pub const F16_P16: Precision =
        Precision { id: "f16+p16", halfway: Some(Dtype::F16), ..Precision::of(Dtype::F16) };

    /// The four float types that users have.
    pub const FLOATS: &[Precision] = &[
        Precision::of(Dtype::F32),
        Precision::of(Dtype::Bf16),
        Precision::of(Dtype::F16),
        Precision::of(Dtype::F64),
    ];
}

impl Precision {
    /// Whether sums, or what they are made of, are kept in less than 24 bits: their bound hides what a wider one shows.
    pub fn is_narrow(&self) -> bool {
        let narrow = |format: Format| format.precision < format::F32.precision;
        self.accumulator.format.is_some_and(narrow)
            || self.halfway.and_then(Dtype::format).is_some_and(narrow)
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id)
    }
}

/// Whether a text can be the id of a precision: lowercase letters, digits, `-` and `+`.
pub fn is_id(text: &str) -> bool {
    (1..=40).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'+')
}
