//! `quantize`: codes in i8 and a scale s = max|x| / 127 for each row (`quantize.tensor`: for all, `quantize.block`: for each
//! block of a row), ties to even (`-away`, and `quantize.block`: away from zero); `quantize.full` has -128 too. bf16 and f16
//! are divided in f32.

pub mod parallel;
pub mod plain;
pub mod vector;

use crate::bind::{lanes, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Mismatch, Rows, Scalar, rowwise};
pub use parallel::quantize;

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
    ($prepare:ident, $($rest:expr),+) => {
        &[
            kernel!(f32, $prepare, $($rest),+),
            kernel!(bf16, $prepare, $($rest),+),
            kernel!(f16, $prepare, $($rest),+),
            Kernel::new("bf16+p16", |_, args| $prepare::<bf16>(args, $($rest),+)),
            Kernel::new("f16+p16", |_, args| $prepare::<f16>(args, $($rest),+)),
        ]
    };
}

pub(crate) use results;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("quantize", lanes!(prepare, Shared::Row, Ties::ToEven, plain::quantize)),
    rowwise::vector("quantize", lanes!(prepare, Shared::Row, Ties::ToEven, vector::quantize)),
    rowwise::parallel("quantize", lanes!(prepare, Shared::Row, Ties::ToEven, parallel::quantize)),
    Implementation::plain("quantize.away", lanes!(prepare, Shared::Row, Ties::Away, plain::quantize)),
    rowwise::vector("quantize.away", lanes!(prepare, Shared::Row, Ties::Away, vector::quantize)),
    rowwise::parallel("quantize.away", lanes!(prepare, Shared::Row, Ties::Away, parallel::quantize)),
    Implementation::plain("quantize.tensor", lanes!(prepare, Shared::All, Ties::ToEven, plain::quantize)),
    rowwise::vector("quantize.tensor", lanes!(prepare, Shared::All, Ties::ToEven, vector::quantize)),
    rowwise::parallel("quantize.tensor", lanes!(prepare, Shared::All, Ties::ToEven, parallel::quantize)),
    Implementation::plain("quantize.tensor-away", lanes!(prepare, Shared::All, Ties::Away, plain::quantize)),
    rowwise::vector("quantize.tensor-away", lanes!(prepare, Shared::All, Ties::Away, vector::quantize)),
    rowwise::parallel("quantize.tensor-away", lanes!(prepare, Shared::All, Ties::Away, parallel::quantize)),
    Implementation::plain("quantize.block", lanes!(prepare, Shared::Block, Ties::Away, plain::quantize))
        .params(&["block"]),
    rowwise::vector("quantize.block", lanes!(prepare, Shared::Block, Ties::Away, vector::quantize))
        .params(&["block"]),
    rowwise::parallel("quantize.block", lanes!(prepare, Shared::Block, Ties::Away, parallel::quantize))
        .params(&["block"]),
    Implementation::plain(
        "quantize.block-even",
        lanes!(prepare, Shared::Block, Ties::ToEven, plain::quantize),
    )
    .params(&["block"]),
    rowwise::vector("quantize.block-even", lanes!(prepare, Shared::Block, Ties::ToEven, vector::quantize))
        .params(&["block"]),
    rowwise::parallel(
        "quantize.block-even",
        lanes!(prepare, Shared::Block, Ties::ToEven, parallel::quantize),
    )
    .params(&["block"]),
    Implementation::plain("quantize.full", lanes!(prepare_full, plain::quantize_full)),
    rowwise::vector("quantize.full", lanes!(prepare_full, vector::quantize_full)),
    rowwise::parallel("quantize.full", lanes!(prepare_full, parallel::quantize_full)),
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

type Quantize<T> = fn(&Cpu, &[T], &mut [i8], &mut [f32], Rows, usize, Ties);

fn prepare<'a, T: Scalar<Wide = f32>>(
    mut args: Args<'a>,
    shared: Shared,
    ties: Ties,
    kernel: Quantize<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (x, mut q, mut s) = (args.take::<T>("x")?, args.take_out("q")?, args.take_out("s")?);
    let (shape, block) = shared.within(rows(&args)?, args.value("block")? as usize);
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &mut q, &mut s, shape, block, ties)))
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
