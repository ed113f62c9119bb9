//! Memory files: memory with a descriptor, mapped by the conductor and by every runner of a case.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;

/// A memory file and the conductor's own map of it.
#[derive(Debug)]
pub struct MemoryFile {
    file: OwnedFd,
    address: NonNull<u8>,
    size: usize,
}

// SAFETY: the map belongs to this value alone and all access goes through `&self`/`&mut self`.
unsafe impl Send for MemoryFile {}
// SAFETY: shared access only copies bytes out.
unsafe impl Sync for MemoryFile {}

impl MemoryFile {
    /// A file of `size` zero bytes whose size is fixed. `size` must not be 0.
    ///
    /// With `sealed` nobody can map it for writing any more, save by the map made here.
    pub fn new(name: &str, size: usize, sealed: bool) -> io::Result<MemoryFile> {
        let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, size as u64)?;
        // SAFETY: a new map at an address of the kernel's choice overlaps nothing.
        let address = unsafe {
            mmap(
                std::ptr::null_mut(),
                size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                &file,
                0,
            )?
        };
        let address = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory = MemoryFile { file, address, size };
        let mut seals = SealFlags::SHRINK | SealFlags::GROW;
        if sealed {
            seals |= SealFlags::FUTURE_WRITE;
        }
        fcntl_add_seals(&memory.file, seals | SealFlags::SEAL)?;
        Ok(memory)
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The bytes of a sealed file, which only the holder of `&mut self` can change.
    ///
    /// Must not be called on a file that a runner can write to; use [`MemoryFile::copy`] there.
    pub fn sealed_bytes(&self) -> &[u8] {
        // SAFETY: the map is `size` bytes long and lives as long as self; a sealed file has no
        // other writer, and the one writer needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.size) }
    }

    /// The bytes, for writing. Only for sealed files: nobody else may write at the same time.
    pub fn sealed_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` excludes other references in this process.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.size) }
    }

    /// A private copy of `range`, whatever a runner is doing to it meanwhile.
    pub fn copy(&self, range: Range<usize>, to: &mut [u8]) {
        assert!(range.start <= range.end && range.end <= self.size && to.len() == range.len());
        // SAFETY: the range lies inside the map and `to` is private memory of the same length. A
        // runner may write meanwhile; the copy then holds a mixture, which the judge rejects.
        unsafe {
            std::ptr::copy_nonoverlapping(self.address.as_ptr().add(range.start), to.as_mut_ptr(), to.len());
        }
    }

    /// Overwrites the bytes from `start`.
    pub fn write(&self, start: usize, bytes: &[u8]) {
        assert!(start <= self.size && bytes.len() <= self.size - start);
        // SAFETY: the range lies inside the map; no reference into an unsealed map exists.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.address.as_ptr().add(start), bytes.len());
        }
    }

    /// Writes every line back to memory and drops it from all caches of the machine.
    ///
    /// Lines are known by their physical address, so this empties the caches of runners that have
    /// mapped the file as well.
    pub fn flush(&self) {
        #[cfg(target_arch = "x86_64")]
        for line in (0..self.size).step_by(64) {
            // SAFETY: the address lies inside the map; flushing changes no content.
            unsafe { std::arch::x86_64::_mm_clflush(self.address.as_ptr().add(line)) };
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a fence has no operands.
        unsafe {
            std::arch::x86_64::_mm_mfence();
        }
    }

    /// Writes the content to a file, for conversations that are replayed by hand.
    pub fn save(&self, path: &std::path::Path) -> io::Result<()> {
        let mut bytes = vec![0; self.size];
        self.copy(0..self.size, &mut bytes);
        let file = File::create(path)?;
        file.write_all_at(&bytes, 0)
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        // SAFETY: the map was made by `new`, is unmapped once, and no reference outlives self.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_file_cannot_be_mapped_for_writing() {
        for (sealed, writable) in [(true, false), (false, true)] {
            let memory = MemoryFile::new("test", 4096, sealed).unwrap();
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a new map at an address of the kernel's choice overlaps nothing.
            let map =
                unsafe { mmap(std::ptr::null_mut(), 4096, protection, MapFlags::SHARED, memory.fd(), 0) };
            assert_eq!(map.is_ok(), writable);
            // SAFETY: as above.
            let reading = unsafe {
                mmap(std::ptr::null_mut(), 4096, ProtFlags::READ, MapFlags::SHARED, memory.fd(), 0)
            };
            assert!(reading.is_ok(), "inputs can be read");
        }
    }

    #[test]
    fn what_is_written_is_copied_out() {
        let mut sealed = MemoryFile::new("test", 4096, true).unwrap();
        sealed.sealed_bytes_mut()[10..13].copy_from_slice(b"abc");
        let mut copy = [0; 3];
        sealed.copy(10..13, &mut copy);
        assert_eq!(&copy, b"abc");
        sealed.write(11, b"x");
        assert_eq!(&sealed.sealed_bytes()[10..13], b"axc");
        assert!(ftruncate(sealed.fd(), 1).is_err(), "the size is sealed");
    }
}
