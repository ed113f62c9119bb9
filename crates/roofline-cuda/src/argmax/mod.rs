//! `argmax`: where the maximum of each row stands, or of each line of a middle dimension. Of several the first one; of a line
//! with a NaN that NaN.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::reduce::{Lines, cut_rows};
use crate::rows::check_cols;
use crate::shape::{blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

const PLAIN: Source =
    Source { file: "argmax/plain.cu", text: include_str!("plain.cu"), entry: "argmax_plain" };
const ROWS: Source = Source { file: "argmax/rows.cu", text: include_str!("rows.cu"), entry: "argmax_rows" };

const BY_LINE: Implementation = Implementation::new("argmax", "plain", "one thread a line", PLAIN, by_row);
const SHARED: Implementation =
    Implementation::new("argmax", "shared", "sixteen bytes an access; rows shared by threads", ROWS, by_row)
        .fast(|_, _| {
            let cut = |cols| cut_rows(9, cols, 8).map_or(Vec::new(), |(constants, _)| of_each(&constants));
            [20, 1000, 8191].into_iter().flat_map(cut).collect()
        });

/// Two rungs for rows, and one for any line: there neighbours have neighbouring lines.
pub const LADDER: &[Implementation] = &[BY_LINE, SHARED, BY_LINE.form("argmax-axis")];

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let lines = match row.operation {
        "argmax" => Lines { outer: args.axis("rows")?, length: args.axis("cols")?, inner: 1 },
        _ => Lines { outer: args.axis("outer")?, length: args.axis("length")?, inner: args.axis("inner")? },
    };
    launch(stream, row.fast, args.take::<T>("x")?, args.take_out("y")?, lines)
}

/// The place of the maximum of each line, by the fastest rung. Lines have at least one element.
///
/// ```no_run
/// use roofline_cuda::{Device, DeviceVec, Stream, argmax::argmax, reduce::Lines};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[1.0f32, 3.0, 2.0])?;
/// let mut y = DeviceVec::new(stream.device(), 1)?;
/// argmax(&stream, x.as_slice(), y.as_slice_mut()?, Lines { outer: 1, length: 3, inner: 1 })?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [1]);
/// # Ok(())
/// # }
/// ```
pub fn argmax<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, i32>,
    lines: Lines,
) -> Result<()> {
    launch(stream, lines.inner == 1, x, y, lines)
}

fn launch<T: Element>(
    stream: &Stream,
    fast: bool,
    x: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, i32>,
    lines: Lines,
) -> Result<()> {
    length("x", x.len(), lines.elements()?)?;
    length("y", y.len(), lines.count()?)?;
    check_cols(lines.length)?;
    if y.is_empty() {
        return Ok(());
    }
    if lines.length == 0 {
        return Err(CudaError::Unsupported("the maximum of no element".to_owned()));
    }
    let (source, constants, geometry) = match fast {
        true => {
            let (constants, geometry) = cut_rows(lines.outer, lines.length, T::PER_PACK)?;
            (&ROWS, constants, geometry)
        }
        false => (&PLAIN, Vec::new(), Geometry::line(blocks("lines", y.len().div_ceil(128))?, 128)),
    };
    let addresses = [x.address(), y.address()].map(Argument::Address);
    let sizes = [lines.outer, lines.length, lines.inner].map(|size| Argument::I64(size as i64));
    let kernel = stream.device().kernel(source, &Variant::of::<T>(&constants))?;
    kernel.launch(stream, &geometry, &[addresses.as_slice(), &sizes].concat())
}
