//! `batch-norm`: y = (x − mean) / sqrt(var + ε) · w + b, each channel with the statistics that were learnt.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::elementwise::Tile;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

const PLAIN: Source =
    Source { file: "batch_norm/plain.cu", text: include_str!("plain.cu"), entry: "batch_norm_plain" };
const STREAM: Source =
    Source { file: "batch_norm/stream.cu", text: include_str!("stream.cu"), entry: "batch_norm_stream" };

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new("batch-norm", "plain", "one element a thread", PLAIN, by_row).params(&["eps"]),
    Implementation::new("batch-norm", "stream", "sixteen bytes an access", STREAM, by_row)
        .fast(|_, _| of_each(&Tile::BEST.constants()))
        .params(&["eps"]),
];

/// x[batch, channels, pixels].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Images {
    pub batch: usize,
    pub channels: usize,
    pub pixels: usize,
}

/// What was learnt, a number for each channel.
#[derive(Clone, Copy, Debug)]
pub struct Learnt<'a, T> {
    pub mean: DeviceSlice<'a, T>,
    pub var: DeviceSlice<'a, T>,
    pub w: DeviceSlice<'a, T>,
    pub b: DeviceSlice<'a, T>,
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let [batch, channels, pixels] = [args.axis("batch")?, args.axis("channels")?, args.axis("pixels")?];
    let (mean, var) = (args.take::<T>("mean")?, args.take("var")?);
    let learnt = Learnt { mean, var, w: args.take("w")?, b: args.take("b")? };
    let (shape, eps) = (Images { batch, channels, pixels }, args.value("eps")? as f32);
    launch(stream, row.fast, args.take("x")?, learnt, args.take_out("y")?, shape, eps)
}

/// By the fastest rung.
///
/// ```no_run
/// use roofline_cuda::batch_norm::{Images, Learnt, batch_norm};
/// use roofline_cuda::{Device, DeviceVec, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let (x, one) = (DeviceVec::from_host(&stream, &[2.0f32, 3.0])?, DeviceVec::from_host(&stream, &[1.0f32])?);
/// let mut y = DeviceVec::new(stream.device(), 2)?;
/// let one = one.as_slice();
/// let (learnt, shape) = (Learnt { mean: one, var: one, w: one, b: one }, Images { batch: 1, channels: 1, pixels: 2 });
/// batch_norm(&stream, x.as_slice(), learnt, y.as_slice_mut()?, shape, 0.0)?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
pub fn batch_norm<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    learnt: Learnt<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Images,
    eps: f32,
) -> Result<()> {
    launch(stream, true, x, learnt, y, shape, eps)
}

fn launch<T: Element>(
    stream: &Stream,
    fast: bool,
    x: DeviceSlice<'_, T>,
    Learnt { mean, var, w, b }: Learnt<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Images,
    eps: f32,
) -> Result<()> {
    let lines = product("channels of all images", shape.batch, shape.channels)?;
    length("x", x.len(), product("elements", lines, shape.pixels)?)?;
    length("y", y.len(), x.len())?;
    [mean, var, w, b].iter().try_for_each(|of| length("a statistic", of.len(), shape.channels))?;
    if y.is_empty() {
        return Ok(());
    }
    let (source, constants, geometry) = match fast {
        true => (&STREAM, Tile::BEST.constants().to_vec(), Tile::BEST.geometry::<T>(y.len())?),
        false => {
            let grid = blocks("blocks of 256 elements", y.len().div_ceil(256))?;
            (&PLAIN, Vec::new(), Geometry::line(grid, 256))
        }
    };
    let addresses = [x.address(), mean.address(), var.address(), w.address(), b.address(), y.address()];
    let sizes = [y.len(), shape.channels, shape.pixels].map(|size| Argument::I64(size as i64));
    let arguments = [&addresses.map(Argument::Address) as &[_], &sizes, &[Argument::F32(eps)]].concat();
    let kernel = stream.device().kernel(source, &Variant::of::<T>(&constants))?;
    kernel.launch(stream, &geometry, &arguments)
}
