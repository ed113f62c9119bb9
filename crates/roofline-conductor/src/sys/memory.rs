//! Memory files: memory with a descriptor, mapped by the conductor and by every runner of a case.
//!
//! There are two kinds, and each has only what is sound for it. A [`Sealed`] file has one writer, whoever
//! holds it mutably, so its bytes can be borrowed like any others. A [`Shared`] file is written by
//! runners whenever they like: no reference into it exists, and its bytes are copied in and out by
//! atomic loads and stores. What another process writes meanwhile lies outside Rust's memory model; all
//! that it can change here is which bytes a copy holds, and a copy is judged and trusted with nothing.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// A memory file and the conductor's own map of it: what both kinds have.
#[derive(Debug)]
pub struct MemoryFile {
    file: OwnedFd,
    address: NonNull<u8>,
    size: usize,
}

// SAFETY: the map is memory and belongs to no thread; nothing else has its address.
unsafe impl Send for MemoryFile {}

/// The memory of an input: nobody can map it for writing any more, save by the map made here.
#[derive(Debug)]
pub struct Sealed(MemoryFile);

// SAFETY: through `&Sealed` the bytes are only read, and only the holder of `&mut Sealed` writes them.
unsafe impl Sync for Sealed {}

/// The memory of an output, which runners write.
#[derive(Debug)]
pub struct Shared(MemoryFile);

impl Sealed {
    /// A file of `size` zero bytes whose size is fixed. `size` must not be 0.
    pub fn new(name: &str, size: usize) -> io::Result<Sealed> {
        MemoryFile::new(name, size, SealFlags::FUTURE_WRITE).map(Sealed)
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the map is `size` bytes long and lives as long as self. The seal leaves this process
        // the only writer, and it writes through `&mut self` alone.
        unsafe { std::slice::from_raw_parts(self.0.address.as_ptr(), self.0.size) }
    }

    /// The bytes, for writing. Runners that read meanwhile see old bytes, new ones or a mixture.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` excludes other references in this process.
        unsafe { std::slice::from_raw_parts_mut(self.0.address.as_ptr(), self.0.size) }
    }

    /// Overwrites the bytes from `start`, also while runners read: whole words at a time where they can be.
    pub fn write(&mut self, start: usize, bytes: &[u8]) {
        self.0.store(start, bytes);
    }
}

impl Shared {
    /// A file of `size` zero bytes whose size is fixed. `size` must not be 0.
    pub fn new(name: &str, size: usize) -> io::Result<Shared> {
        MemoryFile::new(name, size, SealFlags::empty()).map(Shared)
    }

    /// A private copy of `range`, whatever a runner is doing to it meanwhile: then it holds a mixture,
    /// which the judge rejects.
    pub fn copy(&self, range: Range<usize>, to: &mut [u8]) {
        self.0.load(range, to);
    }

    /// Overwrites the bytes from `start`.
    pub fn write(&self, start: usize, bytes: &[u8]) {
        self.0.store(start, bytes);
    }
}

impl Deref for Sealed {
    type Target = MemoryFile;

    fn deref(&self) -> &MemoryFile {
        &self.0
    }
}

impl Deref for Shared {
    type Target = MemoryFile;

    fn deref(&self) -> &MemoryFile {
        &self.0
    }
}

impl MemoryFile {
    fn new(name: &str, size: usize, more: SealFlags) -> io::Result<MemoryFile> {
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
        fcntl_add_seals(&memory.file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL | more)?;
        Ok(memory)
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The address of a byte of `range`'s start, after seeing that all of it lies in the map.
    fn at(&self, range: &Range<usize>) -> *mut u8 {
        assert!(range.start <= range.end && range.end <= self.size, "{range:?} of {} bytes", self.size);
        // SAFETY: within the map, by the line above.
        unsafe { self.address.as_ptr().add(range.start) }
    }

    fn load(&self, range: Range<usize>, to: &mut [u8]) {
        assert_eq!(range.len(), to.len());
        let from = self.at(&range);
        let (head, words, tail) = parts(from, to.len());
        let (first, rest) = to.split_at_mut(head);
        let (middle, last) = rest.split_at_mut(words * WORD);
        debug_assert_eq!(last.len(), tail);
        for (index, byte) in first.iter_mut().enumerate() {
            // SAFETY: inside the range that `at` checked; every byte of a map can be an atomic.
            *byte = unsafe { AtomicU8::from_ptr(from.add(index)) }.load(Ordering::Relaxed);
        }
        for (index, word) in middle.chunks_exact_mut(WORD).enumerate() {
            // SAFETY: as above, and `parts` begins the words where they are aligned.
            let atomic = unsafe { AtomicU64::from_ptr(from.add(head + index * WORD).cast()) };
            word.copy_from_slice(&atomic.load(Ordering::Relaxed).to_ne_bytes());
        }
        for (index, byte) in last.iter_mut().enumerate() {
            // SAFETY: as for the first bytes.
            let atomic = unsafe { AtomicU8::from_ptr(from.add(head + words * WORD + index)) };
            *byte = atomic.load(Ordering::Relaxed);
        }
    }

    /// No reference into the map may live: there is none into a shared file, and a sealed one is borrowed
    /// mutably by whoever calls this.
    fn store(&self, start: usize, bytes: &[u8]) {
        let to = self.at(&(start..start.saturating_add(bytes.len())));
        let (head, words, _) = parts(to, bytes.len());
        let (first, rest) = bytes.split_at(head);
        let (middle, last) = rest.split_at(words * WORD);
        for (index, byte) in first.iter().enumerate() {
            // SAFETY: inside the range that `at` checked; every byte of a map can be an atomic.
            unsafe { AtomicU8::from_ptr(to.add(index)) }.store(*byte, Ordering::Relaxed);
        }
        for (index, word) in middle.chunks_exact(WORD).enumerate() {
            let word = u64::from_ne_bytes(word.try_into().unwrap_or_default());
            // SAFETY: as above, and `parts` begins the words where they are aligned.
            let atomic = unsafe { AtomicU64::from_ptr(to.add(head + index * WORD).cast()) };
            atomic.store(word, Ordering::Relaxed);
        }
        for (index, byte) in last.iter().enumerate() {
            // SAFETY: as for the first bytes.
            let atomic = unsafe { AtomicU8::from_ptr(to.add(head + words * WORD + index)) };
            atomic.store(*byte, Ordering::Relaxed);
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
        self.load(0..self.size, &mut bytes);
        let file = File::create(path)?;
        file.write_all_at(&bytes, 0)
    }
}

const WORD: usize = size_of::<u64>();

/// Bytes before the first aligned word of a range, its whole words, and the bytes after them.
fn parts(start: *const u8, length: usize) -> (usize, usize, usize) {
    let head = start.align_offset(WORD).min(length);
    (head, (length - head) / WORD, (length - head) % WORD)
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

    /// Whether a file can be mapped for writing, after seeing that it can for reading.
    fn is_writable(memory: &MemoryFile) -> bool {
        let map = |protection| {
            // SAFETY: a new map at an address of the kernel's choice overlaps nothing.
            unsafe { mmap(std::ptr::null_mut(), 4096, protection, MapFlags::SHARED, memory.fd(), 0) }
        };
        assert!(map(ProtFlags::READ).is_ok());
        map(ProtFlags::READ | ProtFlags::WRITE).is_ok()
    }

    #[test]
    fn a_sealed_file_cannot_be_mapped_for_writing() {
        assert!(!is_writable(&Sealed::new("test", 4096).unwrap()));
        assert!(is_writable(&Shared::new("test", 4096).unwrap()));
    }

    #[test]
    fn what_is_written_is_there() {
        let mut sealed = Sealed::new("test", 4096).unwrap();
        sealed.bytes_mut()[10..13].copy_from_slice(b"abc");
        sealed.write(11, b"x");
        assert_eq!(&sealed.bytes()[9..14], b"\0axc\0");
        assert!(ftruncate(sealed.fd(), 1).is_err(), "the size is sealed");
    }

    #[test]
    fn every_offset_and_length_is_copied_whole() {
        let shared = Shared::new("test", 4096).unwrap();
        let content: Vec<u8> = (0..40).collect();
        for start in 0..9 {
            for length in 0..content.len() {
                shared.write(0, &[0xff; 64]);
                shared.write(start, &content[..length]);
                let mut seen = [0; 64];
                shared.copy(0..64, &mut seen);
                assert_eq!(&seen[start..start + length], &content[..length]);
                assert!(seen[..start].iter().chain(&seen[start + length..]).all(|byte| *byte == 0xff));
                let mut part = vec![0; length];
                shared.copy(start..start + length, &mut part);
                assert_eq!(part, content[..length]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "4090..4100 of 4096 bytes")]
    fn nothing_is_written_past_the_end() {
        Shared::new("test", 4096).unwrap().write(4090, &[0; 10]);
    }
}
