//! `rms-norm` over the last axis: y = x / sqrt(mean(x²) + ε) · w.
//!
//! One read and one write of a row; w is read once a row, from a cache. Infinity in a row makes its
//! finite elements 0 and the infinite ones NaN; NaN makes the whole row NaN.

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

/// The usual ε, which keeps a row of zeros finite.
pub const EPSILON: f32 = 1e-6;

pub(crate) const KERNELS: RowKernels = RowKernels {
    weight: Weight::Light,
    plain: Source { file: "rms_norm/plain.cu", text: include_str!("plain.cu"), entry: "rms_norm_plain" },
    registers: Source {
        file: "rms_norm/registers.cu",
        text: include_str!("registers.cu"),
        entry: "rms_norm_registers",
    },
    long: Source { file: "rms_norm/long.cu", text: include_str!("long.cu"), entry: "rms_norm_long" },
    form: &[],
};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    row("plain", "one thread a row, two walks", KERNELS.plain),
    row("long", "a block a row of any length, two walks", KERNELS.long).fast(|_, _| rows::long(&KERNELS)),
    row("registers", "the row in registers, one exchange", KERNELS.registers)
        .fast(|_, cluster| rows::registers(&KERNELS, cluster)),
];

const fn row(name: &'static str, about: &'static str, source: Source) -> Implementation {
    Implementation::new("rms-norm", name, about, source, by_row).params(&["eps"])
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let (x, w, y) = (args.take::<T>("x")?, args.take::<T>("w")?, args.take_out::<T>("y")?);
    let (shape, eps) = (args.rows()?, args.value("eps")? as f32);
    let addresses = [x.address(), w.address(), y.address()];
    let rung = RowRung::of_row::<T>(row, stream, shape, &addresses, KERNELS.weight)?;
    by_rung(stream, rung, x, w, y, shape, eps)
}

/// The fastest rung for the shape.
pub fn rms_norm<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    w: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    let rung = RowRung::best::<T>(stream, shape, &[x.address(), w.address(), y.address()], KERNELS.weight);
    by_rung(stream, rung, x, w, y, shape, EPSILON)
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
    length("x", x.len(), shape.elements()?)?;
    length("w", w.len(), shape.cols)?;
    length("y", y.len(), shape.elements()?)?;
    let addresses = [x.address(), w.address(), y.address()];
    launch::<T>(stream, &KERNELS, rung, &addresses, shape, &[Argument::F32(eps)])
}
