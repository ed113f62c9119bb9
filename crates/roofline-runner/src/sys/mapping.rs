//! A tensor's file in memory, an unreadable page directly before it and directly after it.

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::os::fd::AsFd;
use std::ptr::{NonNull, null_mut};

/// Files start at this alignment, so that the kernel may use its large pages and every
/// implementation sees the same low bits of an address.
const ALIGNMENT: usize = 2 << 20;

pub(crate) fn page_size() -> usize {
    rustix::param::page_size()
}

pub(crate) struct Mapping {
    /// Address space without access, in which the file lies.
    reservation: *mut c_void,
    reserved: usize,
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: a mapping is memory; it belongs to no thread.
unsafe impl Send for Mapping {}
// SAFETY: all access of this process goes through `Input` and `Output`, which borrow it as slices do.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `size` bytes of `file`, a multiple of the page size that the file has.
    pub(crate) fn new(file: impl AsFd, size: usize, writable: bool) -> io::Result<Mapping> {
        let page = page_size();
        // Room for the page before, the way up to the alignment, and the page after.
        let reserved = size.checked_add(ALIGNMENT + 2 * page).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a new mapping at an address of the system's choice.
        let reservation = unsafe {
            mmap_anonymous(null_mut(), reserved, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)
        }?;
        let first = reservation.addr() + page;
        let start = reservation.map_addr(|_| first.next_multiple_of(ALIGNMENT));
        let mut mapping = Mapping { reservation, reserved, start: NonNull::dangling(), size };
        let access = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::POPULATE;
        // SAFETY: `start` lies at least one page and less than page + ALIGNMENT behind the
        // reservation's begin, so `size` bytes and a page after them lie in it; nothing else uses it.
        let mapped = unsafe { mmap(start, size, access, flags, file, 0) }?;
        mapping.start = NonNull::new(mapped.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(mapping)
    }

    /// The address of byte `offset` of the file.
    pub(crate) fn at(&self, offset: usize, bytes: usize) -> NonNull<u8> {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.size));
        // SAFETY: within the mapped file, by the line above.
        unsafe { self.start.add(offset) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the reservation is ours, and whoever looks into it holds this mapping alive.
        let _ = unsafe { munmap(self.reservation, self.reserved) };
    }
}
