//! `q8-matmul`: Y = X·Wᵀ, weights in blocks of 32 codes of i8 and a scale in f16, apart; `q8-matmul.raw`: in the bytes that
//! GGML's Q8_0 has, each scale before its codes. Codes beyond k stand for nothing. In
//! `f32+q8`, X becomes such blocks too.

pub mod bytes;
pub mod decoded;
pub mod few_rows;
pub mod panels;
pub mod plain;
pub mod rounded;

use crate::catalog::{Implementation, Kernel, Launch, height, rungs};
use crate::{Args, Cpu, Mismatch, Product, f16};

/// Codes of a block.
pub const BLOCK: usize = 32;
/// What the rung does that writes weights out.
pub(crate) const DECODED: &str = "weights as f32, scales included, then packed panels on all threads";

pub(crate) const FEW: &str = "W read once for up to eight rows of X, decoded in registers";
pub(crate) const FEW_PARALLEL: &str = "W read once and decoded in registers, each thread its own part of it";
pub(crate) const BYTES: &str = "W read once, and products of bytes, by VNNI where there is";
pub(crate) const BYTES_PARALLEL: &str = "products of bytes, each thread its own part of W";
pub(crate) const PANELS: &str = "W decoded a panel at a time for all rows of X, all threads";

/// Rows of X up to which decoding W in registers, again for every eight of them, beats decoding it once into panels.
pub(crate) const FEW_ROWS: usize = 8;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain(
        "q8-matmul",
        &[
            Kernel::new("f32", |_, args| prepare(args, plain::q8_matmul)),
            Kernel::new("f32+q8", |_, args| prepare(args, rounded::q8_matmul)),
        ],
    ),
    Implementation::new(
        "q8-matmul",
        "decoded",
        DECODED,
        &[Kernel::new("f32", |_, args| prepare(args, decoded::q8_matmul))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q8-matmul",
        "few-rows",
        FEW,
        &[Kernel::new("f32", |_, args| prepare(args, few_rows::q8_matmul))],
    )
    .vector(),
    Implementation::new(
        "q8-matmul",
        "few-rows-parallel",
        FEW_PARALLEL,
        &[Kernel::new("f32", |_, args| prepare(args, few_rows::q8_matmul_parallel))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q8-matmul",
        "bytes",
        BYTES,
        &[Kernel::new("f32+q8", |_, args| prepare(args, bytes::q8_matmul))],
    )
    .vector(),
    Implementation::new(
        "q8-matmul",
        "bytes-parallel",
        BYTES_PARALLEL,
        &[Kernel::new("f32+q8", |_, args| prepare(args, bytes::q8_matmul_parallel))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q8-matmul",
        "panels",
        PANELS,
        &[
            Kernel::new("f32", |_, args| prepare(args, panels::q8_matmul)),
            Kernel::new("f32+q8", |_, args| prepare(args, panels::q8_matmul_rounded)),
        ],
    )
    .vector()
    .parallel(),
    Implementation::plain(
        "q8-matmul.raw",
        &[
            Kernel::new("f32", |_, args| prepare_raw(args, plain::q8_matmul_raw)),
            Kernel::new("f32+q8", |_, args| prepare_raw(args, rounded::q8_matmul_raw)),
        ],
    ),
    Implementation::new(
        "q8-matmul.raw",
        "decoded",
        DECODED,
        &[Kernel::new("f32", |_, args| prepare_raw(args, decoded::q8_matmul_raw))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q8-matmul.raw",
        "few-rows",
        FEW,
        &[Kernel::new("f32", |_, args| prepare_raw(args, few_rows::q8_matmul_raw))],
    )
    .vector(),
    Implementation::new(
        "q8-matmul.raw",
        "few-rows-parallel",
        FEW_PARALLEL,
        &[Kernel::new("f32", |_, args| prepare_raw(args, few_rows::q8_matmul_raw_parallel))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q8-matmul.raw",
        "bytes",
        BYTES,
        &[Kernel::new("f32+q8", |_, args| prepare_raw(args, bytes::q8_matmul_raw))],
    )
    .vector(),
    Implementation::new(
        "q8-matmul.raw",
        "bytes-parallel",
        BYTES_PARALLEL,
        &[Kernel::new("f32+q8", |_, args| prepare_raw(args, bytes::q8_matmul_raw_parallel))],
    )
    .vector()
    .parallel(),
    Implementation::new(
        "q8-matmul.raw",
        "panels",
        PANELS,
        &[
            Kernel::new("f32", |_, args| prepare_raw(args, panels::q8_matmul_raw)),
            Kernel::new("f32+q8", |_, args| prepare_raw(args, panels::q8_matmul_raw_rounded)),
        ],
    )
    .vector()
    .parallel(),
];

/// The same for weights that are known beforehand.
pub const FIXED: &[Implementation] = &rungs::<{ height(LADDER) }>(LADDER, "q8-matmul.fixed");

/// Scale and codes of each block, counted through all rows of W, of so many bytes of codes.
pub(crate) fn apart<'a>(
    s: &'a [f16],
    q: &'a [i8],
    shape: Product,
    bytes: usize,
) -> impl Fn(usize) -> (f16, &'a [i8]) {
    let blocks = shape.n * shape.k.div_ceil(BLOCK);
    assert!([s.len(), q.len()] == [blocks, bytes * blocks], "lengths of s and q for {shape:?}");
    move |block| (s[block], &q[block * bytes..][..bytes])
}

/// The same where the two bytes of each scale stand before its codes.
pub(crate) fn raw<'a>(w: &'a [i8], shape: Product, bytes: usize) -> impl Fn(usize) -> (f16, &'a [i8]) {
    let blocks = shape.n * shape.k.div_ceil(BLOCK);
    assert_eq!(w.len(), (2 + bytes) * blocks, "length of w for {shape:?}");
    move |block| {
        let block = &w[block * (2 + bytes)..][..2 + bytes];
        (number(block), &block[2..])
    }
}

/// A number in f16, of its low byte and its high one.
pub(crate) fn number(bytes: &[i8]) -> f16 {
    f16::from_le_bytes([bytes[0] as u8, bytes[1] as u8])
}

/// Codes of eight bits, which are what they stand for.
fn codes(codes: &[i8]) -> impl Iterator<Item = f32> {
    codes.iter().map(|code| f32::from(*code))
}

/// Of X, scales and codes.
pub(crate) type Multiply = fn(&Cpu, &[f32], &[f16], &[i8], &mut [f32], Product);
/// Of X and blocks.
pub(crate) type MultiplyRaw = fn(&Cpu, &[f32], &[i8], &mut [f32], Product);

pub(crate) fn prepare(mut args: Args<'_>, kernel: Multiply) -> Result<Launch<'_>, Mismatch> {
    let (x, s, q, mut y) = (args.take("x")?, args.take("s")?, args.take("q")?, args.take_out("y")?);
    let shape = shape(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &s, &q, &mut y, shape)))
}

pub(crate) fn prepare_raw(mut args: Args<'_>, kernel: MultiplyRaw) -> Result<Launch<'_>, Mismatch> {
    let (x, w, mut y) = (args.take("x")?, args.take("w")?, args.take_out("y")?);
    let shape = shape(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &w, &mut y, shape)))
}

fn shape(args: &Args<'_>) -> Result<Product, Mismatch> {
    Ok(Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? })
}

/// Y = X·Wᵀ, scales and codes of W apart, by the rung that suits the number of rows.
///
/// ```
/// use roofline_cpu::{Cpu, Product, f16, q8_matmul};
///
/// let mut q = [0; 64];
/// (q[0], q[31], q[32], q[33]) = (1, -2, 3, 100);
/// let (x, s, mut y) = ([1.0; 33], [2.0, 0.5].map(f16::from_f32), [0.0]);
/// q8_matmul(&Cpu::serial(), &x, &s, &q, &mut y, Product { m: 1, n: 1, k: 33 });
/// assert_eq!(y, [2.0 * (1.0 - 2.0) + 0.5 * 3.0]);
/// ```
pub fn q8_matmul(cpu: &Cpu, x: &[f32], s: &[f16], q: &[i8], y: &mut [f32], shape: Product) {
    match shape.m {
        ..=FEW_ROWS => few_rows::q8_matmul_parallel(cpu, x, s, q, y, shape),
        _ => panels::q8_matmul(cpu, x, s, q, y, shape),
    }
}

/// The same, with the two bytes of each scale before its codes.
pub fn q8_matmul_raw(cpu: &Cpu, x: &[f32], w: &[i8], y: &mut [f32], shape: Product) {
    match shape.m {
        ..=FEW_ROWS => few_rows::q8_matmul_raw_parallel(cpu, x, w, y, shape),
        _ => panels::q8_matmul_raw(cpu, x, w, y, shape),
    }
}
