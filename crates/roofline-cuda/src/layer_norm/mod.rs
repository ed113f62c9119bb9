//! `layer-norm` over the last axis: y = (x − mean x) / sqrt(var x + ε) · w + b.
//!
//! One read and one write of a row; w and b are read once a row, from a cache.

use crate::args::Args;
use crate::catalog::{Implementation, by_type};
use crate::compile::Source;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::Argument;
use crate::rows::{self, RowKernels, RowRung, Weight, launch};
use crate::shape::{Rows, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

/// The usual ε, which keeps a row of equal elements finite.
pub const EPSILON: f32 = 1e-5;

pub(crate) const KERNELS: RowKernels = RowKernels {
    weight: Weight::Heavy,
    plain: Source { file: "layer_norm/plain.cu", text: include_str!("plain.cu"), entry: "layer_norm_plain" },
    registers: Source {
        file: "layer_norm/registers.cu",
        text: include_str!("registers.cu"),
        entry: "layer_norm_registers",
    },
    long: Source { file: "layer_norm/long.cu", text: include_str!("long.cu"), entry: "layer_norm_long" },
    form: &[],
};

/// Weights and bias, one of each for every element of a row.
#[derive(Clone, Copy, Debug)]
pub struct Affine<'a, T> {
    pub w: DeviceSlice<'a, T>,
    pub b: DeviceSlice<'a, T>,
}

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    row("plain", "one thread a row, three walks", KERNELS.plain),
    row("long", "a block a row of any length, three walks", KERNELS.long).fast(|_, _| rows::long(&KERNELS)),
    row("registers", "the row in registers, one exchange", KERNELS.registers)
        .fast(|_, cluster| rows::registers(&KERNELS, cluster)),
];

const fn row(name: &'static str, about: &'static str, source: Source) -> Implementation {
    Implementation::new("layer-norm", name, about, source, by_row).params(&["eps"])
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let affine = Affine { w: args.take::<T>("w")?, b: args.take::<T>("b")? };
    let (x, y) = (args.take::<T>("x")?, args.take_out::<T>("y")?);
    let (shape, eps) = (args.rows()?, args.value("eps")? as f32);
    let addresses = [x.address(), affine.w.address(), affine.b.address(), y.address()];
    let rung = RowRung::of_row::<T>(row, stream, shape, &addresses, KERNELS.weight)?;
    by_rung(stream, rung, x, affine, y, shape, eps)
}

/// The fastest rung for the shape.
pub fn layer_norm<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    affine: Affine<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    let addresses = [x.address(), affine.w.address(), affine.b.address(), y.address()];
    let rung = RowRung::best::<T>(stream, shape, &addresses, KERNELS.weight);
    by_rung(stream, rung, x, affine, y, shape, EPSILON)
}

/// The rung that is named.
pub fn by_rung<T: Element>(
    stream: &Stream,
    rung: RowRung,
    x: DeviceSlice<'_, T>,
    affine: Affine<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
    eps: f32,
) -> Result<()> {
    length("x", x.len(), shape.elements()?)?;
    length("w", affine.w.len(), shape.cols)?;
    length("b", affine.b.len(), shape.cols)?;
    length("y", y.len(), shape.elements()?)?;
    let addresses = [x.address(), affine.w.address(), affine.b.address(), y.address()];
    launch::<T>(stream, &KERNELS, rung, &addresses, shape, &[Argument::F32(eps)])
}
