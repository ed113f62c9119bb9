//! Device memory that several processes map: inputs for reading alone, outputs for writing too.
//!
//! One process makes it and passes its descriptor on; others map the same bytes. One granule (2 MiB)
//! on each side is reserved and mapped to nothing, so that a kernel that runs over the end faults
//! and does not write into a neighbour.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::device::Device;
use crate::error::{CudaError, Result};
use crate::slice::{DeviceVec, bytes};
use crate::sys::{Mapping, Plain, granularity};

/// How a process maps memory of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A kernel that writes it ends with an error.
    ReadOnly,
    ReadWrite,
}

/// Memory that can be shared. Slices of it keep it mapped.
#[derive(Clone, Debug)]
pub struct SharedMemory {
    mapping: Arc<Mapping>,
    access: Access,
}

impl SharedMemory {
    /// New memory of at least `bytes`, rounded up to granules.
    pub fn create(device: &Device, bytes: usize) -> Result<SharedMemory> {
        let ordinal = device.info().ordinal;
        let guard = granularity(device.context(), ordinal)?;
        let mapping = Mapping::create(device.context(), ordinal, rounded(bytes, guard)?, guard)?;
        Ok(SharedMemory { mapping: Arc::new(mapping), access: Access::ReadWrite })
    }

    /// Bytes that sizes are multiples of, and that lie unmapped on either side.
    pub fn granule(device: &Device) -> Result<usize> {
        granularity(device.context(), device.info().ordinal)
    }

    /// Maps memory that another process made with the same number of bytes.
    pub fn import(
        device: &Device,
        descriptor: BorrowedFd<'_>,
        bytes: usize,
        access: Access,
    ) -> Result<SharedMemory> {
        let ordinal = device.info().ordinal;
        let guard = granularity(device.context(), ordinal)?;
        let bytes = rounded(bytes, guard)?;
        let writable = access == Access::ReadWrite;
        let mapping = Mapping::import(device.context(), ordinal, descriptor, bytes, guard, writable)?;
        Ok(SharedMemory { mapping: Arc::new(mapping), access })
    }

    /// A descriptor for another process.
    pub fn export(&self) -> Result<OwnedFd> {
        self.mapping.export()
    }

    /// Bytes between the guards.
    pub fn bytes(&self) -> usize {
        self.mapping.bytes()
    }

    /// `len` elements from `offset` bytes on. Slices of one memory may overlap, in this process as
    /// between processes: who writes when is for those who share it to agree on.
    pub fn elements<T: Plain>(&self, offset: usize, len: usize) -> Result<DeviceVec<T>> {
        let end = bytes::<T>(len)?.checked_add(offset).ok_or(CudaError::Overflow { bytes: len })?;
        if end > self.bytes() || !offset.is_multiple_of(align_of::<T>()) {
            return Err(CudaError::Length { what: "shared memory in bytes", got: self.bytes(), wanted: end });
        }
        Ok(DeviceVec::of_shared(self.mapping.clone(), offset, len, self.access == Access::ReadWrite))
    }
}

fn rounded(bytes: usize, granule: usize) -> Result<usize> {
    bytes.max(1).checked_next_multiple_of(granule).ok_or(CudaError::Overflow { bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_granules() {
        for (bytes, whole) in [(0, 64), (1, 64), (64, 64), (65, 128)] {
            assert_eq!(rounded(bytes, 64).unwrap(), whole);
        }
        assert!(rounded(usize::MAX, 64).is_err());
    }
}
