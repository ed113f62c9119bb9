//! What memory gives to a kernel that computes nothing: the yardstick beside which kernels are read.

use crate::add::Tile;
use crate::compile::{Source, Variant};
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

pub(crate) const COPY: Source =
    Source { file: "probe/copy.cu", text: include_str!("copy.cu"), entry: "probe_copy" };

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
