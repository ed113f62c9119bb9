//! `focal`: −α · (1 − q)^γ · ln q of each element, where q is the probability of the class that is true.

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

const SOURCE: Source = Source { file: "focal/focal.cu", text: include_str!("focal.cu"), entry: "focal" };
const TILE: Tile = Tile { threads: 256, packs: 1 };

/// Two rungs of one source.
pub const LADDER: &[Implementation] = &[
    Implementation::new("focal", "plain", "one element a thread", SOURCE, by_row)
        .slow(|row, _| of_each(&constants(row.fast)))
        .params(&["alpha", "gamma"]),
    Implementation::new("focal", "stream", "sixteen bytes of probabilities an access", SOURCE, by_row)
        .fast(|row, _| of_each(&constants(row.fast)))
        .params(&["alpha", "gamma"]),
];

fn constants(fast: bool) -> [(&'static str, u32); 3] {
    [("THREADS", TILE.threads), ("PACKS", TILE.packs), ("ONE_BY_ONE", u32::from(!fast))]
}

/// How much a loss weighs, and how far sure elements are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Focus {
    pub alpha: f32,
    pub gamma: f32,
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let focus = Focus { alpha: args.value("alpha")? as f32, gamma: args.value("gamma")? as f32 };
    launch(stream, row.fast, args.take::<T>("p")?, args.take("t")?, args.take_out("y")?, focus)
}

/// The loss of each element, by the fastest rung.
///
/// ```no_run
/// use roofline_cuda::focal::{Focus, focal};
/// use roofline_cuda::{Device, DeviceVec, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let p = DeviceVec::from_host(&stream, &[1.0f32])?;
/// let t = DeviceVec::from_host(&stream, &[1])?;
/// let mut y = DeviceVec::new(stream.device(), 1)?;
/// let focus = Focus { alpha: 0.25, gamma: 2.0 };
/// focal(&stream, p.as_slice(), t.as_slice(), y.as_slice_mut()?, focus)?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [0.0]);
/// # Ok(())
/// # }
/// ```
pub fn focal<T: Element>(
    stream: &Stream,
    p: DeviceSlice<'_, T>,
    t: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
    focus: Focus,
) -> Result<()> {
    launch(stream, true, p, t, y, focus)
}

fn launch<T: Element>(
    stream: &Stream,
    fast: bool,
    p: DeviceSlice<'_, T>,
    t: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
    focus: Focus,
) -> Result<()> {
    length("p", p.len(), y.len())?;
    length("t", t.len(), y.len())?;
    if y.is_empty() {
        return Ok(());
    }
    let geometry = match fast {
        true => TILE.geometry::<T>(y.len())?,
        false => {
            let grid = blocks("elements", y.len().div_ceil(TILE.threads as usize))?;
            Geometry::line(grid, TILE.threads)
        }
    };
    let addresses = [p.address(), t.address(), y.address()].map(Argument::Address);
    let rest = [Argument::I64(y.len() as i64), Argument::F32(focus.alpha), Argument::F32(focus.gamma)];
    let kernel = stream.device().kernel(&SOURCE, &Variant::of::<T>(&constants(fast)))?;
    kernel.launch(stream, &geometry, &[addresses.as_slice(), &rest].concat())
}
