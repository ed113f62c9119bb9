//! `add`: z = x + y, element by element.
//!
//! Two reads and one write, one addition each: nothing but memory matters.

use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

pub(crate) const PLAIN: Source =
    Source { file: "add/plain.cu", text: include_str!("plain.cu"), entry: "add_plain" };
pub(crate) const STREAM: Source =
    Source { file: "add/stream.cu", text: include_str!("stream.cu"), entry: "add_stream" };

/// How [`stream`] cuts its work: threads a block, packs of sixteen bytes a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    pub threads: u32,
    pub packs: u32,
}

impl Tile {
    pub const BEST: Tile = Tile { threads: 512, packs: 1 };

    pub fn constants(&self) -> [(&'static str, u32); 2] {
        [("THREADS", self.threads), ("PACKS", self.packs)]
    }

    /// Blocks for so many elements. The first pack may begin before the first element: one more.
    fn blocks(&self, elements: usize, per_pack: usize) -> Result<u32> {
        let packs = (elements + per_pack - 1).div_ceil(per_pack);
        blocks("tiles of one launch", packs.div_ceil(self.threads as usize * self.packs as usize))
    }
}

/// One element a thread.
pub fn plain<T: Element>(
    on: &Stream,
    x: DeviceSlice<'_, T>,
    y: DeviceSlice<'_, T>,
    z: DeviceSliceMut<'_, T>,
) -> Result<()> {
    let geometry = Geometry::line(blocks("blocks of 256 elements", z.len().div_ceil(256))?, 256);
    launch(on, &PLAIN, &Variant::of::<T>(&[]), &geometry, x, y, z)
}

/// Sixteen bytes an access, several in flight a thread: the fastest.
pub fn stream<T: Element>(
    on: &Stream,
    x: DeviceSlice<'_, T>,
    y: DeviceSlice<'_, T>,
    z: DeviceSliceMut<'_, T>,
    tile: Tile,
) -> Result<()> {
    let geometry = Geometry::line(tile.blocks(z.len(), T::PER_PACK)?, tile.threads);
    launch(on, &STREAM, &Variant::of::<T>(&tile.constants()), &geometry, x, y, z)
}

/// The fastest rung.
pub fn add<T: Element>(
    on: &Stream,
    x: DeviceSlice<'_, T>,
    y: DeviceSlice<'_, T>,
    z: DeviceSliceMut<'_, T>,
) -> Result<()> {
    stream(on, x, y, z, Tile::BEST)
}

fn launch<T: Element>(
    on: &Stream,
    source: &Source,
    variant: &Variant,
    geometry: &Geometry,
    x: DeviceSlice<'_, T>,
    y: DeviceSlice<'_, T>,
    z: DeviceSliceMut<'_, T>,
) -> Result<()> {
    length("x", x.len(), z.len())?;
    length("y", y.len(), z.len())?;
    if z.is_empty() {
        return Ok(());
    }
    let addresses = [x.address(), y.address(), z.address()].map(Argument::Address);
    let arguments = [addresses.as_slice(), &[Argument::I64(z.len() as i64)]].concat();
    on.device().kernel(source, variant)?.launch(on, geometry, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_element_is_in_one_tile(
            elements in 1usize..20_000,
            per_pack in prop_oneof![Just(4usize), Just(8)],
            phase in 0usize..8,
            packs in 1u32..5,
        ) {
            let tile = Tile { threads: 64, packs };
            let phase = (phase % per_pack) as i64;
            let mut times = vec![0; elements];
            // As `begin` in `stream.cu` says.
            let all = u64::from(tile.blocks(elements, per_pack).unwrap()) * u64::from(64 * packs);
            for pack in 0..all as i64 {
                let begin = pack * per_pack as i64 - phase;
                for i in (begin..begin + per_pack as i64).filter(|i| (0..elements as i64).contains(i)) {
                    times[i as usize] += 1;
                }
            }
            prop_assert!(times.iter().all(|&times| times == 1));
        }
    }
}
