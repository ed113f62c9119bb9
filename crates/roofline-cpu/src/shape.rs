//! Sizes of operations.

/// A row-major matrix of `rows` rows of `cols` contiguous elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row.
    pub cols: usize,
}

impl Rows {
    /// Elements in all.
    pub fn len(self) -> usize {
        self.rows * self.cols
    }

    /// Whether there is no element.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A matrix product: C \[m,n\] from A \[m,k\] and B, which is \[n,k\] in
/// `matmul` and \[k,n\] in `matmul.nn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of C.
    pub n: usize,
    /// Length of the sums.
    pub k: usize,
}

impl Product {
    /// Panics unless the slices have the lengths of the shape.
    #[track_caller]
    pub(crate) fn check(self, a: usize, b: usize, c: usize) {
        let Product { m, n, k } = self;
        assert_eq!(Some(a), m.checked_mul(k), "length of a for m={m}, k={k}");
        assert_eq!(Some(b), n.checked_mul(k), "length of b for n={n}, k={k}");
        assert_eq!(Some(c), m.checked_mul(n), "length of c for m={m}, n={n}");
    }
}
