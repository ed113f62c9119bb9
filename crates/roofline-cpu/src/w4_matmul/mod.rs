//! `w4-matmul`: Y = X·Wᵀ, weights of four bits, two neighbours in a byte, with a scale and a zero point for each group of a
//! row: a code stands for s·(q − z). X, Y and scales are of one type; sums are kept in f32 and rounded once at the end.

mod codes;
pub mod decoded;
pub mod few_rows;
pub mod panels;
pub mod plain;

use crate::catalog::{Implementation, Kernel, Launch, height, rungs};
use crate::matmul::Factor;
use crate::q8_matmul::{FEW, FEW_PARALLEL, FEW_ROWS, PANELS};
use crate::{Args, Cpu, Element, Mismatch, Product, Scalar, bf16, f16};

const DECODED: &str = "weights as f32, scales and zero points included, then packed panels on all threads";

/// The kernels of one generic function.
macro_rules! both {
    ($kernel:path) => {
        &[
            Kernel::new("w4a16-f16", |_, args| prepare::<f16>(args, $kernel)),
            Kernel::new("w4a16", |_, args| prepare::<bf16>(args, $kernel)),
        ]
    };
}

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("w4-matmul", both!(plain::w4_matmul)),
    Implementation::new("w4-matmul", "decoded", DECODED, both!(decoded::w4_matmul)).vector().parallel(),
    Implementation::new("w4-matmul", "few-rows", FEW, both!(few_rows::w4_matmul)).vector(),
    Implementation::new("w4-matmul", "few-rows-parallel", FEW_PARALLEL, both!(few_rows::w4_matmul_parallel))
        .vector()
        .parallel(),
    Implementation::new("w4-matmul", "panels", PANELS, both!(panels::w4_matmul)).vector().parallel(),
];

/// The same for weights that are known beforehand.
pub const FIXED: &[Implementation] = &rungs::<{ height(LADDER) }>(LADDER, "w4-matmul.fixed");

/// A matrix of weights, row after row.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// Pairs of codes, the first of a pair in the low half of its byte; a row begins with a byte of its own.
    pub codes: &'a [i8],
    /// One for each group of a row.
    pub scales: &'a [T],
    /// Codes that stand for 0, one for each group of a row.
    pub zeros: &'a [i8],
    /// Codes of a row that share a scale and a zero point.
    pub group: usize,
}

impl<T: Scalar<Wide = f32>> Weights<'_, T> {
    #[track_caller]
    fn check(&self, rows: usize, k: usize) {
        let groups = rows * k.div_ceil(self.group);
        let lengths = [self.codes.len(), self.scales.len(), self.zeros.len()];
        assert!(
            lengths == [rows * k.div_ceil(2), groups, groups],
            "{rows} rows of {k} codes, {groups} groups"
        );
    }

    /// The groups of a row: the scale of each, and what its codes are above its zero point.
    fn row(&self, row: usize, k: usize) -> impl Iterator<Item = (f32, impl Iterator<Item = f32>)> {
        let pairs = &self.codes[row * k.div_ceil(2)..][..k.div_ceil(2)];
        let groups = k.div_ceil(self.group);
        (0..groups).map(move |group| {
            let (scale, zero) = (self.scales[row * groups + group], self.zeros[row * groups + group]);
            let terms = group * self.group..k.min((group + 1) * self.group);
            let code = move |term: usize| pairs[term / 2] as u8 >> (term % 2 * 4) & 15;
            (scale.wide(), terms.map(move |term| f32::from(code(term)) - f32::from(zero)))
        })
    }
}

type Multiply<T> = fn(&Cpu, &[T], Weights<T>, &mut [T], Product);

fn prepare<T: Scalar<Wide = f32>>(mut args: Args<'_>, kernel: Multiply<T>) -> Result<Launch<'_>, Mismatch> {
    let (x, mut y) = (args.take("x")?, args.take_out("y")?);
    let (codes, scales, zeros) = (args.take("q")?, args.take("s")?, args.take("z")?);
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    let group = args.axis("group")?;
    Ok(Launch::new(move |cpu| {
        let w = Weights { codes: &codes, scales: &scales, zeros: &zeros, group };
        kernel(cpu, &x, w, &mut y, shape);
    }))
}

/// Y = X·Wᵀ, by the rung that suits the number of rows.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, w4_matmul, w4_matmul::Weights};
///
/// let one = f16::from_f32(1.0);
/// let w = Weights { codes: &[0x23], scales: &[one], zeros: &[4], group: 2 };
/// let mut y = [f16::ZERO];
/// w4_matmul(&Cpu::serial(), &[one; 2], w, &mut y, Product { m: 1, n: 1, k: 2 });
/// assert_eq!(y[0].to_f32(), (3.0 - 4.0) + (2.0 - 4.0));
/// ```
pub fn w4_matmul<T>(cpu: &Cpu, x: &[T], w: Weights<T>, y: &mut [T], shape: Product)
where
    T: Element + Factor<Total = f32>,
{
    match shape.m {
        ..=FEW_ROWS => few_rows::w4_matmul_parallel(cpu, x, w, y, shape),
        _ => panels::w4_matmul(cpu, x, w, y, shape),
    }
}
