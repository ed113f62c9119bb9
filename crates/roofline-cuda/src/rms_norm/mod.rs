//! `rms-norm` over the last axis: y = x / sqrt(mean(x²) + ε) · w, ε = 10⁻⁶.
//!
//! One read and one write of a row; w is read once a row, from a cache. Infinity in a row makes its
//! finite elements 0 and the infinite ones NaN; NaN makes the whole row NaN.

use crate::compile::Source;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::Argument;
use crate::rows::{RowKernels, RowRung, Weight, launch};
use crate::shape::{Rows, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

/// ε: keeps a row of zeros finite.
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
};

/// The fastest rung for the shape.
pub fn rms_norm<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    w: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    let rung = RowRung::best::<T>(stream, shape, &[x.address(), w.address(), y.address()], KERNELS.weight);
    by_rung(stream, rung, x, w, y, shape)
}

/// The rung that is named.
pub fn by_rung<T: Element>(
    stream: &Stream,
    rung: RowRung,
    x: DeviceSlice<'_, T>,
    w: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    length("x", x.len(), shape.elements()?)?;
    length("w", w.len(), shape.cols)?;
    length("y", y.len(), shape.elements()?)?;
    let addresses = [x.address(), w.address(), y.address()];
    launch::<T>(stream, &KERNELS, rung, &addresses, shape, &[Argument::F32(EPSILON)])
}
