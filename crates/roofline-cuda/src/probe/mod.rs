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
pub(crate) const MATRIX: Source =
    Source { file: "probe/matrix.cu", text: include_str!("matrix.cu"), entry: "probe_matrix" };

const FMA_THREADS: u32 = 256;
const MATRIX_THREADS: u32 = 256;
/// Blocks a multiprocessor that walk in strides.
const RESIDENT: usize = 8;
/// Multiply-adds that a thread does in a round, and rounds below which another block is not worth its start.
const A_ROUND: u64 = 8;
const FEW_ROUNDS: u64 = 8;

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
    row("traffic", "reads and writes several tensors", TRAFFIC, tiles_of_tensors),
    row("fma", "multiply-adds from registers", FMA, |_, _| vec![Variant::bare(&[("THREADS", FMA_THREADS)])]),
    row("matrix", "multiply-adds of matrix units, from shared memory", MATRIX, |_, _| {
        Operand::ALL.map(Operand::variant).to_vec()
    }),
];

fn tiles(_: &Implementation, _: u32) -> Vec<Variant> {
    vec![Variant::bare(&Tile::BEST.constants())]
}

/// The fewest and the most tensors, each with the most packs.
fn tiles_of_tensors(_: &Implementation, _: u32) -> Vec<Variant> {
    let tile = Tile { threads: 256, packs: MOST_PACKS };
    [(0, 1), (1, 1), (1, MOST_OUTPUTS), (MOST_INPUTS, 1), (MOST_INPUTS, MOST_OUTPUTS)]
        .map(|(inputs, outputs)| traffic_variant(tile, inputs, outputs))
        .to_vec()
}

fn traffic_variant(tile: Tile, inputs: usize, outputs: usize) -> Variant {
    let counts = [("INPUTS", inputs as u32), ("OUTPUTS", outputs as u32)];
    Variant::bare(&[counts, tile.constants()].concat())
}

/// How [`traffic`] goes through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub tile: Tile,
    /// Whether few blocks walk in strides, instead of a block for each tile.
    pub walks: bool,
}

/// Most tensors that [`traffic`] reads and writes, and most packs of each that a thread has in flight.
pub const MOST_INPUTS: usize = 8;
pub const MOST_OUTPUTS: usize = 4;
pub const MOST_PACKS: u32 = 8;

/// Reads every input and writes every output, in whole packs of sixteen bytes; of inputs, what is left of a pack
/// is left out.
pub fn traffic(
    stream: &Stream,
    inputs: &[DeviceSlice<'_, u8>],
    outputs: &[DeviceSliceMut<'_, u8>],
    way: Way,
) -> Result<()> {
    let counted = |what, got, most| {
        if got > most { Err(CudaError::TooLarge { what, got, most }) } else { Ok(()) }
    };
    counted("the number of inputs", inputs.len(), MOST_INPUTS)?;
    counted("the number of outputs", outputs.len(), MOST_OUTPUTS)?;
    counted("the number of packs in flight", way.tile.packs as usize, MOST_PACKS as usize)?;
    let read: Vec<(u64, usize)> = inputs.iter().map(|input| (input.address(), input.len())).collect();
    let written: Vec<(u64, usize)> = outputs.iter().map(|output| (output.address(), output.len())).collect();
    let lies_well = |(address, _): &(u64, usize)| address.is_multiple_of(16);
    if written.is_empty() || !read.iter().chain(&written).all(lies_well) {
        return Err(CudaError::Length { what: "an address of packs", got: 1, wanted: 16 });
    }
    let packs = |tensors: &[(u64, usize)]| tensors.iter().map(|(_, bytes)| bytes / 16).collect::<Vec<_>>();
    let (firsts_read, firsts_written, places) = walk(&packs(&read), &packs(&written));
    let tiles = places.max(1).div_ceil(way.tile.threads as usize * way.tile.packs as usize);
    let most = if way.walks { RESIDENT * stream.device().info().multiprocessors } else { usize::MAX };
    let geometry = Geometry::line(blocks("tiles of one launch", tiles.min(most))?, way.tile.threads);
    let span = |((address, bytes), first): (&(u64, usize), &usize)| {
        Argument::Words([*address, *first as u64, *bytes as u64])
    };
    let none = || std::iter::repeat(Argument::Words([written[0].0, 0, 0]));
    let mut arguments: Vec<Argument> = Vec::new();
    arguments.extend(read.iter().zip(&firsts_read).map(span).chain(none()).take(MOST_INPUTS));
    arguments.extend(written.iter().zip(&firsts_written).map(span).chain(none()).take(MOST_OUTPUTS));
    arguments.push(Argument::I64(places as i64));
    let variant = traffic_variant(way.tile, inputs.len(), outputs.len());
    stream.device().kernel(&TRAFFIC, &variant)?.launch(stream, &geometry, &arguments)
}

/// The places of the walk at which tensors of so many packs begin, and how many places there are: tensors lie beside each
/// other, or behind each other where one on the other side is as long as all of them, so that reads and writes mix evenly.
fn walk(read: &[usize], written: &[usize]) -> (Vec<usize>, Vec<usize>, usize) {
    let longest = |tensors: &[usize]| tensors.iter().copied().max().unwrap_or(0);
    let firsts = |own: &[usize], other: &[usize]| -> Vec<usize> {
        let all: usize = own.iter().sum();
        let behind = |packs: usize| if all <= longest(other) { packs } else { 0 };
        own.iter().scan(0, |next, packs| Some(std::mem::replace(next, *next + behind(*packs)))).collect()
    };
    (firsts(read, written), firsts(written, read), longest(read).max(longest(written)))
}

/// At least so many multiply-adds in f32, and at most an eighth more, spread over the device.
pub fn multiply_adds(stream: &Stream, sink: DeviceSliceMut<'_, u8>, count: u64) -> Result<()> {
    length("the sink in bytes", sink.len().min(4), 4)?;
    let (blocks, rounds) = spread(count, stream.device().info().multiprocessors);
    let kernel = stream.device().kernel(&FMA, &Variant::bare(&[("THREADS", FMA_THREADS)]))?;
    let arguments = [Argument::Address(sink.address()), Argument::F32(0.75), Argument::I64(rounds as i64)];
    kernel.launch(stream, &Geometry::line(blocks, FMA_THREADS), &arguments)
}

/// Blocks, and rounds of each thread, for so many multiply-adds: work for a part of the device is no work for all of it.
fn spread(count: u64, multiprocessors: usize) -> (u32, u64) {
    let a_block = u64::from(FMA_THREADS) * A_ROUND;
    let most = (RESIDENT * multiprocessors.max(1)) as u64;
    let blocks = count.div_ceil(a_block * FEW_ROUNDS).clamp(1, most);
    (blocks as u32, count.div_ceil(blocks * a_block))
}

/// What matrix units multiply. They add up in f32, and whole numbers in i32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Bf16,
    F16,
    I8,
}

impl Operand {
    pub const ALL: [Operand; 3] = [Operand::Bf16, Operand::F16, Operand::I8];

    /// Floats are of either sign, from a half to two; whole numbers are any.
    fn variant(self) -> Variant {
        let (kind, noise, least) = match self {
            Operand::Bf16 => ("bf16", 0x80ff_80ff, 0x3f00_3f00),
            Operand::F16 => ("f16", 0x87ff_87ff, 0x3800_3800),
            Operand::I8 => ("s8", u32::MAX, 0),
        };
        let is_whole = u32::from(self == Operand::I8);
        Variant::bare(&[("IS_WHOLE", is_whole), ("NOISE", noise), ("LEAST", least)]).with("KIND", kind)
    }

    /// Multiply-adds of a block in a round.
    const fn a_round(self) -> u64 {
        let depth = match self {
            Operand::Bf16 | Operand::F16 => 16,
            Operand::I8 => 32,
        };
        128 * 256 * depth
    }
}

/// At least so many multiply-adds on the matrix units, spread over the device. Newer ones than those of compute capability 9
/// have instructions of their own, without which the probe would be no limit.
pub fn matrix_multiply_adds(
    stream: &Stream,
    sink: DeviceSliceMut<'_, u8>,
    operand: Operand,
    count: u64,
) -> Result<()> {
    length("the sink in bytes", sink.len().min(4), 4)?;
    let info = stream.device().info();
    if !matches!(info.capability.major, 8 | 9) {
        let why = format!("matrix units of compute capability {} have no probe", info.capability);
        return Err(CudaError::Unsupported(why));
    }
    let all_rounds = count.div_ceil(operand.a_round());
    let blocks = all_rounds.clamp(1, info.multiprocessors.max(1) as u64);
    let kernel = stream.device().kernel(&MATRIX, &operand.variant())?;
    let arguments = [Argument::Address(sink.address()), Argument::I64(all_rounds.div_ceil(blocks) as i64)];
    kernel.launch(stream, &Geometry::line(blocks as u32, MATRIX_THREADS), &arguments)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn little_more_is_multiplied_than_was_asked_for(count in 1u64..1 << 44, multiprocessors in 1usize..200) {
            let (blocks, rounds) = spread(count, multiprocessors);
            let done = u64::from(blocks) * u64::from(FMA_THREADS) * A_ROUND * rounds;
            let a_block = u64::from(FMA_THREADS) * A_ROUND * FEW_ROUNDS;
            prop_assert!(done >= count && done <= count + (count / 8).max(a_block), "{done} for {count}");
            prop_assert!(blocks as usize <= RESIDENT * multiprocessors);
        }
    }

    proptest! {
        #[test]
        fn every_pack_has_a_place(
            read in proptest::collection::vec(0usize..1000, 0..MOST_INPUTS),
            written in proptest::collection::vec(0usize..1000, 1..MOST_OUTPUTS),
        ) {
            let (firsts_read, firsts_written, places) = walk(&read, &written);
            let all = firsts_read.iter().zip(&read).chain(firsts_written.iter().zip(&written));
            prop_assert!(all.clone().all(|(first, packs)| first + packs <= places));
            prop_assert!(all.clone().any(|(_, packs)| *packs == places), "no place is for nothing");
        }
    }

    #[test]
    fn parts_of_one_tensor_follow_each_other() {
        assert_eq!(walk(&[100], &[60, 40]), (vec![0], vec![0, 60], 100), "split");
        assert_eq!(walk(&[60, 40], &[100]), (vec![0, 60], vec![0], 100), "cat");
        assert_eq!(walk(&[100, 100, 1], &[100, 100]), (vec![0, 0, 0], vec![0, 0], 100), "add-rms-norm");
        assert_eq!(walk(&[100], &[25, 1]), (vec![0], vec![0, 25], 100), "quantize");
    }

    #[test]
    fn little_work_is_for_a_part_of_the_device() {
        assert_eq!(spread(1, 132), (1, 1));
        assert_eq!(spread(100 * 256 * 64, 132), (100, 8));
        assert_eq!(spread(0, 132), (1, 0));
        let (blocks, rounds) = spread(1 << 40, 132);
        assert_eq!((blocks, rounds), (8 * 132, (1u64 << 40).div_ceil(8 * 132 * 256 * 8)));
    }
}
