//! Slices that lie flush against memory that cannot be touched.

/// Which end of the slice has the forbidden page next to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Start,
    End,
}

/// A copy of a slice whose neighbours fault.
#[cfg(target_os = "linux")]
pub(crate) struct Guarded<T> {
    mapping: *mut core::ffi::c_void,
    mapped: usize,
    start: *mut T,
    length: usize,
}

#[cfg(target_os = "linux")]
impl<T: Copy> Guarded<T> {
    pub(crate) fn new(values: &[T], edge: Edge) -> Self {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
        const PAGE: usize = 4096;
        let bytes = size_of_val(values);
        let usable = bytes.max(1).next_multiple_of(PAGE);
        let mapped = usable + 2 * PAGE;
        // SAFETY: a fresh anonymous mapping; only its first and last page are
        // forbidden; the values fit between them at an aligned address.
        unsafe {
            let flags = ProtFlags::READ | ProtFlags::WRITE;
            let mapping =
                mmap_anonymous(std::ptr::null_mut(), mapped, flags, MapFlags::PRIVATE).expect("a mapping");
            let first: *mut u8 = mapping.cast();
            mprotect(mapping, PAGE, MprotectFlags::empty()).expect("a guard page");
            mprotect(first.add(PAGE + usable).cast(), PAGE, MprotectFlags::empty()).expect("a guard page");
            let offset = if edge == Edge::Start { 0 } else { usable - bytes };
            let start: *mut T = first.add(PAGE + offset).cast();
            std::ptr::copy_nonoverlapping(values.as_ptr(), start, values.len());
            Self { mapping, mapped, start, length: values.len() }
        }
    }

    /// Writing faults too.
    pub(crate) fn read_only(values: &[T], edge: Edge) -> Self {
        use rustix::mm::{MprotectFlags, mprotect};
        let guarded = Self::new(values, edge);
        // SAFETY: the pages between the guards are ours, and `slice_mut` is not
        // called on a read-only one.
        unsafe {
            let inner = guarded.mapping.cast::<u8>().add(4096).cast();
            mprotect(inner, guarded.mapped - 2 * 4096, MprotectFlags::READ).expect("read-only pages");
        }
        guarded
    }

    pub(crate) fn slice(&self) -> &[T] {
        // SAFETY: `length` values were copied to `start`.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    pub(crate) fn slice_mut(&mut self) -> &mut [T] {
        // SAFETY: `length` values were copied to `start`, and `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

#[cfg(target_os = "linux")]
impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, and no slice of it outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.mapping, self.mapped) };
    }
}

/// Without memory maps: a plain copy, one element off alignment at the start.
#[cfg(not(target_os = "linux"))]
pub(crate) struct Guarded<T>(Vec<T>);

#[cfg(not(target_os = "linux"))]
impl<T: Copy> Guarded<T> {
    pub(crate) fn new(values: &[T], _edge: Edge) -> Self {
        Self(values.to_vec())
    }
    pub(crate) fn read_only(values: &[T], edge: Edge) -> Self {
        Self::new(values, edge)
    }
    pub(crate) fn slice(&self) -> &[T] {
        &self.0
    }
    pub(crate) fn slice_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}
