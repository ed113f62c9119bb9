//! `dropout`: y = x · m / (1 − p), m being 0 with probability p and else 1, by lots of Philox4x32-10: element i has word
//! i mod 4 of the block of counter (i div 4, offset) under the key `seed`. The mask is that of the CPU's kernels, to the bit.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::elementwise::Tile;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

const PLAIN: Source =
    Source { file: "dropout/plain.cu", text: include_str!("plain.cu"), entry: "dropout_plain" };
const STREAM: Source =
    Source { file: "dropout/stream.cu", text: include_str!("stream.cu"), entry: "dropout_stream" };

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new("dropout", "plain", "one element a thread", PLAIN, by_row).params(&["p"]),
    Implementation::new("dropout", "stream", "sixteen bytes an access, every lot drawn once", STREAM, by_row)
        .fast(|_, _| of_each(&Tile::BEST.constants()))
        .params(&["p"]),
];

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let (x, seed, y) = (args.take::<T>("x")?, args.take("seed")?, args.take_out("y")?);
    let p = args.value("p")?;
    if row.fast { dropout(stream, x, seed, y, p) } else { plain(stream, x, seed, y, p) }
}

/// One element a thread. `seed` is the key and the offset.
pub fn plain<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    seed: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
    p: f64,
) -> Result<()> {
    let geometry = Geometry::line(blocks("blocks of 256 elements", y.len().div_ceil(256))?, 256);
    launch(stream, &PLAIN, &Variant::of::<T>(&[]), geometry, x, seed, y, p)
}

/// The fastest rung. `seed` is the key and the offset.
pub fn dropout<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    seed: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
    p: f64,
) -> Result<()> {
    let geometry = Tile::BEST.geometry::<T>(y.len())?;
    launch(stream, &STREAM, &Variant::of::<T>(&Tile::BEST.constants()), geometry, x, seed, y, p)
}

#[expect(
    clippy::too_many_arguments,
    reason = "kernel, variant and geometry beside the operation's own arguments"
)]
fn launch<T: Element>(
    stream: &Stream,
    source: &Source,
    variant: &Variant,
    geometry: Geometry,
    x: DeviceSlice<'_, T>,
    seed: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
    p: f64,
) -> Result<()> {
    length("x", x.len(), y.len())?;
    length("seed", seed.len(), 2)?;
    if y.is_empty() {
        return Ok(());
    }
    // Lots below this are dropped; of p = 1 all but one in 2³².
    let least = (p * 4_294_967_296.0).round() as u32;
    let addresses = [x.address(), seed.address(), y.address()].map(Argument::Address);
    let rest = [
        Argument::I64(y.len() as i64),
        Argument::I32(least.cast_signed()),
        Argument::F32((1.0 / (1.0 - p)) as f32),
    ];
    let kernel = stream.device().kernel(source, variant)?;
    kernel.launch(stream, &geometry, &[addresses.as_slice(), &rest].concat())
}
