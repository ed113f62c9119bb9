//! Softmax and its logarithm along columns, or any middle dimension: lines that lie across memory.

use super::Of;
use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::reduce::{Lines, cut_columns};
use crate::shape::{blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
use crate::{bf16, f16};

const PLAIN: Source = Source {
    file: "softmax/lines_plain.cu",
    text: include_str!("lines_plain.cu"),
    entry: "softmax_lines_plain",
};
const LINES: Source =
    Source { file: "softmax/lines.cu", text: include_str!("lines.cu"), entry: "softmax_lines" };

const BY_LINE: Implementation =
    Implementation::new("softmax.columns", "plain", "one thread a line, three walks", PLAIN, by_row)
        .slow(|row, _| of_each(&[log_of(row)]));
const SHARED: Implementation = Implementation::new(
    "softmax.columns",
    "shared",
    "threads below each other share a line, two walks; sixteen bytes an access",
    LINES,
    by_row,
)
.fast(|row, _| {
    fn of<T: Element>(row: &Implementation) -> Vec<Variant> {
        let cut = |inner| cut_columns(Lines { outer: 1, length: 999, inner }, T::PER_PACK, true).ok();
        let cuts = [999, 1024].into_iter().filter_map(cut);
        cuts.map(|(constants, _)| Variant::of::<T>(&[constants.as_slice(), &[log_of(row)]].concat()))
            .collect()
    }
    [of::<f32>(row), of::<bf16>(row), of::<f16>(row)].concat()
});

/// Two rungs of every form.
pub const LADDER: &[Implementation] = &[
    BY_LINE,
    SHARED,
    BY_LINE.form("log-softmax.columns"),
    SHARED.form("log-softmax.columns"),
    BY_LINE.form("softmax-axis"),
    SHARED.form("softmax-axis"),
    BY_LINE.form("log-softmax-axis"),
    SHARED.form("log-softmax-axis"),
];

fn log_of(row: &Implementation) -> (&'static str, u32) {
    ("LOG", u32::from(row.operation.starts_with("log")))
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let lines = match row.operation.ends_with("-axis") {
        true => {
            Lines { outer: args.axis("outer")?, length: args.axis("length")?, inner: args.axis("inner")? }
        }
        false => Lines { outer: 1, length: args.axis("rows")?, inner: args.axis("cols")? },
    };
    launch(stream, row.fast, log_of(row), args.take::<T>("x")?, args.take_out("y")?, lines)
}

/// Softmax of lines, or its logarithm, by the fastest rung.
///
/// ```no_run
/// use roofline_cuda::reduce::Lines;
/// use roofline_cuda::softmax::{Of, softmax_lines};
/// use roofline_cuda::{Device, DeviceVec, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[1.0f32; 4])?;
/// let mut y = DeviceVec::new(stream.device(), 4)?;
/// let columns = Lines { outer: 1, length: 2, inner: 2 };
/// softmax_lines(&stream, Of::Softmax, x.as_slice(), y.as_slice_mut()?, columns)?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [0.5; 4]);
/// # Ok(())
/// # }
/// ```
pub fn softmax_lines<T: Element>(
    stream: &Stream,
    of: Of,
    x: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    lines: Lines,
) -> Result<()> {
    if of == Of::Masked {
        return Err(CudaError::Unsupported("masked lines that are no rows".to_owned()));
    }
    launch(stream, true, ("LOG", u32::from(of == Of::Logarithm)), x, y, lines)
}

fn launch<T: Element>(
    stream: &Stream,
    fast: bool,
    log: (&'static str, u32),
    x: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    lines: Lines,
) -> Result<()> {
    length("x", x.len(), lines.elements()?)?;
    length("y", y.len(), lines.elements()?)?;
    if y.is_empty() {
        return Ok(());
    }
    let aligned = [x.address(), y.address()].iter().all(|address| address.is_multiple_of(16));
    let (source, constants, geometry) = match fast {
        true => {
            let (constants, geometry) = cut_columns(lines, T::PER_PACK, aligned)?;
            (&LINES, constants, geometry)
        }
        false => (&PLAIN, Vec::new(), Geometry::line(blocks("lines", lines.count()?.div_ceil(128))?, 128)),
    };
    let kernel =
        stream.device().kernel(source, &Variant::of::<T>(&[constants.as_slice(), &[log]].concat()))?;
    let addresses = [x.address(), y.address()].map(Argument::Address);
    let sizes = [lines.outer, lines.length, lines.inner].map(|size| Argument::I64(size as i64));
    kernel.launch(stream, &geometry, &[addresses.as_slice(), &sizes].concat())
}
