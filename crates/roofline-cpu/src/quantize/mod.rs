//! `quantize`: codes in i8 and a scale s = max|x| / 127 for each row (`quantize.tensor`: for all, `quantize.block`: for each
//! block of a row), ties to even (`-away`, and `quantize.block`: away from zero); `quantize.full` has -128 too. bf16 and f16
//! are divided in f32.

pub mod plain;

use crate::bind::{lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Mismatch, Rows, Scalar};
pub use plain::quantize;

/// Where a quotient goes that lies in the middle of two codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// To the even code, as PyTorch does.
    ToEven,
    /// To the larger magnitude, as GGML does.
    Away,
}

/// What codes are: how large the largest is, and which one a quotient gets.
#[derive(Clone, Copy, Debug)]
pub struct Codes<Q> {
    /// What the largest magnitude of a group becomes.
    pub most: f32,
    /// The code of a quotient.
    pub code: fn(f32) -> Q,
}

/// Codes in -127..=127, ties to even.
pub const INT8: Codes<i8> = Codes { most: 127.0, code: |x| plain::int8(x, Ties::ToEven) };

/// The kernels of what is quantised where it is computed. Results may be rounded to 16 bits before in `p16`, and here they
/// are not.
macro_rules! results {
    ($prepare:ident, $codes:expr) => {
        &[
            kernel!(f32, $prepare, $codes),
            kernel!(bf16, $prepare, $codes),
            kernel!(f16, $prepare, $codes),
            Kernel::new("bf16+p16", |_, args| $prepare::<bf16>(args, $codes)),
            Kernel::new("f16+p16", |_, args| $prepare::<f16>(args, $codes)),
        ]
    };
}

pub(crate) use results;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("quantize", lanes!(prepare, Shared::Row, Ties::ToEven)),
    Implementation::plain("quantize.away", lanes!(prepare, Shared::Row, Ties::Away)),
    Implementation::plain("quantize.tensor", lanes!(prepare, Shared::All, Ties::ToEven)),
    Implementation::plain("quantize.tensor-away", lanes!(prepare, Shared::All, Ties::Away)),
    Implementation::plain("quantize.block", lanes!(prepare, Shared::Block, Ties::Away)).params(&["block"]),
    Implementation::plain("quantize.block-even", lanes!(prepare, Shared::Block, Ties::ToEven))
        .params(&["block"]),
    Implementation::plain("quantize.full", lanes!(prepare_full, plain::quantize_full)),
];

/// What has one scale.
#[derive(Clone, Copy)]
pub(crate) enum Shared {
    All,
    Row,
    Block,
}

impl Shared {
    /// The rows to take, and how many of each have one scale.
    pub(crate) fn within(self, shape: Rows, block: usize) -> (Rows, usize) {
        match self {
            Shared::All => (Rows { rows: 1, cols: shape.len() }, shape.len()),
            Shared::Row => (shape, shape.cols),
            Shared::Block => (shape, block),
        }
    }
}

fn prepare<'a, T: Scalar<Wide = f32>>(
    mut args: Args<'a>,
    shared: Shared,
    ties: Ties,
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut q, mut s) = (args.take::<T>("x")?, args.take_out("q")?, args.take_out("s")?);
    let (shape, block) = shared.within(rows(&args)?, args.value("block")? as usize);
    Ok(Launch::new(move |cpu| quantize(cpu, &x, &mut q, &mut s, shape, block, ties)))
}

type Full<T> = fn(&Cpu, &[T], &mut [i8], &mut [f32], Rows);

fn prepare_full<'a, T: Scalar<Wide = f32>>(
    mut args: Args<'a>,
    kernel: Full<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut q, mut s) = (args.take("x")?, args.take_out("q")?, args.take_out("s")?);
    let shape = rows(&args)?;
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut q, &mut s, shape)))
}
