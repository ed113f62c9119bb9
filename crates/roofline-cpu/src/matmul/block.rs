//! A rectangle of a row-major matrix that one thread may write.

use std::marker::PhantomData;
use std::ops::Range;

/// `rows` times `cols` elements whose rows lie `stride` elements apart.
pub(crate) struct Block<'a, T> {
    start: *mut T,
    rows: usize,
    cols: usize,
    stride: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: a block is an exclusive borrow of its elements.
unsafe impl<T: Send> Send for Block<'_, T> {}
// SAFETY: a shared block gives access through the unsafe `part` only.
unsafe impl<T: Send> Sync for Block<'_, T> {}

impl<'a, T> Block<'a, T> {
    /// The whole of a dense matrix.
    pub(crate) fn new(data: &'a mut [T], rows: usize, cols: usize) -> Self {
        assert_eq!(data.len(), rows * cols);
        let start = data.as_mut_ptr();
        Self { start, rows, cols, stride: cols, owner: PhantomData }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// The same block, for a shorter time.
    pub(super) fn reborrow(&mut self) -> Block<'_, T> {
        Block { owner: PhantomData, ..*self }
    }

    /// The elements of one row.
    #[inline(always)]
    pub(crate) fn row(&mut self, row: usize) -> &mut [T] {
        assert!(row < self.rows);
        // SAFETY: the row lies in the borrowed matrix, and `&mut self` makes
        // the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(row * self.stride), self.cols) }
    }

    /// A rectangle of this block.
    ///
    /// # Safety
    /// Rectangles in use at the same time must not overlap.
    pub(crate) unsafe fn part(&self, rows: Range<usize>, cols: Range<usize>) -> Block<'_, T> {
        assert!(rows.start <= rows.end && rows.end <= self.rows);
        assert!(cols.start <= cols.end && cols.end <= self.cols);
        // SAFETY: the corner lies in the matrix, or just past it for an empty part
        // of the last row; both are in the bounds of its allocation.
        let start = unsafe { self.start.add((rows.start * self.stride + cols.start).min(self.extent())) };
        Block { start, rows: rows.len(), cols: cols.len(), stride: self.stride, owner: PhantomData }
    }

    /// Elements from the first to the end of the last row.
    fn extent(&self) -> usize {
        if self.rows == 0 { 0 } else { (self.rows - 1) * self.stride + self.cols }
    }
}
