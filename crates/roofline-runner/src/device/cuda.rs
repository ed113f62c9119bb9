//! The driver of a CUDA device.

use super::{Driver, Fault};
use roofline_cuda::{
    CardState, CudaError, Device, DeviceInfo, DeviceVec, Monitor, SharedMemory, Stream, tend,
};
use roofline_protocol::device::{Facts, Part, State};
use std::os::fd::OwnedFd;
use std::time::Instant;

/// More parts of at most a word than this are copied by one kernel instead of one by one.
const FEW: usize = 16;
const WORD: u64 = 8;
/// How much more than its cache is written and read to empty it.
const CACHES: usize = 3;

pub(crate) struct Cuda {
    stream: Stream,
    granule: usize,
    /// What is written and read to empty the cache; there when it was asked for once.
    ballast: Option<DeviceVec<u8>>,
    /// One word for results of kernels.
    word: DeviceVec<u64>,
    /// Where the driver's management library is there.
    monitor: Option<Monitor>,
}

impl Cuda {
    pub(crate) fn open(ordinal: usize) -> Result<Cuda, CudaError> {
        let device = Device::open(ordinal)?;
        let stream = Stream::new(&device)?;
        let granule = SharedMemory::granule(&device)?;
        let word = DeviceVec::new(&device, 1)?;
        let monitor = Monitor::of(&device.info().uuid);
        Ok(Cuda { stream, granule, ballast: None, word, monitor })
    }
}

pub(super) fn facts_of(info: &DeviceInfo, granule: usize) -> Facts {
    Facts {
        name: info.name.clone(),
        uuid: info.uuid.clone(),
        driver: format!("CUDA {}, compute capability {}", info.driver, info.capability),
        memory: info.memory_bytes as u64,
        cache: info.cache_bytes as u64,
        granule: granule as u64,
        multiprocessors: info.multiprocessors as u32,
    }
}

/// Memory of a tensor, between guards.
pub(crate) struct Memory {
    bytes: DeviceVec<u8>,
    /// Keeps it mapped.
    _shared: SharedMemory,
}

impl From<CudaError> for Fault {
    fn from(error: CudaError) -> Fault {
        let text = error.to_string();
        if text.contains("OUT_OF_MEMORY") { Fault::OutOfMemory(text) } else { Fault::Failed(text) }
    }
}

/// Whether parts are many and small.
fn are_spots(parts: &[Part]) -> bool {
    parts.len() > FEW && parts.iter().all(|(_, length)| *length <= WORD && *length == parts[0].1)
}

/// A part as a word, its bytes in front.
fn word(bytes: &[u8], (start, length): Part) -> u64 {
    let mut word = [0; 8];
    word[..length as usize].copy_from_slice(&bytes[start as usize..(start + length) as usize]);
    u64::from_le_bytes(word)
}

impl Driver for Cuda {
    type Memory = Memory;

    fn facts(&self) -> Facts {
        facts_of(self.stream.device().info(), self.granule)
    }

    fn make(&mut self, bytes: usize) -> Result<(Memory, OwnedFd), Fault> {
        let shared = SharedMemory::create(self.stream.device(), bytes)?;
        let file = shared.export()?;
        let bytes = shared.elements(0, bytes)?;
        Ok((Memory { bytes, _shared: shared }, file))
    }

    fn push(&mut self, to: &mut Memory, from: &[u8], parts: &[Part]) -> Result<(), Fault> {
        let mut whole = to.bytes.as_slice_mut()?;
        if !are_spots(parts) {
            for (start, length) in parts {
                let range = *start as usize..(start + length) as usize;
                whole.slice(range.clone())?.upload(&self.stream, &from[range])?;
            }
            return Ok(());
        }
        let places: Vec<u64> = parts.iter().map(|(start, _)| *start).collect();
        let words: Vec<u64> = parts.iter().map(|part| word(from, *part)).collect();
        let places = DeviceVec::from_host(&self.stream, &places)?;
        let words = DeviceVec::from_host(&self.stream, &words)?;
        tend::scatter(&self.stream, whole, places.as_slice(), words.as_slice(), parts[0].1 as usize)?;
        Ok(self.stream.wait()?)
    }

    fn pull(&mut self, from: &Memory, to: &mut [u8], parts: &[Part]) -> Result<(), Fault> {
        let whole = from.bytes.as_slice();
        if !are_spots(parts) {
            for (start, length) in parts {
                let range = *start as usize..(start + length) as usize;
                whole.slice(range.clone())?.download(&self.stream, &mut to[range])?;
            }
            return Ok(());
        }
        let places: Vec<u64> = parts.iter().map(|(start, _)| *start).collect();
        let places = DeviceVec::from_host(&self.stream, &places)?;
        let mut words = DeviceVec::new(self.stream.device(), parts.len())?;
        tend::gather(&self.stream, whole, places.as_slice(), words.as_slice_mut()?, parts[0].1 as usize)?;
        let words: Vec<u64> = words.as_slice().to_host(&self.stream)?;
        for ((start, length), word) in parts.iter().zip(words) {
            let range = *start as usize..(start + length) as usize;
            to[range].copy_from_slice(&word.to_le_bytes()[..*length as usize]);
        }
        Ok(())
    }

    fn repeat(&mut self, to: &mut Memory, start: u64, code: &[u8], count: u64) -> Result<(), Fault> {
        let range = start as usize..(start + count * code.len() as u64) as usize;
        let mut whole = to.bytes.as_slice_mut()?;
        tend::repeat(&self.stream, whole.slice(range)?, code)?;
        Ok(self.stream.wait()?)
    }

    fn hash(&mut self, of: &Memory, (start, length): Part) -> Result<u64, Fault> {
        let part = of.bytes.as_slice().slice(start as usize..(start + length) as usize)?;
        Ok(tend::hash(&self.stream, part, self.word.as_slice_mut()?)?)
    }

    fn find(&mut self, of: &Memory, start: u64, code: &[u8], count: u64) -> Result<Option<u64>, Fault> {
        let range = start as usize..(start + count * code.len() as u64) as usize;
        Ok(tend::find(&self.stream, of.bytes.as_slice().slice(range)?, code, self.word.as_slice_mut()?)?)
    }

    /// Other lines in the place of all that are there: first written, then, so that no kernel pays for writing those
    /// back, as many read.
    fn chill(&mut self) -> Result<(), Fault> {
        let device = self.stream.device();
        if self.ballast.is_none() {
            let bytes = (CACHES * device.info().cache_bytes).next_multiple_of(1 << 20);
            self.ballast = Some(DeviceVec::new(device, 2 * bytes)?);
        }
        device.forget_persisting()?;
        if let Some(ballast) = &mut self.ballast {
            let half = ballast.len() / 2;
            let mut whole = ballast.as_slice_mut()?;
            whole.slice(0..half)?.fill_bytes(&self.stream, 1)?;
            tend::hash(&self.stream, whole.as_slice().slice(half..2 * half)?, self.word.as_slice_mut()?)?;
        }
        Ok(())
    }

    fn nudge(&mut self) -> Result<f64, Fault> {
        let start = Instant::now();
        tend::nothing(&self.stream)?;
        self.stream.wait()?;
        Ok(start.elapsed().as_nanos() as f64)
    }

    fn look(&mut self) -> State {
        let CardState { megahertz, milliwatts, held_back_by, used } =
            self.monitor.as_ref().map(Monitor::look).unwrap_or_default();
        let held_back_by = held_back_by.into_iter().map(str::to_owned).collect();
        State { megahertz, milliwatts, held_back_by, used }
    }
}
