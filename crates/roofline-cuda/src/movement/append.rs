//! `kv-append`: new keys and values into the slots of a cache, in place.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

const SOURCE: Source =
    Source { file: "movement/append.cu", text: include_str!("append.cu"), entry: "kv_append" };
const THREADS: u32 = 256;

/// Two rungs of one source.
pub const LADDER: &[Implementation] = &[
    Implementation::new("kv-append", "plain", "one element a thread", SOURCE, by_row)
        .slow(|row, _| of_each(&constants(row.fast))),
    Implementation::new(
        "kv-append",
        "stream",
        "sixteen bytes an access, shifted where they must be",
        SOURCE,
        by_row,
    )
    .fast(|row, _| of_each(&constants(row.fast))),
];

fn constants(fast: bool) -> [(&'static str, u32); 3] {
    [("THREADS", THREADS), ("PACKS", 1), ("ONE_BY_ONE", u32::from(!fast))]
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let line = product("elements of a slot", args.axis("heads")?, args.axis("dim")?)?;
    let new = [args.take::<T>("k")?, args.take("v")?];
    let caches = [args.take_out("k-cache")?, args.take_out("v-cache")?];
    launch(stream, row.fast, new, args.take("slot")?, caches, line)
}

/// New keys and values of so many elements each into the slots of their caches, by the fastest rung. Slots differ from each
/// other; one that the caches do not have is left out.
///
/// ```no_run
/// use roofline_cuda::{Device, DeviceVec, Stream, movement::kv_append};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let new = DeviceVec::from_host(&stream, &[5.0f32])?;
/// let slot = DeviceVec::from_host(&stream, &[1])?;
/// let (mut k, mut v) = (DeviceVec::from_host(&stream, &[1.0, 2.0])?, DeviceVec::from_host(&stream, &[3.0, 4.0])?);
/// let caches = [k.as_slice_mut()?, v.as_slice_mut()?];
/// kv_append(&stream, [new.as_slice(), new.as_slice()], slot.as_slice(), caches, 1)?;
/// assert_eq!(k.as_slice().to_host(&stream)?, [1.0, 5.0]);
/// # Ok(())
/// # }
/// ```
pub fn kv_append<T: Element>(
    stream: &Stream,
    new: [DeviceSlice<'_, T>; 2],
    slots: DeviceSlice<'_, i32>,
    caches: [DeviceSliceMut<'_, T>; 2],
    line: usize,
) -> Result<()> {
    launch(stream, true, new, slots, caches, line)
}

fn launch<T: Element>(
    stream: &Stream,
    fast: bool,
    [k, v]: [DeviceSlice<'_, T>; 2],
    slots: DeviceSlice<'_, i32>,
    [k_cache, v_cache]: [DeviceSliceMut<'_, T>; 2],
    line: usize,
) -> Result<()> {
    let elements = product("new elements", slots.len(), line)?;
    length("new keys", k.len(), elements)?;
    length("new values", v.len(), elements)?;
    length("the cache of values", v_cache.len(), k_cache.len())?;
    if elements == 0 {
        return Ok(());
    }
    let count = k_cache.len() / line;
    length("the cache of keys", k_cache.len(), count * line)?;
    if i32::try_from(count).is_err() {
        return Err(CudaError::TooLarge { what: "slots", got: count, most: i32::MAX as usize });
    }
    let of_line = if fast { line.div_ceil(T::PER_PACK) + 1 } else { line };
    let threads = product("threads", slots.len(), of_line)?;
    let grid = blocks("tiles of one launch", threads.div_ceil(THREADS as usize))?;
    let geometry = Geometry { grid: [grid, 2, 1], ..Geometry::line(grid, THREADS) };
    let addresses = [k.address(), v.address(), slots.address(), k_cache.address(), v_cache.address()]
        .map(Argument::Address);
    let sizes = [slots.len(), count, line].map(|size| Argument::I64(size as i64));
    let kernel = stream.device().kernel(&SOURCE, &Variant::of::<T>(&constants(fast)))?;
    kernel.launch(stream, &geometry, &[addresses.as_slice(), &sizes].concat())
}
