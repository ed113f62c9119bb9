//! Where streaming stores may begin, and what they write at once.

/// Elements of `y` before the first that starts a cache line.
pub fn unaligned_head<T>(y: &[T]) -> usize {
    y.as_ptr().align_offset(64).min(y.len())
}

/// Elements in a cache line.
pub const fn line<T>() -> usize {
    64 / size_of::<T>()
}
