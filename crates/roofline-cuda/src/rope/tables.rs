//! `rope-tables`: what cached forms of rope read.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::rows::check_cols;
use crate::shape::{blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

const SOURCE: Source =
    Source { file: "rope/tables.cu", text: include_str!("tables.cu"), entry: "rope_tables" };
const THREADS: u32 = 64;

/// Two rungs of one source: a frequency for each angle, and one for several positions.
pub const LADDER: &[Implementation] = &[
    Implementation::new("rope-tables", "plain", "one angle a thread", SOURCE, by_row)
        .slow(|row, _| of_each(&constants(row.fast)))
        .params(&["base", "angle-bits"]),
    Implementation::new("rope-tables", "shared", "a frequency for eight positions", SOURCE, by_row)
        .fast(|row, _| of_each(&constants(row.fast)))
        .params(&["base", "angle-bits"]),
];

fn constants(fast: bool) -> [(&'static str, u32); 2] {
    [("THREADS", THREADS), ("POSITIONS", if fast { 8 } else { 1 })]
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let (dim, base) = (args.axis("dim")?, args.value("base")?);
    let (cos, sin) = (args.take_out::<T>("cos")?, args.take_out("sin")?);
    launch(stream, row.fast, args.take("positions")?, [cos, sin], dim, base)
}

/// Cosines and sines, for every position a row of dim / 2 each, by the fastest rung.
///
/// ```no_run
/// use roofline_cuda::{Device, DeviceVec, Stream, rope::rope_tables};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let positions = DeviceVec::from_host(&stream, &[0])?;
/// let (mut cos, mut sin) = (DeviceVec::new(stream.device(), 1)?, DeviceVec::new(stream.device(), 1)?);
/// rope_tables::<f32>(&stream, positions.as_slice(), [cos.as_slice_mut()?, sin.as_slice_mut()?], 2, 1e4)?;
/// assert_eq!(cos.as_slice().to_host(&stream)?, [1.0]);
/// # Ok(())
/// # }
/// ```
pub fn rope_tables<T: Element>(
    stream: &Stream,
    positions: DeviceSlice<'_, i32>,
    tables: [DeviceSliceMut<'_, T>; 2],
    dim: usize,
    base: f64,
) -> Result<()> {
    launch(stream, true, positions, tables, dim, base)
}

fn launch<T: Element>(
    stream: &Stream,
    fast: bool,
    positions: DeviceSlice<'_, i32>,
    [cos, sin]: [DeviceSliceMut<'_, T>; 2],
    dim: usize,
    base: f64,
) -> Result<()> {
    let elements = product("elements of a table", positions.len(), dim / 2)?;
    length("a head", dim, dim / 2 * 2)?;
    length("cosines", cos.len(), elements)?;
    length("sines", sin.len(), elements)?;
    check_cols(dim)?;
    if elements == 0 {
        return Ok(());
    }
    let of_block = if fast { 8 } else { 1 };
    let tiles = product("tiles", (dim / 2).div_ceil(THREADS as usize), positions.len().div_ceil(of_block))?;
    let addresses = [positions.address(), cos.address(), sin.address()].map(Argument::Address);
    let sizes = [positions.len(), dim].map(|size| Argument::I64(size as i64));
    let kernel = stream.device().kernel(&SOURCE, &Variant::of::<T>(&constants(fast)))?;
    let arguments = [addresses.as_slice(), &sizes, &[Argument::F64(base)]].concat();
    kernel.launch(stream, &Geometry::line(blocks("tiles", tiles)?, THREADS), &arguments)
}
