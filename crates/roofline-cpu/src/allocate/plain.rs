//! The allocator of the system, asked each time.

use super::{Allocator, LINE};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Memory of one's own, at a cache line.
#[derive(Debug)]
pub struct Block {
    first: NonNull<u8>,
    layout: Layout,
}

impl Block {
    /// A block of the system.
    pub(super) fn new(bytes: usize) -> Block {
        let layout = Layout::from_size_align(bytes, LINE).expect("a size that memory can have");
        assert!(bytes > 0, "a block of no bytes");
        // SAFETY: the layout is not empty.
        let first = unsafe { alloc(layout) };
        let Some(first) = NonNull::new(first) else { handle_alloc_error(layout) };
        Block { first, layout }
    }

    /// Where it begins.
    pub fn address(&self) -> usize {
        self.first.as_ptr() as usize
    }

    /// Bytes that it has.
    pub(super) fn bytes(&self) -> usize {
        self.layout.size()
    }

    /// Writes a byte.
    ///
    /// # Panics
    /// Beyond its end.
    pub fn set(&mut self, place: usize, value: u8) {
        assert!(place < self.bytes(), "byte {place} of {}", self.bytes());
        // SAFETY: within the block, which nobody else has. Volatile, or a mark that is read once alone stays in a register.
        unsafe { self.first.as_ptr().add(place).write_volatile(value) }
    }

    /// Reads a byte that was written.
    ///
    /// # Panics
    /// Beyond its end.
    pub fn get(&self, place: usize) -> u8 {
        assert!(place < self.bytes(), "byte {place} of {}", self.bytes());
        // SAFETY: within the block; callers read what they have written.
        unsafe { self.first.as_ptr().add(place).read_volatile() }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: of this layout, from `alloc`, and given back once.
        unsafe { dealloc(self.first.as_ptr(), self.layout) }
    }
}

/// The allocator of the system.
#[derive(Clone, Copy, Debug)]
pub struct System;

impl Allocator for System {
    fn take(&mut self, bytes: usize) -> Block {
        Block::new(bytes)
    }

    fn give(&mut self, block: Block) {
        drop(block);
    }
}
