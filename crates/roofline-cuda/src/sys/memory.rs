//! Device memory of this process, and copies to and from it.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUdeviceptr};

use super::driver::{Context, check};
use super::stream::RawStream;
use crate::error::Result;

/// Bytes on the device. Freeing them waits for the work that is under way.
#[derive(Debug)]
pub(crate) struct Memory {
    address: CUdeviceptr,
    context: Arc<Context>,
}

impl Memory {
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<Memory> {
        context.bind()?;
        let mut address = 0;
        // SAFETY: writes one address. The driver refuses a size of 0, so one byte is asked for.
        check("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes.max(1)) })?;
        Ok(Memory { address, context: context.clone() })
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: allocated in `new`, freed once. An error here has nobody left to tell.
            _ = unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

impl RawStream {
    /// Copies to the device, and waits.
    ///
    /// # Safety
    /// `to` has room for `bytes` on this stream's device.
    pub(crate) unsafe fn upload(&self, to: u64, bytes: &[u8]) -> Result<()> {
        self.context.bind()?;
        // SAFETY: the host's side is a slice that outlives the copy, for which `wait` waits; the
        // device's side is the caller's promise.
        let answer = unsafe { sys::cuMemcpyHtoDAsync_v2(to, bytes.as_ptr().cast(), bytes.len(), self.raw()) };
        check("cuMemcpyHtoD", answer)?;
        self.wait()
    }

    /// Copies from the device, and waits.
    ///
    /// # Safety
    /// `from` has `bytes.len()` bytes on this stream's device, and any bits are right for what
    /// `bytes` holds.
    pub(crate) unsafe fn download(&self, from: u64, bytes: &mut [u8]) -> Result<()> {
        self.context.bind()?;
        // SAFETY: as in `upload`.
        let answer =
            unsafe { sys::cuMemcpyDtoHAsync_v2(bytes.as_mut_ptr().cast(), from, bytes.len(), self.raw()) };
        check("cuMemcpyDtoH", answer)?;
        self.wait()
    }

    /// Queues a copy on the device.
    ///
    /// # Safety
    /// Both addresses have so many bytes on the device, which do not overlap, until the copy is done.
    pub(crate) unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        self.context.bind()?;
        // SAFETY: the caller's promise.
        check("cuMemcpyDtoD", unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, self.raw()) })
    }

    /// Sets every byte.
    ///
    /// # Safety
    /// `to` has room for `bytes` on this stream's device.
    pub(crate) unsafe fn fill(&self, to: u64, byte: u8, bytes: usize) -> Result<()> {
        self.context.bind()?;
        // SAFETY: the caller's promise.
        check("cuMemsetD8", unsafe { sys::cuMemsetD8Async(to, byte, bytes, self.raw()) })
    }
}
