//! `layer-norm` over the last axis: y = (x − mean x) / sqrt(var x + ε) · w + b, ε = 10⁻⁵.
//!
//! One read and one write of a row; w and b are read once a row, from a cache.

use crate::compile::Source;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::Argument;
use crate::rows::{RowKernels, RowRung, Weight, launch};
use crate::shape::{Rows, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

/// ε: keeps a row of equal elements finite.
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
};

/// Weights and bias, one of each for every element of a row.
#[derive(Clone, Copy, Debug)]
pub struct Affine<'a, T> {
    pub w: DeviceSlice<'a, T>,
    pub b: DeviceSlice<'a, T>,
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
    by_rung(stream, rung, x, affine, y, shape)
}

/// The rung that is named.
pub fn by_rung<T: Element>(
    stream: &Stream,
    rung: RowRung,
    x: DeviceSlice<'_, T>,
    affine: Affine<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    length("x", x.len(), shape.elements()?)?;
    length("w", affine.w.len(), shape.cols)?;
    length("b", affine.b.len(), shape.cols)?;
    length("y", y.len(), shape.elements()?)?;
    let addresses = [x.address(), affine.w.address(), affine.b.address(), y.address()];
    launch::<T>(stream, &KERNELS, rung, &addresses, shape, &[Argument::F32(EPSILON)])
}
