//! A device that is the host's memory: what keeps conductor and device process tested where there is no other.
//!
//! Its tensors are memory files, so runners map them as they map those of the CPU. It has two caches' worth of
//! nothing to empty, and a kernel runs on it while somebody holds the lock of a file.

use super::{Driver, Fault};
use crate::sys::mapping::{Mapping, page_size};
use crate::sys::tensor::Output;
use roofline_protocol::device::{self, Facts, Part, State};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::fs::{File, TryLockError};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct StandIn {
    /// As long as its lock is held, work goes on; never where there is no such file.
    pub(crate) lock: PathBuf,
}

fn range((start, length): Part) -> Range<usize> {
    start as usize..(start + length) as usize
}

impl Driver for StandIn {
    type Memory = Output<u8>;

    fn facts(&self) -> Facts {
        Facts {
            name: "stand-in".to_owned(),
            uuid: "GPU-stand-in".to_owned(),
            driver: "the host's memory".to_owned(),
            memory: 4 << 30,
            // Small, so that several sets of tensors are a matter of kilobytes.
            cache: 64 << 10,
            granule: page_size() as u64,
            multiprocessors: 0,
        }
    }

    fn make(&mut self, bytes: usize) -> Result<(Output<u8>, OwnedFd), Fault> {
        let file = memfd_create("stand-in", MemfdFlags::CLOEXEC).map_err(Fault::failed)?;
        ftruncate(&file, bytes as u64).map_err(|error| Fault::OutOfMemory(error.to_string()))?;
        let mapping =
            Mapping::new(&file, bytes, true).map_err(|error| Fault::OutOfMemory(error.to_string()))?;
        Ok((Output::new(Arc::new(mapping), 0, bytes), file))
    }

    fn push(&mut self, to: &mut Output<u8>, from: &[u8], parts: &[Part]) -> Result<(), Fault> {
        parts.iter().for_each(|part| to[range(*part)].copy_from_slice(&from[range(*part)]));
        Ok(())
    }

    fn pull(&mut self, from: &Output<u8>, to: &mut [u8], parts: &[Part]) -> Result<(), Fault> {
        parts.iter().for_each(|part| to[range(*part)].copy_from_slice(&from[range(*part)]));
        Ok(())
    }

    fn repeat(&mut self, to: &mut Output<u8>, start: u64, code: &[u8], count: u64) -> Result<(), Fault> {
        let bytes = &mut to[range((start, count * code.len() as u64))];
        bytes.chunks_exact_mut(code.len()).for_each(|element| element.copy_from_slice(code));
        Ok(())
    }

    fn hash(&mut self, of: &Output<u8>, part: Part) -> Result<u64, Fault> {
        Ok(device::hash(&of[range(part)]))
    }

    fn find(&mut self, of: &Output<u8>, start: u64, code: &[u8], count: u64) -> Result<Option<u64>, Fault> {
        let bytes = &of[range((start, count * code.len() as u64))];
        let found = bytes.chunks_exact(code.len()).position(|element| element == code);
        Ok(found.map(|index| index as u64))
    }

    fn chill(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn look(&mut self) -> State {
        let held_back_by = vec!["power cap".to_owned()];
        State { megahertz: Some(1755), milliwatts: Some(699_100), held_back_by, used: Some(9 << 20) }
    }

    fn nudge(&mut self) -> Result<f64, Fault> {
        let is_held = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        Ok(if File::open(&self.lock).is_ok_and(is_held) { f64::from(u32::MAX) } else { 0.0 })
    }
}
