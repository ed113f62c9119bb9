//! What memory gives to a kernel that computes nothing: the yardstick beside which kernels are read.

use crate::catalog::Implementation;
use crate::compile::{Source, Variant};
use crate::elementwise::Tile;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

pub(crate) const COPY: Source =
    Source { file: "probe/copy.cu", text: include_str!("copy.cu"), entry: "probe_copy" };

pub(crate) const TRAFFIC: Source =
    Source { file: "probe/traffic.cu", text: include_str!("traffic.cu"), entry: "probe_traffic" };
pub(crate) const FMA: Source =
    Source { file: "probe/fma.cu", text: include_str!("fma.cu"), entry: "probe_fma" };

const FMA_THREADS: u32 = 256;
/// Blocks a multiprocessor that walk in strides.
const RESIDENT: usize = 8;
/// Multiply-adds that a thread does in a round.
const A_ROUND: u64 = 64;

const fn row(
    name: &'static str,
    about: &'static str,
    source: Source,
    variants: fn(&Implementation, u32) -> Vec<Variant>,
) -> Implementation {
    Implementation::helper("probe", name, about, source, variants)
}

/// No operation: what the others are read beside.
pub const LADDER: &[Implementation] = &[
    row("copy", "reads and writes, and computes nothing", COPY, tiles),
    row("traffic", "reads and writes several tensors", TRAFFIC, tiles),
    row("fma", "multiply-adds from registers", FMA, |_, _| vec![Variant::bare(&[("THREADS", FMA_THREADS)])]),
];

fn tiles(_: &Implementation, _: u32) -> Vec<Variant> {
    vec![Variant::bare(&Tile::BEST.constants())]
}

/// How [`traffic`] goes through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub tile: Tile,
    /// Whether few blocks walk in strides, instead of a block for each tile.
    pub walks: bool,
}

/// Most inputs that [`traffic`] reads.
pub const MOST_INPUTS: usize = 4;

/// Reads every input and writes the output, in whole packs of sixteen bytes; of inputs, what is left of a pack
/// is left out.
pub fn traffic(
    stream: &Stream,
    inputs: &[DeviceSlice<'_, u8>],
    y: DeviceSliceMut<'_, u8>,
    way: Way,
) -> Result<()> {
    if inputs.len() > MOST_INPUTS {
        return Err(CudaError::TooLarge { what: "inputs of a probe", got: inputs.len(), most: MOST_INPUTS });
    }
    let lies_well = |address: u64| address.is_multiple_of(16);
    if !lies_well(y.address()) || !inputs.iter().all(|input| lies_well(input.address())) {
        return Err(CudaError::Length { what: "an address of packs", got: 1, wanted: 16 });
    }
    let packs = |bytes: usize| Argument::I64((bytes / 16) as i64);
    let longest = inputs.iter().map(DeviceSlice::len).chain([y.len()]).max().unwrap_or(0) / 16;
    let tiles = longest.max(1).div_ceil(way.tile.threads as usize * way.tile.packs as usize);
    let most = if way.walks { RESIDENT * stream.device().info().multiprocessors } else { usize::MAX };
    let geometry = Geometry::line(blocks("tiles of one launch", tiles.min(most))?, way.tile.threads);
    let mut arguments = Vec::new();
    for number in 0..MOST_INPUTS {
        let (address, bytes) =
            inputs.get(number).map_or((y.address(), 0), |input| (input.address(), input.len()));
        arguments.extend([Argument::Address(address), packs(bytes)]);
    }
    let (longest, tail) = (Argument::I64(longest as i64), Argument::I64((y.len() % 16) as i64));
    arguments.extend([Argument::Address(y.address()), packs(y.len()), longest, tail]);
    let kernel = stream.device().kernel(&TRAFFIC, &Variant::bare(&way.tile.constants()))?;
    kernel.launch(stream, &geometry, &arguments)
}

/// At least so many multiply-adds in f32, spread over the device.
pub fn multiply_adds(stream: &Stream, sink: DeviceSliceMut<'_, u8>, count: u64) -> Result<()> {
    length("the sink in bytes", sink.len().min(4), 4)?;
    let grid = (RESIDENT * stream.device().info().multiprocessors.max(1)) as u64;
    let rounds = count.div_ceil(grid * u64::from(FMA_THREADS) * A_ROUND);
    let geometry = Geometry::line(grid as u32, FMA_THREADS);
    let kernel = stream.device().kernel(&FMA, &Variant::bare(&[("THREADS", FMA_THREADS)]))?;
    let arguments = [Argument::Address(sink.address()), Argument::F32(0.75), Argument::I64(rounds as i64)];
    kernel.launch(stream, &geometry, &arguments)
}

/// y = x, for whole packs of sixteen bytes.
pub fn copy(stream: &Stream, x: DeviceSlice<'_, u8>, y: DeviceSliceMut<'_, u8>, tile: Tile) -> Result<()> {
    length("x", x.len(), y.len())?;
    if !x.len().is_multiple_of(16) || !x.address().is_multiple_of(16) || !y.address().is_multiple_of(16) {
        let wanted = x.len().next_multiple_of(16);
        return Err(CudaError::Length { what: "a copy in packs of sixteen bytes", got: x.len(), wanted });
    }
    let packs = x.len() / 16;
    if packs == 0 {
        return Ok(());
    }
    let each = tile.threads as usize * tile.packs as usize;
    let geometry = Geometry::line(blocks("tiles of one launch", packs.div_ceil(each))?, tile.threads);
    let kernel = stream.device().kernel(&COPY, &Variant::bare(&tile.constants()))?;
    let addresses = [x.address(), y.address()].map(Argument::Address);
    kernel.launch(stream, &geometry, &[addresses.as_slice(), &[Argument::I64(packs as i64)]].concat())
}
