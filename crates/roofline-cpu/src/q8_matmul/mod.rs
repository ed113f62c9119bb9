//! `q8-matmul`: Y = X·Wᵀ, weights in blocks of 32 codes of i8 and a scale in f16, apart; `q8-matmul.raw`: in the bytes that
//! GGML's Q8_0 has, each scale before its codes. Codes beyond k stand for nothing. In
//! `f32+q8`, X becomes such blocks too.

pub mod decoded;
pub mod plain;
pub mod rounded;

use crate::catalog::{Implementation, Kernel, Launch, height, rungs};
use crate::{Args, Cpu, Mismatch, Product, f16};
pub use decoded::{q8_matmul, q8_matmul_raw};

/// Codes of a block.
pub const BLOCK: usize = 32;
/// What the rung does that writes weights out.
pub(crate) const DECODED: &str = "weights as f32, scales included, then packed panels on all threads";

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
