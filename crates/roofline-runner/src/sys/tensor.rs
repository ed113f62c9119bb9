//! Tensors as slices. The slices are borrowed anew for each launch.
//!
//! The memory is shared with the conductor. While launches run it changes elements of inputs, to see each launch
//! work and that nobody remembers, and reads outputs; it writes to outputs before a visit only. In this process
//! inputs have readers only and an output has one handle, so that no two references here ever conflict. What
//! another process writes meanwhile lies outside Rust's memory model: strictly, a slice promises more than
//! such memory holds. What bounds the consequence:
//!
//! - Elements are plain numbers; whatever bits arrive, they are values ([`Element`]).
//! - No value read from a tensor becomes an address, a length or a branch on either inside this crate; bounds
//!   come from `prepare` alone.
//! - A kernel must not rely on reading the same value twice. One that does may compute nonsense, in a launch
//!   whose nonsense is expected: the elements that the conductor touched are judged by what they are
//!   when the answer has been sent and nobody writes any more.

use super::mapping::Mapping;
use half::{bf16, f16};
use roofline_lanes::{Fp8E4m3, Fp8E5m2};
use roofline_protocol::dtype::Dtype;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A type of tensor elements.
pub trait Element: sealed::Plain {
    const DTYPE: Dtype;
}

mod sealed {
    /// # Safety
    /// Every bit pattern is a value, and the size is that of the dtype.
    pub unsafe trait Plain: Copy + Send + Sync + 'static {}
}

macro_rules! element {
    ($($type:ty => $dtype:ident,)*) => {$(
        // SAFETY: a number without padding or forbidden patterns; the assertion holds the size.
        unsafe impl sealed::Plain for $type {}
        impl Element for $type {
            const DTYPE: Dtype = Dtype::$dtype;
        }
    )*
        #[cfg(test)]
        #[test]
        fn sizes_agree() {
            $(assert_eq!(size_of::<$type>(), Dtype::$dtype.size());)*
        }
    };
}

element! {
    f64 => F64,
    f32 => F32,
    f16 => F16,
    bf16 => Bf16,
    Fp8E4m3 => Fp8E4m3,
    Fp8E5m2 => Fp8E5m2,
    i8 => I8,
    // What every tensor is made of, too.
    u8 => U8,
    i32 => I32,
}

/// An input of a case: a slice in memory that can only be read.
#[derive(Clone)]
pub struct Input<T> {
    memory: Arc<Mapping>,
    offset: usize,
    length: usize,
    element: PhantomData<T>,
}

impl<T: sealed::Plain> Input<T> {
    pub(crate) fn new(memory: Arc<Mapping>, offset: usize, bytes: usize) -> Input<T> {
        Input { memory, offset, length: bytes / size_of::<T>(), element: PhantomData }
    }

    /// Its first elements, `length` of them if it has so many.
    #[cfg(feature = "limit")]
    pub(crate) fn first(self, length: usize) -> Input<T> {
        Input { length: length.min(self.length), ..self }
    }
}

impl<T: sealed::Plain> Deref for Input<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let start = self.memory.at(self.offset, self.length * size_of::<T>()).cast::<T>();
        debug_assert!(start.is_aligned());
        // SAFETY: `at` checks the bounds; the offset is a multiple of the element's size in a file
        // that starts on a page; any bytes are elements; `memory` outlives the borrow; nobody in this
        // process writes, as the mapping is for reading. The conductor may: see the head of this file.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.length) }
    }
}

/// An output of a case: the only handle to its memory.
pub struct Output<T> {
    memory: Arc<Mapping>,
    offset: usize,
    length: usize,
    element: PhantomData<T>,
}

impl<T: sealed::Plain> Output<T> {
    /// `memory` must have no other handle.
    pub(crate) fn new(memory: Arc<Mapping>, offset: usize, bytes: usize) -> Output<T> {
        assert_eq!(Arc::strong_count(&memory), 1);
        Output { memory, offset, length: bytes / size_of::<T>(), element: PhantomData }
    }

    /// Its first elements, `length` of them if it has so many.
    #[cfg(feature = "limit")]
    pub(crate) fn first(self, length: usize) -> Output<T> {
        Output { length: length.min(self.length), ..self }
    }
}

impl<T: sealed::Plain> Deref for Output<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let start = self.memory.at(self.offset, self.length * size_of::<T>()).cast::<T>();
        // SAFETY: as for `Input`; this handle is the only one in this process, and it is borrowed.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), self.length) }
    }
}

impl<T: sealed::Plain> DerefMut for Output<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        let start = self.memory.at(self.offset, self.length * size_of::<T>()).cast::<T>();
        // SAFETY: as for `Input`; this handle is the only one in this process, and it is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.length) }
    }
}
