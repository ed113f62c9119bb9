//! `fp8-matmul`: Y = X·Wᵀ, codes in fp8-e4m3, a scale for each block along k of a row of X (`fp8-matmul.square`: of as many
//! rows), and for each block by block of W; or X in bf16, which has none (`w8a16`), or becomes codes on the way (`w8a16+fp8`).
//!
//! Sums are kept in f32 and rounded once at the end, but for `w8a8+tc14x128`.

mod activations;
pub mod buffered;
pub mod decoded;
pub mod held;
pub mod plain;
pub mod promoted;
pub mod tiles;

use crate::catalog::{Implementation, Kernel, Launch};
use crate::scratch::Scratch;
use crate::{Args, Cpu, Fp8E4m3, Mismatch, Product, Rows, Scalar, bf16, quantize_fp8};

/// The kernels of one rung: of codes with a scale for each block of a row or, where `square`, of as many rows; of bf16; and of
/// bf16 that becomes codes first.
macro_rules! kernels {
    ($rung:ident) => {
        &[
            Kernel::new("w8a8", |_, args| prepare::<bf16>(args, false, $rung::fp8_matmul)),
            Kernel::new("w8a8-f32", |_, args| prepare::<f32>(args, false, $rung::fp8_matmul)),
            Kernel::new("w8a16", |_, args| prepare_bf16(args, $rung::fp8_matmul_bf16)),
            Kernel::new("w8a16+fp8", |_, args| prepare_rounded(args, $rung::fp8_matmul)),
        ]
    };
    (square $rung:ident) => {
        &[
            Kernel::new("w8a8", |_, args| prepare::<bf16>(args, true, $rung::fp8_matmul)),
            Kernel::new("w8a8-f32", |_, args| prepare::<f32>(args, true, $rung::fp8_matmul)),
        ]
    };
}

const TILES: &str = "tiles of Y, both sides decoded block by block, a loop that the compiler vectorises";
const BUFFERED: &str =
    "blocks of W through two buffers, the next decoded while one is multiplied in registers";
const HELD: &str = "two buffers, and the scales of a block in registers for all rows";
const DECODED: &str = "both sides as f32, scales included, then packed panels on all threads";
const PROMOTED: &str = "sums of 14 bits, added up in f32 every 128 terms, as tensor cores do; emulated";

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("fp8-matmul", kernels!(plain)),
    Implementation::new("fp8-matmul", "tiles", TILES, kernels!(tiles)).vector().parallel(),
    Implementation::new("fp8-matmul", "buffered", BUFFERED, kernels!(buffered)).vector().parallel(),
    Implementation::new("fp8-matmul", "held", HELD, kernels!(held)).vector().parallel(),
    Implementation::new("fp8-matmul", "decoded", DECODED, kernels!(decoded)).vector().parallel(),
    Implementation::new(
        "fp8-matmul",
        "promoted",
        PROMOTED,
        &[Kernel::new("w8a8+tc14x128", |_, args| prepare::<bf16>(args, false, promoted::fp8_matmul))],
    ),
    Implementation::plain("fp8-matmul.square", kernels!(square plain)),
    Implementation::new("fp8-matmul.square", "tiles", TILES, kernels!(square tiles)).vector().parallel(),
    Implementation::new("fp8-matmul.square", "buffered", BUFFERED, kernels!(square buffered))
        .vector()
        .parallel(),
    Implementation::new("fp8-matmul.square", "held", HELD, kernels!(square held)).vector().parallel(),
    Implementation::new("fp8-matmul.square", "decoded", DECODED, kernels!(square decoded))
        .vector()
        .parallel(),
    Implementation::new(
        "fp8-matmul.square",
        "promoted",
        PROMOTED,
        &[Kernel::new("w8a8+tc14x128", |_, args| prepare::<bf16>(args, true, promoted::fp8_matmul))],
    ),
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

/// Of an X in bf16 that becomes codes first, with a scale for each block of a row.
fn prepare_rounded(mut args: Args<'_>, kernel: Multiply<bf16>) -> Result<Launch<'_>, Mismatch> {
    let (x, w, ws, mut y) = (args.take::<bf16>("x")?, args.take("w")?, args.take("ws")?, args.take_out("y")?);
    let (shape, block) = sizes(&args)?;
    let Product { m, k, .. } = shape;
    Ok(Launch::new(move |cpu| {
        let mut codes = Scratch::<Fp8E4m3>::take(m * k);
        let mut scales = Scratch::<f32>::take(m * k.div_ceil(block));
        quantize_fp8(cpu, &x, &mut codes, &mut scales, Rows { rows: m, cols: k }, block);
        let x = Blocks { codes: &codes, scales: &scales, rows: 1, block };
        let w = Blocks { codes: &w, scales: &ws, rows: block, block };
        kernel(cpu, x, w, &mut y, shape);
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
    held::fp8_matmul(cpu, x, w, y, shape);
}

/// The same of an X in bf16.
pub fn fp8_matmul_bf16(cpu: &Cpu, x: &[bf16], w: Blocks, y: &mut [bf16], shape: Product) {
    held::fp8_matmul_bf16(cpu, x, w, y, shape);
}
