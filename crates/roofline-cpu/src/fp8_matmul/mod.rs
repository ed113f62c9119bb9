//! `fp8-matmul`: Y = X·Wᵀ, codes in fp8-e4m3, a scale for each block along k of a row of X (`fp8-matmul.square`: of as many
//! rows), and for each block by block of W; or X in bf16, which has none.
//!
//! Sums are kept in f32 and rounded once at the end.

pub mod decoded;
pub mod plain;

use crate::catalog::{Implementation, Kernel, Launch};
use crate::{Args, Cpu, Fp8E4m3, Mismatch, Product, Scalar, bf16};

const CODES: &[Kernel] = &[
    Kernel::new("w8a8", |_, args| prepare::<bf16>(args, false, plain::fp8_matmul)),
    Kernel::new("w8a8-f32", |_, args| prepare::<f32>(args, false, plain::fp8_matmul)),
    Kernel::new("w8a16", |_, args| prepare_bf16(args, plain::fp8_matmul_bf16)),
];
const SQUARES: &[Kernel] = &[
    Kernel::new("w8a8", |_, args| prepare::<bf16>(args, true, plain::fp8_matmul)),
    Kernel::new("w8a8-f32", |_, args| prepare::<f32>(args, true, plain::fp8_matmul)),
];
const DECODED_CODES: &[Kernel] = &[
    Kernel::new("w8a8", |_, args| prepare::<bf16>(args, false, decoded::fp8_matmul)),
    Kernel::new("w8a8-f32", |_, args| prepare::<f32>(args, false, decoded::fp8_matmul)),
    Kernel::new("w8a16", |_, args| prepare_bf16(args, decoded::fp8_matmul_bf16)),
];
const DECODED_SQUARES: &[Kernel] = &[
    Kernel::new("w8a8", |_, args| prepare::<bf16>(args, true, decoded::fp8_matmul)),
    Kernel::new("w8a8-f32", |_, args| prepare::<f32>(args, true, decoded::fp8_matmul)),
];

const DECODED: &str = "both sides as f32, scales included, then packed panels on all threads";

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("fp8-matmul", CODES),
    Implementation::new("fp8-matmul", "decoded", DECODED, DECODED_CODES).vector().parallel(),
    Implementation::plain("fp8-matmul.square", SQUARES),
    Implementation::new("fp8-matmul.square", "decoded", DECODED, DECODED_SQUARES).vector().parallel(),
];

/// Codes of a matrix and their scales, one for each block of a row, or of several rows together.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    /// Row after row.
    pub codes: &'a [Fp8E4m3],
    /// A row of them for each group of rows.
    pub scales: &'a [f32],
    /// Rows that share them.
    pub rows: usize,
    /// Codes of a row that share one.
    pub block: usize,
}

impl Blocks<'_> {
    #[track_caller]
    fn check(&self, rows: usize, k: usize) {
        let scales = rows.div_ceil(self.rows) * k.div_ceil(self.block);
        let lengths = [self.codes.len(), self.scales.len()];
        assert!(lengths == [rows * k, scales], "{rows} rows of {k} codes and {scales} scales");
    }

    /// The blocks of a row, each with its scale.
    fn row(&self, row: usize, k: usize) -> impl Iterator<Item = (&[Fp8E4m3], f32)> {
        let blocks = k.div_ceil(self.block);
        let scales = &self.scales[row / self.rows * blocks..][..blocks];
        self.codes[row * k..][..k].chunks(self.block).zip(scales.iter().copied())
    }
}

type Multiply<O> = fn(&Cpu, Blocks, Blocks, &mut [O], Product);
type MultiplyBf16 = fn(&Cpu, &[bf16], Blocks, &mut [bf16], Product);

fn prepare<'a, O: Scalar>(
    mut args: Args<'a>,
    square: bool,
    kernel: Multiply<O>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, w, mut y) = (args.take("x")?, args.take("w")?, args.take_out("y")?);
    let (xs, ws) = (args.take("xs")?, args.take("ws")?);
    let (shape, block) = sizes(&args)?;
    let rows = if square { block } else { 1 };
    Ok(Launch::new(move |cpu| {
        let x = Blocks { codes: &x, scales: &xs, rows, block };
        let w = Blocks { codes: &w, scales: &ws, rows: block, block };
        kernel(cpu, x, w, &mut y, shape);
    }))
}

fn prepare_bf16(mut args: Args<'_>, kernel: MultiplyBf16) -> Result<Launch<'_>, Mismatch> {
    let (x, w, ws, mut y) = (args.take("x")?, args.take("w")?, args.take("ws")?, args.take_out("y")?);
    let (shape, block) = sizes(&args)?;
    Ok(Launch::new(move |cpu| {
        let w = Blocks { codes: &w, scales: &ws, rows: block, block };
        kernel(cpu, &x, w, &mut y, shape);
    }))
}

fn sizes(args: &Args<'_>) -> Result<(Product, usize), Mismatch> {
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    Ok((shape, args.axis("block")?))
}

/// Y = X·Wᵀ, by the rung that suits processor and threads.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Product, fp8_matmul, fp8_matmul::Blocks};
///
/// let x = [1.0, 2.0, 3.0].map(Fp8E4m3::from_f32);
/// let x = Blocks { codes: &x, scales: &[1.0, 0.5], rows: 1, block: 2 };
/// let w = [1.0, 1.0, 4.0].map(Fp8E4m3::from_f32);
/// let w = Blocks { codes: &w, scales: &[2.0, 10.0], rows: 2, block: 2 };
/// let mut y = [0.0f32];
/// fp8_matmul(&Cpu::serial(), x, w, &mut y, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(y, [2.0 * (1.0 + 2.0) + 5.0 * 12.0]);
/// ```
pub fn fp8_matmul<O: Scalar<Wide = f32>>(cpu: &Cpu, x: Blocks, w: Blocks, y: &mut [O], shape: Product) {
    decoded::fp8_matmul(cpu, x, w, y, shape);
}

/// The same of an X in bf16.
pub fn fp8_matmul_bf16(cpu: &Cpu, x: &[bf16], w: Blocks, y: &mut [bf16], shape: Product) {
    decoded::fp8_matmul_bf16(cpu, x, w, y, shape);
}
