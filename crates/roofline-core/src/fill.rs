//! Contents of input tensors: element k is a function of (seed, tensor, k) and of nothing else.
//!
//! `docs/format.md` specifies every family with test vectors. Only additions, multiplications and
//! bit operations are used, so the bits are the same on every machine, thread count and tile order.

mod meant;
mod planted;

use crate::dtype::Dtype;
use crate::format::power_of_two;
use crate::philox::{philox, philox_along};
use crate::tensor::Content;
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
    /// Normal around a large mean, above or below zero row by row: one-pass variances, means in low
    /// precision.
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
    /// Rows of eight kinds with dominating values at their ends and borders: missed tails, maxima from
    /// zero, forgotten constants.
    Planted,
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
        Fill::Planted,
    ];

    /// All but infinities and NaN, for operations whose honest kernels differ there.
    pub const FINITE: &[Fill] = &[
        Fill::Uniform,
        Fill::Normal,
        Fill::Shifted,
        Fill::Ramp,
        Fill::Integers,
        Fill::OneHot,
        Fill::Extreme,
        Fill::Planted,
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
            Fill::Planted => "planted",
        }
    }

    /// Whether rounding errors may depend on the order of summation by more than the sequential model says.
    pub fn order_matters(self) -> bool {
        matches!(self, Fill::Extreme | Fill::Ramp | Fill::OneHot | Fill::Planted)
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Everything that the elements of one tensor depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    pub fill: Fill,
    pub seed: u64,
    /// Position of the tensor among the inputs of its operation.
    pub tensor: u32,
    pub dtype: Dtype,
    /// Length of a row, at least 1: of the last dimension, unless rows run along another.
    pub row: usize,
    /// How far apart the elements of a row lie: 1, unless rows run along another dimension.
    pub apart: usize,
    /// Whether planted rows are of the kinds that the first tensor's are of.
    pub alike: bool,
    pub elements: usize,
    /// What they mean. Values are those of the family; anything else has contents of its own.
    pub content: Content,
}

impl Filling {
    /// Writes the elements `range` to the start of `bytes`.
    pub fn write(&self, range: Range<usize>, bytes: &mut [u8]) {
        // Most of all that is filled is what is timed: its type and family are looked at once.
        let is_timed = self.fill == Fill::Uniform && matches!(self.content, Content::Values { .. });
        let first = range.start;
        match self.dtype {
            Dtype::F32 if is_timed => {
                self.each(range, |index, bits| Dtype::F32.write(bytes, index - first, uniform(bits)));
            }
            Dtype::Bf16 if is_timed => {
                self.each(range, |index, bits| Dtype::Bf16.write(bytes, index - first, uniform(bits)));
            }
            dtype => {
                let mut line = None;
                self.each(range, |index, bits| {
                    dtype.write(bytes, index - first, self.value(index, bits, &mut line));
                });
            }
        }
    }

    /// Goes through elements with their random bits.
    #[inline]
    fn each(&self, range: Range<usize>, mut work: impl FnMut(usize, u64)) {
        let mut index = range.start;
        while index < range.end {
            // Two elements share a block.
            let block = index / 2;
            let blocks = philox_along([block as u64, u64::from(self.tensor)], self.seed);
            let end = range.end.min(2 * (block + blocks.len()));
            for index in index..end {
                let words = blocks[index / 2 - block];
                let (high, low) = if index % 2 == 0 { (words[0], words[1]) } else { (words[2], words[3]) };
                work(index, u64::from(high) << 32 | u64::from(low));
            }
            index = end;
        }
    }

    /// The random words of block or row `number`; `use_of` keeps different uses apart.
    #[inline]
    fn words(&self, number: usize, use_of: u32) -> [u32; 4] {
        philox([number as u32, (number as u64 >> 32) as u32, self.tensor, use_of], self.seed)
    }

    /// Element `index` with its random bits, before it is rounded to the tensor's type. `line` is kept
    /// from element to element.
    #[inline]
    fn value(&self, index: usize, bits: u64, line: &mut Option<Line>) -> f64 {
        if let Some(value) = self.meant(index, bits) {
            return value;
        }
        let integer = self.dtype.format().is_none();
        match self.fill {
            Fill::Uniform if integer => f64::from((bits >> 56) as i8),
            Fill::Uniform => uniform(bits),
            Fill::Normal if integer => (normal(bits) * 32.0).round_ties_even(),
            Fill::Normal => normal(bits),
            Fill::Shifted if integer => {
                self.line(index, line).sign * 64.0 + (normal(bits) * 8.0).round_ties_even()
            }
            Fill::Shifted => self.line(index, line).sign * self.shift() + normal(bits),
            Fill::Ramp => self.ramp(index, integer),
            Fill::Integers => (bits % 9) as f64 - 4.0,
            Fill::OneHot if self.tensor > 0 => self.ramp(index, integer),
            Fill::OneHot => f64::from(u8::from(self.place(index) == self.line(index, line).hot)),
            Fill::Extreme => self.extreme(bits, integer),
            Fill::Nonfinite => self.nonfinite(bits),
            Fill::Planted if integer => self.line(index, line).planted.code(self.place(index), bits),
            Fill::Planted => self.line(index, line).planted.value(self.place(index), bits),
        }
    }

    /// What was drawn for the row of element `index`.
    #[inline]
    fn line(&self, index: usize, line: &mut Option<Line>) -> Line {
        let number = self.number(index);
        match *line {
            Some(known) if known.number == number => known,
            _ => *line.insert(self.draw_line(number)),
        }
    }

    /// The row that element `index` is in.
    #[inline]
    pub(crate) fn number(&self, index: usize) -> usize {
        index / (self.row * self.apart) * self.apart + index % self.apart
    }

    /// Its place in that row.
    #[inline]
    fn place(&self, index: usize) -> usize {
        index / self.apart % self.row
    }

    fn draw_line(&self, number: usize) -> Line {
        let words = self.words(number, 1);
        let first = Filling { tensor: 0, ..*self };
        let start = if self.alike { first.words(0, 3)[0] } else { self.words(0, 3)[0] };
        Line {
            number,
            hot: words[0] as usize % self.row,
            sign: if words[1] & 1 == 0 { 1.0 } else { -1.0 },
            planted: planted::Row::new(self, number, words, start),
        }
    }

    /// A mean as large as leaves the type half its digits below it, and the accumulator room above.
    fn shift(&self) -> f64 {
        let precision = self.dtype.format().map_or(0, |format| format.precision);
        power_of_two((precision / 2).min(10)).min(self.limit() / 2.0)
    }

    fn ramp(&self, index: usize, integer: bool) -> f64 {
        let step = (index % 251) as f64 - 125.0;
        if integer { step } else { step / 64.0 }
    }

    /// Largest magnitude of `Extreme`, and of `Planted` where it is below 1024.
    fn limit(&self) -> f64 {
        match self.content {
            Content::Values { limit } | Content::Masked { limit } => limit,
            _ => self.dtype.max_finite() / 2.0,
        }
    }

    fn extreme(&self, bits: u64, integer: bool) -> f64 {
        if integer {
            return if bits & 1 == 0 { 127.0 } else { -128.0 };
        }
        let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
        let exponent = (bits >> 1 & 31) % 21;
        let significand = 0.5 + (bits >> 12) as f64 * power_of_two(-53);
        sign * self.limit() * significand * power_of_two(-(exponent as i32))
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

/// What families with rows draw for each of them.
#[derive(Clone, Copy, Debug)]
struct Line {
    number: usize,
    /// The column of its 1.
    hot: usize,
    /// The side of zero that its mean is on.
    sign: f64,
    planted: planted::Row,
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

    fn content(fill: Fill, dtype: Dtype) -> Filling {
        of_values(fill, dtype, 42, 64, 1e10)
    }

    fn of_values(fill: Fill, dtype: Dtype, seed: u64, row: usize, limit: f64) -> Filling {
        let content = Content::Values { limit };
        Filling { fill, seed, tensor: 0, dtype, row, apart: 1, alike: false, elements: 1000 * row, content }
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

    /// Rows that run down the columns have what other rows have, in the same places.
    #[test]
    fn rows_run_along_another_dimension() {
        for fill in [Fill::Shifted, Fill::OneHot, Fill::Planted] {
            let down = Filling { row: 9, apart: 20, ..content(fill, Dtype::F32) };
            let mut line = None;
            let mut value = |index| down.value(index, 1 << 60, &mut line);
            let across = Filling { row: 9, ..content(fill, Dtype::F32) };
            let mut line = None;
            let mut other = |index| across.value(index, 1 << 60, &mut line);
            // Two layers of nine rows and twenty columns.
            for index in 0..360 {
                let (layer, row, column) = (index / 180, index / 20 % 9, index % 20);
                assert_eq!(value(index), other((layer * 20 + column) * 9 + row), "{fill} {index}");
            }
        }
    }

    /// Elements in hexadecimal, as the format page has them: seed 42, rows of four.
    fn codes(fill: Fill, dtype: Dtype, range: Range<usize>) -> String {
        let content = of_values(fill, dtype, 42, 4, 1e10);
        let mut bytes = vec![0; range.len() * dtype.size()];
        content.write(range, &mut bytes);
        let code = |code: &[u8]| code.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        bytes.chunks(dtype.size()).map(code).collect::<Vec<String>>().join(" ")
    }

    #[test]
    fn test_vectors_of_the_format_page() {
        let page = include_str!("../../../docs/format.md");
        let mut lines = Vec::new();
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
            (Fill::Planted, Dtype::F32),
        ] {
            lines.push(format!("| {fill} | {dtype} | `{}` |", codes(fill, dtype, 0..4)));
        }
        for row in 0..9 {
            let at = |dtype| codes(Fill::Planted, dtype, 4 * row..4 * row + 4);
            lines.push(format!("| {row} | `{}` | `{}` |", at(Dtype::F32), at(Dtype::I8)));
        }
        let missing: Vec<String> = lines.into_iter().filter(|line| !page.contains(line)).collect();
        assert!(missing.is_empty(), "docs/format.md lacks the lines\n{}", missing.join("\n"));
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
        let shifted = values(Fill::Shifted, Dtype::F32, 64 * 100);
        let below =
            shifted.chunks(64).filter(|row| row.iter().all(|x| (-1040.0..-1000.0).contains(x))).count();
        let above = shifted.chunks(64).filter(|row| row.iter().all(|x| (1000.0..1040.0).contains(x))).count();
        assert!(below + above == 100 && (30..70).contains(&below), "{below} rows below zero, {above} above");
    }

    /// Whatever the seed and the type, nine rows have what each common bug cannot bear.
    #[test]
    fn nine_planted_rows_have_every_kind() {
        for seed in 0..200 {
            for dtype in [Dtype::F32, Dtype::Bf16, Dtype::F16, Dtype::F64] {
                for cols in [9, 64, 1000] {
                    let content = of_values(Fill::Planted, dtype, seed, cols, 1000.0);
                    let mut bytes = vec![0; 9 * cols * dtype.size()];
                    content.write(0..9 * cols, &mut bytes);
                    let values: Vec<f64> = (0..9 * cols).map(|i| dtype.read(&bytes, i)).collect();
                    let any = |holds: &dyn Fn(&[f64]) -> bool| values.chunks(cols).any(holds);
                    let place = format!("seed {seed}, {dtype}, {cols} columns");
                    // The first row's maximum is its last element and no other's.
                    assert!(values[cols - 1] == 1000.0, "{place}");
                    assert!(values[..cols - 1].iter().all(|x| x.abs() < 10.0), "{place}");
                    assert!(any(&|row| row.iter().all(|x| *x < -900.0)), "{place}: deep");
                    assert!(any(&|row| row.iter().all(|x| x.abs() < 0.002)), "{place}: tiny");
                    assert!(
                        any(&|row| row.iter().filter(|x| **x == -250.0).count() == 1),
                        "{place}: but one"
                    );
                }
            }
        }
    }

    #[test]
    fn planted_values_stay_within_what_the_operation_bears() {
        for limit in [2.0, 1e30] {
            for dtype in [Dtype::F32, Dtype::I8] {
                let content = of_values(Fill::Planted, dtype, 42, 64, limit);
                let mut bytes = vec![0; 64 * 100 * dtype.size()];
                content.write(0..6400, &mut bytes);
                // Noise of six deviations beside the largest value.
                let most = if dtype == Dtype::I8 { 128.0 } else { limit.min(1024.0) + 6.0 };
                assert!((0..6400).all(|i| dtype.read(&bytes, i).abs() <= most), "{dtype} {limit}");
            }
        }
    }
}
