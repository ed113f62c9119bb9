//! Buffers that outlive a call: packed panels, a row of intermediate values.
//!
//! [`Scratch::take`] borrows a buffer from a list that each thread keeps, and
//! dropping it gives it back, so that only a thread's first calls allocate.
//! Buffers are aligned to a page of 2 MiB once they are that large, and ask
//! for such pages: packed panels are read in an order that small pages punish.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Types for which every bit pattern is a value.
///
/// # Safety
/// Implemented for plain numbers only: no padding, no invalid pattern.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}
// SAFETY: a plain number.
unsafe impl Plain for f32 {}
// SAFETY: a plain number.
unsafe impl Plain for f64 {}
// SAFETY: a plain number.
unsafe impl Plain for i32 {}
// SAFETY: a plain number.
unsafe impl Plain for u16 {}
// SAFETY: a plain number.
unsafe impl Plain for i8 {}
// SAFETY: a plain number.
unsafe impl Plain for u8 {}
// SAFETY: a u8 in all but name.
unsafe impl Plain for crate::Fp8E5m2 {}
// SAFETY: a u8 in all but name.
unsafe impl Plain for crate::Fp8E4m3 {}
// SAFETY: a u16 in all but name.
unsafe impl Plain for half::bf16 {}
// SAFETY: a u16 in all but name.
unsafe impl Plain for half::f16 {}

/// A buffer of this thread, holding values of an earlier use.
pub(crate) struct Scratch<T: Plain> {
    /// `None` only inside `drop`.
    memory: Option<Memory>,
    length: usize,
    element: PhantomData<T>,
}

thread_local! {
    static FREE: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

impl<T: Plain> Scratch<T> {
    /// A buffer of `length` values that are initialised but arbitrary.
    pub(crate) fn take(length: usize) -> Self {
        let bytes = length.checked_mul(size_of::<T>()).expect("a buffer that memory can hold");
        let memory = FREE.with_borrow_mut(|free| {
            // The smallest that is large enough; else the last one makes room.
            let fitting = (0..free.len()).filter(|&i| free[i].layout.size() >= bytes);
            match fitting.min_by_key(|&i| free[i].layout.size()) {
                Some(index) => Some(free.swap_remove(index)),
                None => {
                    free.pop();
                    None
                }
            }
        });
        let memory = Some(memory.unwrap_or_else(|| Memory::new(bytes)));
        Self { memory, length, element: PhantomData }
    }
}

impl<T: Plain> Drop for Scratch<T> {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            // At the end of a thread the list may be gone; then the memory is freed.
            let _ = FREE.try_with(|free| free.borrow_mut().push(memory));
        }
    }
}

impl<T: Plain> Deref for Scratch<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        let memory = self.memory.as_ref().expect("present until drop");
        // SAFETY: the memory holds `length` values of `T`, initialised (zeroed
        // or written since) and `Plain`; its alignment of 64 serves every `T`.
        unsafe { std::slice::from_raw_parts(memory.start.cast().as_ptr(), self.length) }
    }
}

impl<T: Plain> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let memory = self.memory.as_ref().expect("present until drop");
        // SAFETY: as in `deref`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(memory.start.cast().as_ptr(), self.length) }
    }
}

/// Owned, aligned, initialised bytes.
struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: `Memory` owns its allocation, as a `Box` does.
unsafe impl Send for Memory {}
// SAFETY: a shared `Memory` gives no access by itself.
unsafe impl Sync for Memory {}

impl Memory {
    const LARGE_PAGE: usize = 2 << 20;

    fn new(bytes: usize) -> Self {
        let align = if bytes >= Self::LARGE_PAGE { Self::LARGE_PAGE } else { 64 };
        let size = bytes.max(1).next_multiple_of(align);
        let layout = Layout::from_size_align(size, align).expect("a size that memory can have");
        // SAFETY: the size is not zero.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        // Before the first touch, which is what chooses the size of a page.
        ask_for_large_pages(start, layout);
        // SAFETY: the allocation has this size.
        unsafe { start.write_bytes(0, size) };
        Self { start, layout }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(target_os = "linux")]
fn ask_for_large_pages(start: NonNull<u8>, layout: Layout) {
    use rustix::mm::{Advice, madvise};
    if layout.align() >= Memory::LARGE_PAGE {
        // SAFETY: the range is an allocation of ours, and this advice changes
        // no content. Refusal costs speed only.
        let _ = unsafe { madvise(start.as_ptr().cast(), layout.size(), Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_start: NonNull<u8>, _layout: Layout) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_call_gets_the_same_memory() {
        let take_two = || {
            let first = Scratch::<f32>::take(1000);
            let second = Scratch::<i32>::take(10);
            [first.as_ptr().addr(), second.as_ptr().addr()]
        };
        let before = take_two();
        assert_eq!(before, take_two());
        assert!(before.iter().all(|address| address % 64 == 0));
    }

    #[test]
    fn large_buffers_are_aligned_to_large_pages() {
        let mut large = Scratch::<f32>::take(1 << 20);
        large.fill(1.0);
        assert_eq!(large.as_ptr().addr() % (2 << 20), 0);
        assert_eq!(large.iter().sum::<f32>(), (1 << 20) as f32);
    }
}
