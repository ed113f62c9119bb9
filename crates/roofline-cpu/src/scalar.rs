//! Float types as plain kernels see them: widened exactly, computed, rounded once.

use std::iter::Sum;
use std::ops::AddAssign;

use half::{bf16, f16};
use num_traits::Float;

use crate::Element;
use crate::scratch::Plain;

/// A float type of tensors.
pub trait Scalar: crate::Datum + Plain {
    /// What it is computed in: f64 for itself, f32 for the rest.
    type Wide: Real;
    /// Exact.
    fn wide(self) -> Self::Wide;
    /// Rounded to nearest even; beyond the largest number is infinity.
    fn narrow(value: Self::Wide) -> Self;
    /// Does what is for types that have lanes; whether this is one.
    #[doc(hidden)]
    fn in_lanes(work: impl InLanes<Self>) -> bool;
}

/// Work for types that have lanes.
#[doc(hidden)]
pub trait InLanes<T> {
    /// Does it.
    fn run(self)
    where
        T: Element;
}

/// A type that formulas are computed in.
pub trait Real: Float + Sum + AddAssign + Default + Plain + std::fmt::Debug {
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
            fn in_lanes(work: impl InLanes<Self>) -> bool {
                scalars!($lanes work)
            }
        }
    )*};
    (lanes $work:ident) => {{
        $work.run();
        true
    }};
    (plain $work:ident) => {{
        let _ = $work;
        false
    }};
}

scalars! {
    f64 in f64 by std::convert::identity, std::convert::identity, plain;
    f32 in f32 by std::convert::identity, std::convert::identity, lanes;
    bf16 in f32 by bf16::to_f32, bf16::from_f32, lanes;
    f16 in f32 by f16::to_f32, f16::from_f32, lanes;
}

#[cfg(test)]
mod tests {
    use crate::{Cpu, Rows};

    #[test]
    fn a_type_without_lanes_takes_the_plain_rung() {
        let (cpu, shape) = (Cpu::new(2), Rows { rows: 1, cols: 2 });
        let mut y = [0.0f64; 2];
        crate::softmax(&cpu, &[3.0, 3.0], &mut y, shape);
        assert_eq!(y, [0.5; 2]);
        crate::add(&cpu, &[1.0, 2.0], &[1e-12; 2], &mut y, shape);
        assert_eq!(y, [1.0 + 1e-12, 2.0 + 1e-12]);
        crate::rms_norm(&cpu, &[2.0, -2.0], &[1.0, 2.0], &mut y, shape, 0.0);
        assert_eq!(y, [1.0, -2.0]);
    }
}
