//! Device memory that other processes can map, between addresses that nobody can touch.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use cudarc::driver::sys::{
    self, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationGranularity_flags, CUmemAllocationHandleType,
    CUmemAllocationProp, CUmemAllocationType, CUmemGenericAllocationHandle, CUmemLocation, CUmemLocationType,
};

use super::driver::{Context, check};
use crate::error::{CudaError, Result};

const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

fn location(ordinal: usize) -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        id: i32::try_from(ordinal).unwrap_or(i32::MAX),
    }
}

fn properties(ordinal: usize) -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: DESCRIPTOR,
        location: location(ordinal),
        win32HandleMetaData: std::ptr::null_mut(),
        // SAFETY: plain integers, for which zero means "nothing asked for": no compression.
        allocFlags: unsafe { std::mem::zeroed() },
    }
}

/// Sizes and offsets of maps are multiples of this.
pub(crate) fn granularity(context: &Context, ordinal: usize) -> Result<usize> {
    context.bind()?;
    let (mut bytes, properties) = (0, properties(ordinal));
    let least = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    // SAFETY: writes one integer, reads one structure.
    let answer = unsafe { sys::cuMemGetAllocationGranularity(&raw mut bytes, &raw const properties, least) };
    check("cuMemGetAllocationGranularity", answer)?;
    Ok(bytes)
}

/// Physical memory, mapped with one unmapped granule before it and one behind.
#[derive(Debug)]
pub(crate) struct Mapping {
    handle: CUmemGenericAllocationHandle,
    reserved: u64,
    mapped: bool,
    guard: usize,
    bytes: usize,
    context: Arc<Context>,
}

impl Mapping {
    /// New memory of `bytes`, a multiple of `guard`, which is the granularity.
    pub(crate) fn create(
        context: &Arc<Context>,
        ordinal: usize,
        bytes: usize,
        guard: usize,
    ) -> Result<Mapping> {
        context.bind()?;
        let (mut handle, properties) = (0, properties(ordinal));
        // SAFETY: writes one handle, reads one structure.
        let answer = unsafe { sys::cuMemCreate(&raw mut handle, bytes, &raw const properties, 0) };
        check("cuMemCreate", answer)?;
        Mapping::map(context, ordinal, handle, bytes, guard, true)
    }

    /// Memory of another process. A descriptor of anything else is refused by the driver.
    pub(crate) fn import(
        context: &Arc<Context>,
        ordinal: usize,
        descriptor: BorrowedFd<'_>,
        bytes: usize,
        guard: usize,
        writable: bool,
    ) -> Result<Mapping> {
        context.bind()?;
        let mut handle = 0;
        let raw = descriptor.as_raw_fd() as usize as *mut std::ffi::c_void;
        // SAFETY: for this type of handle the pointer is the number of a descriptor, which is open.
        check("cuMemImportFromShareableHandle", unsafe {
            sys::cuMemImportFromShareableHandle(&raw mut handle, raw, DESCRIPTOR)
        })?;
        Mapping::map(context, ordinal, handle, bytes, guard, writable)
    }

    fn map(
        context: &Arc<Context>,
        ordinal: usize,
        handle: CUmemGenericAllocationHandle,
        bytes: usize,
        guard: usize,
        writable: bool,
    ) -> Result<Mapping> {
        // From here on `drop` gives back what was taken, however far it went.
        let mut mapping =
            Mapping { handle, reserved: 0, mapped: false, guard, bytes, context: context.clone() };
        let whole = mapping.whole()?;
        // SAFETY: writes one address.
        check("cuMemAddressReserve", unsafe {
            sys::cuMemAddressReserve(&raw mut mapping.reserved, whole, guard, 0, 0)
        })?;
        // SAFETY: the range lies inside the reserved one; the driver refuses more than the handle has.
        check("cuMemMap", unsafe { sys::cuMemMap(mapping.address(), bytes, 0, handle, 0) })?;
        mapping.mapped = true;
        let flags = if writable {
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        } else {
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ
        };
        let access = CUmemAccessDesc { location: location(ordinal), flags };
        // SAFETY: the range was mapped just now; reads one structure.
        check("cuMemSetAccess", unsafe {
            sys::cuMemSetAccess(mapping.address(), bytes, &raw const access, 1)
        })?;
        Ok(mapping)
    }

    fn whole(&self) -> Result<usize> {
        let guards = self.guard.checked_mul(2);
        let whole = guards.and_then(|guards| self.bytes.checked_add(guards));
        whole.ok_or(CudaError::Overflow { bytes: self.bytes })
    }

    pub(crate) fn address(&self) -> u64 {
        self.reserved + self.guard as u64
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A descriptor that another process can import.
    pub(crate) fn export(&self) -> Result<OwnedFd> {
        self.context.bind()?;
        let mut raw: RawFd = -1;
        // SAFETY: for this type of handle one integer is written: the number of a new descriptor.
        check("cuMemExportToShareableHandle", unsafe {
            sys::cuMemExportToShareableHandle((&raw mut raw).cast(), self.handle, DESCRIPTOR, 0)
        })?;
        // SAFETY: the descriptor is new, and nobody else's.
        Ok(unsafe { OwnedFd::from_raw_fd(raw) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let (Ok(()), Ok(whole)) = (self.context.bind(), self.whole()) else { return };
        // SAFETY: each was taken once, as far as the fields say. Unmapping does not wait, so work
        // that still uses the memory is waited for first. Errors have nobody left to tell.
        unsafe {
            _ = sys::cuCtxSynchronize();
            if self.mapped {
                _ = sys::cuMemUnmap(self.address(), self.bytes);
            }
            if self.reserved != 0 {
                _ = sys::cuMemAddressFree(self.reserved, whole);
            }
            _ = sys::cuMemRelease(self.handle);
        }
    }
}
