//! `cross-entropy` of logits with one target a row: loss = log Σ exp x − x[target].
//!
//! One read of the logits; one f32 a row is written. A target that names no column makes its row NaN.

use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::rows::check_cols;
use crate::shape::{Rows, blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

pub(crate) const PLAIN: Source =
    Source { file: "cross_entropy/plain.cu", text: include_str!("plain.cu"), entry: "cross_entropy_plain" };
pub(crate) const ONLINE: Source = Source {
    file: "cross_entropy/online.cu",
    text: include_str!("online.cu"),
    entry: "cross_entropy_online",
};

/// What `online.cu` is compiled with: more in flight a thread where a pack has more elements, and two
/// warps where a row is over before more of them have begun.
pub(crate) fn constants<T: Element>(cols: usize) -> [(&'static str, u32); 2] {
    let half = T::PER_PACK > 4;
    let (threads, packs) = match cols {
        ..=4096 => (64, if half { 2 } else { 4 }),
        _ if half => (256, 8),
        _ => (128, 4),
    };
    [("THREADS", threads), ("PACKS", packs)]
}

/// One thread a row.
pub fn plain<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    target: DeviceSlice<'_, i64>,
    loss: DeviceSliceMut<'_, f32>,
    shape: Rows,
) -> Result<()> {
    let geometry = Geometry::line(blocks("rows", shape.rows.div_ceil(128))?, 128);
    launch(stream, &PLAIN, &Variant::of::<T>(&[]), &geometry, x, target, loss, shape)
}

/// A block a row, one walk: the fastest.
pub fn cross_entropy<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    target: DeviceSlice<'_, i64>,
    loss: DeviceSliceMut<'_, f32>,
    shape: Rows,
) -> Result<()> {
    let constants = constants::<T>(shape.cols);
    let geometry = Geometry::line(blocks("rows", shape.rows)?, constants[0].1);
    launch(stream, &ONLINE, &Variant::of::<T>(&constants), &geometry, x, target, loss, shape)
}

#[expect(
    clippy::too_many_arguments,
    reason = "kernel, variant and geometry beside the operation's own arguments"
)]
fn launch<T: Element>(
    stream: &Stream,
    source: &Source,
    variant: &Variant,
    geometry: &Geometry,
    x: DeviceSlice<'_, T>,
    target: DeviceSlice<'_, i64>,
    loss: DeviceSliceMut<'_, f32>,
    shape: Rows,
) -> Result<()> {
    length("x", x.len(), shape.elements()?)?;
    length("target", target.len(), shape.rows)?;
    length("loss", loss.len(), shape.rows)?;
    check_cols(shape.cols)?;
    if shape.rows == 0 || shape.cols == 0 {
        return Ok(());
    }
    let addresses = [x.address(), target.address(), loss.address()].map(Argument::Address);
    let sizes = [shape.rows, shape.cols].map(|size| Argument::I64(size as i64));
    let arguments = [addresses.as_slice(), &sizes].concat();
    stream.device().kernel(source, variant)?.launch(stream, geometry, &arguments)
}
