//! Float types as plain kernels see them: widened exactly, computed, rounded once.

use std::iter::Sum;
use std::ops::AddAssign;

use half::{bf16, f16};
use num_traits::Float;

use crate::Cpu;
use crate::elementwise::{Formula, Over};

/// A float type of tensors.
pub trait Scalar: crate::Datum {
    /// What it is computed in: f64 for itself, f32 for the rest.
    type Wide: Real;
    /// Exact.
    fn wide(self) -> Self::Wide;
    /// Rounded to nearest even; beyond the largest number is infinity.
    fn narrow(value: Self::Wide) -> Self;
    /// Applies a formula over lanes; whether the type has them.
    #[doc(hidden)]
    fn over_lanes<const N: usize>(
        cpu: &Cpu,
        x: [&[Self]; N],
        y: &mut [Self],
        formula: impl Formula<N>,
    ) -> bool;
}

/// A type that formulas are computed in.
pub trait Real: Float + Sum + AddAssign + Default + Send + Sync + std::fmt::Debug + 'static {
    /// A constant of a formula.
    fn of(constant: f64) -> Self;
    /// Exact for f32.
    fn in_f64(self) -> f64;
    /// The error function.
    fn erf(self) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn of(constant: f64) -> Self {
        constant as f32
    }
    #[inline(always)]
    fn in_f64(self) -> f64 {
        f64::from(self)
    }
    fn erf(self) -> Self {
        libm::erff(self)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(constant: f64) -> Self {
        constant
    }
    #[inline(always)]
    fn in_f64(self) -> f64 {
        self
    }
    fn erf(self) -> Self {
        libm::erf(self)
    }
}

macro_rules! scalars {
    ($($type:ident in $wide:ident by $widen:expr, $narrow:expr, $lanes:ident;)*) => {$(
        impl Scalar for $type {
            type Wide = $wide;
            #[inline(always)]
            fn wide(self) -> $wide {
                $widen(self)
            }
            #[inline(always)]
            fn narrow(value: $wide) -> Self {
                $narrow(value)
            }
            fn over_lanes<const N: usize>(
                cpu: &Cpu,
                x: [&[Self]; N],
                y: &mut [Self],
                formula: impl Formula<N>,
            ) -> bool {
                scalars!($lanes cpu, x, y, formula)
            }
        }
    )*};
    (lanes $cpu:ident, $x:ident, $y:ident, $formula:ident) => {{
        $cpu.isa.run(Over { x: $x, y: $y, formula: $formula });
        true
    }};
    (plain $cpu:ident, $x:ident, $y:ident, $formula:ident) => {{
        let _ = ($cpu, $x, $y, $formula);
        false
    }};
}

scalars! {
    f64 in f64 by std::convert::identity, std::convert::identity, plain;
    f32 in f32 by std::convert::identity, std::convert::identity, lanes;
    bf16 in f32 by bf16::to_f32, bf16::from_f32, lanes;
    f16 in f32 by f16::to_f32, f16::from_f32, lanes;
}
