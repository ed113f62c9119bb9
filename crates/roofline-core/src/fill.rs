//! Contents of input tensors: element k is a function of (seed, tensor, k) and of nothing else.
//!
//! `docs/format.md` specifies every family with test vectors. Only additions, multiplications and
//! bit operations are used, so the bits are the same on every machine, thread count and tile order.

use crate::dtype::Dtype;
use crate::format::power_of_two;
use crate::philox::philox;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// A family of inputs. Each finds bugs that the others let pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Uniform in [-1, 1), full entropy: what is timed.
    Uniform,
    /// Mean 0, deviation 1: polices the precision class.
    Normal,
    /// Normal around a large mean: one-pass variances, means in low precision.
    Shifted,
    /// Coded by position with a prime period: swizzles, copied neighbours.
    Ramp,
    /// Small integers, exact in every accumulator: any indexing error at all.
    Integers,
    /// One 1 a row in the first input, ramps in the others: transposes, strides.
    OneHot,
    /// Magnitudes up to what the accumulator bears, over twenty powers of two.
    Extreme,
    /// Uniform with infinities, NaNs and negative zeros planted.
    Nonfinite,
}

impl Fill {
    pub const ALL: &[Fill] = &[
        Fill::Uniform,
        Fill::Normal,
        Fill::Shifted,
        Fill::Ramp,
        Fill::Integers,
        Fill::OneHot,
        Fill::Extreme,
        Fill::Nonfinite,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Fill::Uniform => "uniform",
            Fill::Normal => "normal",
            Fill::Shifted => "shifted",
            Fill::Ramp => "ramp",
            Fill::Integers => "integers",
            Fill::OneHot => "one-hot",
            Fill::Extreme => "extreme",
            Fill::Nonfinite => "nonfinite",
        }
    }

    /// Whether rounding errors may depend on the order of summation by more than the sequential model says.
    pub fn order_matters(self) -> bool {
        matches!(self, Fill::Extreme | Fill::Ramp | Fill::OneHot)
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Everything that the content of one tensor depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Content {
    pub fill: Fill,
    pub seed: u64,
    /// Position of the tensor among the inputs of its operation.
    pub tensor: u32,
    pub dtype: Dtype,
    /// Length of the last dimension, at least 1.
    pub row: usize,
    /// Largest magnitude of `Extreme`.
    pub limit: f64,
}

impl Content {
    /// Writes the elements `range` to the start of `bytes`.
    pub fn write(&self, range: Range<usize>, bytes: &mut [u8]) {
        let mut at = 0;
        // Two elements share a block of random bits.
        for block in range.start / 2..range.end.div_ceil(2) {
            let words = philox([block as u32, (block as u64 >> 32) as u32, self.tensor, 0], self.seed);
            for (index, pair) in [(2 * block, &words[..2]), (2 * block + 1, &words[2..])] {
                if range.contains(&index) {
                    let bits = u64::from(pair[0]) << 32 | u64::from(pair[1]);
                    self.dtype.write(bytes, at, self.value(index, bits));
                    at += 1;
                }
            }
        }
    }

    /// Element `index` with its random bits, before it is rounded to the tensor's type.
    #[inline]
    fn value(&self, index: usize, bits: u64) -> f64 {
        let integer = self.dtype.format().is_none();
        match self.fill {
            Fill::Uniform if integer => f64::from((bits >> 56) as i8),
            Fill::Uniform => uniform(bits),
            Fill::Normal if integer => (normal(bits) * 32.0).round_ties_even(),
            Fill::Normal => normal(bits),
            Fill::Shifted if integer => 64.0 + (normal(bits) * 8.0).round_ties_even(),
            Fill::Shifted => self.shift() + normal(bits),
            Fill::Ramp => self.ramp(index, integer),
            Fill::Integers => (bits % 9) as f64 - 4.0,
            Fill::OneHot if self.tensor > 0 => self.ramp(index, integer),
            Fill::OneHot => f64::from(u8::from(index % self.row == self.hot(index / self.row))),
            Fill::Extreme => self.extreme(bits, integer),
            Fill::Nonfinite => self.nonfinite(bits),
        }
    }

    /// A mean as large as leaves the type half its digits below it.
    fn shift(&self) -> f64 {
        let precision = self.dtype.format().map_or(0, |format| format.precision);
        power_of_two((precision / 2).min(10))
    }

    fn ramp(&self, index: usize, integer: bool) -> f64 {
        let step = (index % 251) as f64 - 125.0;
        if integer { step } else { step / 64.0 }
    }

    /// The column of a row's 1.
    fn hot(&self, row: usize) -> usize {
        let row = row as u64;
        let words = philox([row as u32, (row >> 32) as u32, self.tensor, 1], self.seed);
        words[0] as usize % self.row
    }

    fn extreme(&self, bits: u64, integer: bool) -> f64 {
        if integer {
            return if bits & 1 == 0 { 127.0 } else { -128.0 };
        }
        let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
        let exponent = (bits >> 1 & 31) % 21;
        let significand = 0.5 + (bits >> 12) as f64 * power_of_two(-53);
        sign * self.limit * significand * power_of_two(-(exponent as i32))
    }

    /// About one row in four has one special value, so that most outputs stay finite.
    fn nonfinite(&self, bits: u64) -> f64 {
        let period = (4 * self.row as u64).max(16);
        let draw = bits & 0xffff_ffff;
        if !draw.is_multiple_of(period) {
            return uniform(bits);
        }
        match draw / period % 4 {
            0 => f64::INFINITY,
            1 => f64::NEG_INFINITY,
            2 => f64::NAN,
            _ => -0.0,
        }
    }
}

fn uniform(bits: u64) -> f64 {
    (bits >> 11) as f64 * power_of_two(-52) - 1.0
}

/// The count of 32 fair bits, smoothed by a uniform: mean 0, deviation 1, and no libm.
fn normal(bits: u64) -> f64 {
    let ones = f64::from(((bits >> 32) as u32).count_ones());
    let smooth = (bits & 0xffff_ffff) as f64 * power_of_two(-32);
    // 1 / sqrt(32 / 4 + 1 / 12)
    (ones - 16.0 + smooth - 0.5) * 0.351_726_229_056_329_5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(fill: Fill, dtype: Dtype) -> Content {
        Content { fill, seed: 42, tensor: 0, dtype, row: 64, limit: 1e10 }
    }

    fn values(fill: Fill, dtype: Dtype, count: usize) -> Vec<f64> {
        let mut bytes = vec![0; count * dtype.size()];
        content(fill, dtype).write(0..count, &mut bytes);
        (0..count).map(|i| dtype.read(&bytes, i)).collect()
    }

    #[test]
    fn parts_equal_the_whole() {
        for fill in Fill::ALL {
            for dtype in [Dtype::F32, Dtype::Bf16, Dtype::F16, Dtype::F64] {
                let content = content(*fill, dtype);
                let mut whole = vec![0; 1000 * dtype.size()];
                content.write(0..1000, &mut whole);
                let mut part = vec![0; 100 * dtype.size()];
                content.write(333..433, &mut part);
                assert_eq!(part, whole[333 * dtype.size()..433 * dtype.size()], "{fill} {dtype}");
            }
        }
    }

    #[test]
    fn test_vectors_of_the_format_page() {
        let page = include_str!("../../../docs/format.md");
        let seed_42 = |fill, dtype| Content { fill, seed: 42, tensor: 0, dtype, row: 4, limit: 1e10 };
        for (fill, dtype) in [
            (Fill::Uniform, Dtype::F32),
            (Fill::Uniform, Dtype::I8),
            (Fill::Normal, Dtype::F32),
            (Fill::Shifted, Dtype::Bf16),
            (Fill::Ramp, Dtype::F32),
            (Fill::Integers, Dtype::F32),
            (Fill::OneHot, Dtype::F32),
            (Fill::Extreme, Dtype::F32),
            (Fill::Nonfinite, Dtype::F32),
        ] {
            let mut bytes = vec![0; 4 * dtype.size()];
            seed_42(fill, dtype).write(0..4, &mut bytes);
            let hex: Vec<String> = bytes
                .chunks(dtype.size())
                .map(|code| code.iter().rev().map(|byte| format!("{byte:02x}")).collect())
                .collect();
            let line = format!("| {fill} | {dtype} | `{}` |", hex.join(" "));
            assert!(page.contains(&line), "docs/format.md lacks the line\n{line}");
        }
    }

    #[test]
    fn moments() {
        let normal = values(Fill::Normal, Dtype::F64, 100_000);
        let mean = normal.iter().sum::<f64>() / 1e5;
        let variance = normal.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
        let uniform = values(Fill::Uniform, Dtype::F32, 100_000);
        assert!(uniform.iter().all(|x| (-1.0..=1.0).contains(x)));
        assert!((uniform.iter().map(|x| x * x).sum::<f64>() / 1e5 - 1.0 / 3.0).abs() < 0.01);
    }

    #[test]
    fn families_are_what_they_say() {
        let one_hot = values(Fill::OneHot, Dtype::F32, 64 * 10);
        for row in one_hot.chunks(64) {
            assert_eq!(row.iter().sum::<f64>(), 1.0);
        }
        let nonfinite = values(Fill::Nonfinite, Dtype::F32, 64 * 400);
        let special = nonfinite.chunks(64).filter(|row| row.iter().any(|x| !x.is_finite())).count();
        assert!((20..200).contains(&special), "{special} of 400 rows");
        let extreme = values(Fill::Extreme, Dtype::F32, 1000);
        assert!(extreme.iter().all(|x| x.abs() <= 1e10 && x.abs() > 1e3));
        let integers = values(Fill::Integers, Dtype::F16, 1000);
        assert!(integers.iter().all(|x| x.fract() == 0.0 && x.abs() <= 4.0));
    }
}
