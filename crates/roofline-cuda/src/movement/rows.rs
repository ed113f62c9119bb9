//! `embedding`: rows of a table by their numbers.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::shape::{Rows, blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

const SOURCE: Source = Source { file: "movement/rows.cu", text: include_str!("rows.cu"), entry: "embedding" };
const THREADS: u32 = 256;

/// Two rungs of one source.
pub const LADDER: &[Implementation] = &[
    Implementation::new("embedding", "plain", "one element a thread", SOURCE, by_row).slow(variants),
    Implementation::new(
        "embedding",
        "stream",
        "sixteen bytes an access, shifted where they must be",
        SOURCE,
        by_row,
    )
    .fast(variants),
];

fn variants(row: &Implementation, _: u32) -> Vec<Variant> {
    of_each(&constants(row.fast))
}

fn constants(fast: bool) -> [(&'static str, u32); 3] {
    [("THREADS", THREADS), ("PACKS", 1), ("ONE_BY_ONE", u32::from(!fast))]
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let table = Rows { rows: args.axis("table")?, cols: args.axis("cols")? };
    launch(stream, row.fast, args.take::<T>("x")?, table, args.take("t")?, args.take_out("y")?)
}

/// The rows of a table that `numbers` names, one behind the other, by the fastest rung. A number that no row has names the
/// last one.
///
/// ```no_run
/// use roofline_cuda::{Device, DeviceVec, Rows, Stream, movement::embedding};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let table = DeviceVec::from_host(&stream, &[1.0f32, 2.0, 3.0, 4.0])?;
/// let numbers = DeviceVec::from_host(&stream, &[1])?;
/// let mut y = DeviceVec::new(stream.device(), 2)?;
/// embedding(&stream, table.as_slice(), Rows { rows: 2, cols: 2 }, numbers.as_slice(), y.as_slice_mut()?)?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [3.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub fn embedding<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    table: Rows,
    numbers: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
) -> Result<()> {
    launch(stream, true, x, table, numbers, y)
}

fn launch<T: Element>(
    stream: &Stream,
    fast: bool,
    x: DeviceSlice<'_, T>,
    table: Rows,
    numbers: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
) -> Result<()> {
    length("the table", x.len(), table.elements()?)?;
    length("y", y.len(), product("elements of y", numbers.len(), table.cols)?)?;
    if y.is_empty() {
        return Ok(());
    }
    // Of a table without rows there is no last one.
    length("rows of the table, of at least one", table.rows.min(1), 1)?;
    let each = if fast { T::PER_PACK } else { 1 };
    // The first pack may begin before the first element: one more.
    let grid = blocks("tiles of one launch", (y.len() + each - 1).div_ceil(each).div_ceil(THREADS as usize))?;
    let addresses = [x.address(), numbers.address(), y.address()].map(Argument::Address);
    let sizes = [y.len(), table.rows, table.cols].map(|size| Argument::I64(size as i64));
    let kernel = stream.device().kernel(&SOURCE, &Variant::of::<T>(&constants(fast)))?;
    kernel.launch(stream, &Geometry::line(grid, THREADS), &[addresses, sizes].concat())
}
