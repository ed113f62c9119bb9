//! `rms-norm` over the last axis: y = x / sqrt(mean(x²) + ε) · w; in `rms-norm.gemma` · (1 + w). `qk-norm` is the same over
//! heads, and `qk-norm.combined` over those of queries and keys in one launch.
//!
//! One read and one write of a row; w is read once a row, from a cache. Infinity in a row makes its
//! finite elements 0 and the infinite ones NaN; NaN makes the whole row NaN.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::Source;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::Argument;
use crate::rows::{self, RowKernels, RowRung, Weight, launch_sides};
use crate::shape::{Rows, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

/// The usual ε, which keeps a row of zeros finite.
pub const EPSILON: f32 = 1e-6;

const KERNELS: RowKernels = RowKernels {
    weight: Weight::Light,
    plain: Source { file: "rms_norm/plain.cu", text: include_str!("plain.cu"), entry: "rms_norm_plain" },
    registers: Source {
        file: "rms_norm/registers.cu",
        text: include_str!("registers.cu"),
        entry: "rms_norm_registers",
    },
    long: Source { file: "rms_norm/long.cu", text: include_str!("long.cu"), entry: "rms_norm_long" },
    form: &[("GEMMA", 0), ("SIDES", 1)],
};
/// A thread that holds as much of a row as in the plain form finds no registers for one more a weight.
const GEMMA: RowKernels =
    RowKernels { weight: Weight::Heaviest, form: &[("GEMMA", 1), ("SIDES", 1)], ..KERNELS };
/// Nor for the choice of a side.
const COMBINED: RowKernels =
    RowKernels { weight: Weight::Heaviest, form: &[("GEMMA", 0), ("SIDES", 2)], ..KERNELS };

/// The rungs of each, from the plain one up.
pub const LADDER: &[Implementation] = &[
    PLAIN,
    LONG,
    REGISTERS,
    PLAIN.form("rms-norm.gemma"),
    LONG.form("rms-norm.gemma"),
    REGISTERS.form("rms-norm.gemma"),
    PLAIN.form("qk-norm"),
    LONG.form("qk-norm"),
    REGISTERS.form("qk-norm"),
    PLAIN.form("qk-norm.combined"),
    LONG.form("qk-norm.combined"),
    REGISTERS.form("qk-norm.combined"),
];

const PLAIN: Implementation =
    row("plain", "one thread a row, two walks", KERNELS.plain).slow(|row, _| of_each(kernels(row).form));
const LONG: Implementation = row("long", "a block a row of any length, two walks", KERNELS.long)
    .fast(|row, _| rows::long(kernels(row)));
const REGISTERS: Implementation = row("registers", "the row in registers, one exchange", KERNELS.registers)
    .fast(|row, cluster| rows::registers(kernels(row), cluster));

const fn row(name: &'static str, about: &'static str, source: Source) -> Implementation {
    Implementation::new("rms-norm", name, about, source, by_row).params(&["eps"])
}

fn kernels(row: &Implementation) -> &'static RowKernels {
    match row.operation {
        "rms-norm.gemma" => &GEMMA,
        "qk-norm.combined" => &COMBINED,
        _ => &KERNELS,
    }
}

/// A tensor of rows, the weights of its columns, and where its norm is put.
#[derive(Debug)]
pub struct Side<'a, T> {
    pub x: DeviceSlice<'a, T>,
    pub w: DeviceSlice<'a, T>,
    pub y: DeviceSliceMut<'a, T>,
}

impl<'a, T: Element> Side<'a, T> {
    fn take(args: &mut Args<'a>, [x, w, y]: [&str; 3]) -> Result<Side<'a, T>> {
        Ok(Side { x: args.take(x)?, w: args.take(w)?, y: args.take_out(y)? })
    }

    fn addresses(&self) -> [u64; 3] {
        [self.x.address(), self.w.address(), self.y.address()]
    }
}

/// Kernels take two sides; those of one are given it twice, and look at it once.
fn addresses<T: Element>(sides: &[Side<'_, T>]) -> Vec<u64> {
    sides.iter().chain(sides).take(2).flat_map(Side::addresses).collect()
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let shape = match row.operation.starts_with("qk-norm") {
        true => {
            Rows { rows: product("heads", args.axis("seq")?, args.axis("heads")?)?, cols: args.axis("dim")? }
        }
        false => args.rows()?,
    };
    let sides = match row.operation {
        "qk-norm.combined" => {
            vec![Side::take(&mut args, ["q", "wq", "yq"])?, Side::take(&mut args, ["k", "wk", "yk"])?]
        }
        _ => vec![Side::<T>::take(&mut args, ["x", "w", "y"])?],
    };
    let rung = RowRung::of_row::<T>(row, stream, shape, &addresses(&sides), kernels(row).weight)?;
    launch(stream, kernels(row), rung, &sides, shape, args.value("eps")? as f32)
}

/// The fastest rung for the shape.
pub fn rms_norm<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    w: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    best(stream, &KERNELS, &[Side { x, w, y }], shape, EPSILON)
}

/// The same with weights of one less than they count, as Gemma stores them.
pub fn rms_norm_gemma<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    w: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    best(stream, &GEMMA, &[Side { x, w, y }], shape, EPSILON)
}

/// The norms of queries and keys in one launch, each with weights of its own; rows are heads.
///
/// ```no_run
/// use roofline_cuda::rms_norm::{Side, qk_norm};
/// use roofline_cuda::{Device, DeviceVec, Rows, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let (x, w) = (DeviceVec::from_host(&stream, &[2.0f32, 2.0])?, DeviceVec::from_host(&stream, &[1.0f32, 3.0])?);
/// let (mut yq, mut yk) = (DeviceVec::new(stream.device(), 2)?, DeviceVec::new(stream.device(), 2)?);
/// let queries = Side { x: x.as_slice(), w: w.as_slice(), y: yq.as_slice_mut()? };
/// let keys = Side { x: x.as_slice(), w: w.as_slice(), y: yk.as_slice_mut()? };
/// qk_norm(&stream, [queries, keys], Rows { rows: 1, cols: 2 }, 0.0)?;
/// assert_eq!(yk.as_slice().to_host(&stream)?, [1.0, 3.0]);
/// # Ok(())
/// # }
/// ```
pub fn qk_norm<T: Element>(stream: &Stream, sides: [Side<'_, T>; 2], heads: Rows, eps: f32) -> Result<()> {
    best(stream, &COMBINED, &sides, heads, eps)
}

/// The rung that is named.
pub fn by_rung<T: Element>(
    stream: &Stream,
    rung: RowRung,
    x: DeviceSlice<'_, T>,
    w: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
    eps: f32,
) -> Result<()> {
    launch(stream, &KERNELS, rung, &[Side { x, w, y }], shape, eps)
}

fn best<T: Element>(
    stream: &Stream,
    kernels: &RowKernels,
    sides: &[Side<'_, T>],
    shape: Rows,
    eps: f32,
) -> Result<()> {
    let rung = RowRung::best::<T>(stream, shape, &addresses(sides), kernels.weight);
    launch(stream, kernels, rung, sides, shape, eps)
}

fn launch<T: Element>(
    stream: &Stream,
    kernels: &RowKernels,
    rung: RowRung,
    sides: &[Side<'_, T>],
    shape: Rows,
    eps: f32,
) -> Result<()> {
    for side in sides {
        length("x", side.x.len(), shape.elements()?)?;
        length("w", side.w.len(), shape.cols)?;
        length("y", side.y.len(), shape.elements()?)?;
    }
    let count = sides.len() as u32;
    launch_sides::<T>(stream, kernels, rung, &addresses(sides), shape, count, &[Argument::F32(eps)])
}
