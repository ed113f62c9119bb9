//! Where streaming stores may begin.

/// Elements of `y` before the first that starts a cache line.
pub(crate) fn unaligned_head<T>(y: &[T]) -> usize {
    y.as_ptr().align_offset(64).min(y.len())
}
