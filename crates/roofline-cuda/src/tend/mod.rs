//! Tending tensors where they lie: single elements written and read, patterns, hashes, searches.
//!
//! For whoever owns memory that others compute with, and must know what they left there.

use std::time::Duration;

use crate::catalog::Implementation;
use crate::compile::{Source, Variant};
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

/// The file that all of these are in.
pub const TEXT: &str = include_str!("tend.cu");

const fn source(entry: &'static str) -> Source {
    Source { file: "tend/tend.cu", text: TEXT, entry }
}

const SCATTER: Source = source("tend_scatter");
const GATHER: Source = source("tend_gather");
const REPEAT: Source = source("tend_repeat");
const HASH: Source = source("tend_hash");
const FIND: Source = source("tend_find");
const NOTHING: Source = source("tend_nothing");
const SLEEP: Source = source("tend_sleep");

/// No operation, and not there for its speed.
pub const LADDER: &[Implementation] = &[Implementation {
    fast: false,
    ..Implementation::helper(
        "tend",
        "tend",
        "what an owner of tensors does with their bytes",
        SCATTER,
        |_, _| vec![Variant::bare(&[])],
    )
}];

const THREADS: u32 = 256;
/// Enough to fill any device several times over.
const MOST_BLOCKS: usize = 4096;

/// One launch that does `count` things.
fn launch(stream: &Stream, source: &Source, count: usize, arguments: &[Argument]) -> Result<()> {
    let blocks = count.div_ceil(THREADS as usize).clamp(1, MOST_BLOCKS) as u32;
    let kernel = stream.device().kernel(source, &Variant::bare(&[]))?;
    kernel.launch(stream, &Geometry::line(blocks, THREADS), arguments)
}

fn number(value: usize) -> Argument {
    Argument::I64(value as i64)
}

/// The bytes of an element as a word, low bytes first.
fn word(code: &[u8]) -> Result<u64> {
    if !matches!(code.len(), 1 | 2 | 4 | 8) {
        return Err(CudaError::Length { what: "an element in bytes", got: code.len(), wanted: 8 });
    }
    let mut word = [0; 8];
    word[..code.len()].copy_from_slice(code);
    Ok(u64::from_le_bytes(word))
}

/// Refuses places that do not lie in the memory. They are on the device, so their owner vouches for them there.
fn check_size(size: usize) -> Result<()> {
    word(&vec![0; size]).map(|_| ())
}

/// Writes elements of `size` bytes, given as words, at places in bytes, which lie inside.
pub fn scatter(
    stream: &Stream,
    to: DeviceSliceMut<'_, u8>,
    places: DeviceSlice<'_, u64>,
    words: DeviceSlice<'_, u64>,
    size: usize,
) -> Result<()> {
    check_size(size)?;
    let count = places.len().min(words.len());
    let addresses = [to.address(), places.address(), words.address()].map(Argument::Address);
    launch(stream, &SCATTER, count, &[addresses.as_slice(), &[number(size), number(count)]].concat())
}

/// Reads elements of `size` bytes as words from places in bytes, which lie inside.
pub fn gather(
    stream: &Stream,
    from: DeviceSlice<'_, u8>,
    places: DeviceSlice<'_, u64>,
    words: DeviceSliceMut<'_, u64>,
    size: usize,
) -> Result<()> {
    check_size(size)?;
    let count = places.len().min(words.len());
    let addresses = [from.address(), places.address(), words.address()].map(Argument::Address);
    launch(stream, &GATHER, count, &[addresses.as_slice(), &[number(size), number(count)]].concat())
}

/// An element, given by its bytes, again and again.
pub fn repeat(stream: &Stream, to: DeviceSliceMut<'_, u8>, code: &[u8]) -> Result<()> {
    let code_word = word(code)?;
    let count = to.len() / code.len();
    if !to.address().is_multiple_of(code.len() as u64) {
        return Err(CudaError::Length {
            what: "an address of elements",
            got: code.len(),
            wanted: code.len(),
        });
    }
    let arguments =
        [Argument::Address(to.address()), Argument::I64(code_word as i64), number(code.len()), number(count)];
    launch(stream, &REPEAT, count, &arguments)
}

/// A number that changes when any byte does; `room` is one word to work in.
pub fn hash(stream: &Stream, of: DeviceSlice<'_, u8>, mut room: DeviceSliceMut<'_, u64>) -> Result<u64> {
    let mut room = room.slice(0..1)?;
    room.upload(stream, &[of.len() as u64])?;
    let arguments = [Argument::Address(of.address()), Argument::Address(room.address()), number(of.len())];
    launch(stream, &HASH, of.len().div_ceil(8), &arguments)?;
    Ok(room.as_slice().to_host(stream)?[0])
}

/// The number of the first element that has exactly these bytes; `room` is one word to work in.
pub fn find(
    stream: &Stream,
    of: DeviceSlice<'_, u8>,
    code: &[u8],
    mut room: DeviceSliceMut<'_, u64>,
) -> Result<Option<u64>> {
    let (code_word, count) = (word(code)?, of.len() / code.len());
    let mut room = room.slice(0..1)?;
    room.upload(stream, &[u64::MAX])?;
    let addresses = [of.address(), room.address()].map(Argument::Address);
    let values = [Argument::I64(code_word as i64), number(code.len()), number(count)];
    launch(stream, &FIND, count, &[addresses.as_slice(), &values].concat())?;
    let first = room.as_slice().to_host(stream)?[0];
    Ok((first != u64::MAX).then_some(first))
}

/// Keeps the stream waiting for so long, a second at the most: what is queued meanwhile is there when it ends, and no time
/// between it is the host's.
pub fn sleep(stream: &Stream, time: Duration) -> Result<()> {
    let nanoseconds = time.min(Duration::from_secs(1)).as_nanos() as usize;
    let kernel = stream.device().kernel(&SLEEP, &Variant::bare(&[]))?;
    kernel.launch(stream, &Geometry::line(1, 1), &[number(nanoseconds)])
}

/// A launch of nothing, to see how long the device takes to get to it.
pub fn nothing(stream: &Stream) -> Result<()> {
    launch(stream, &NOTHING, 1, &[])
}
