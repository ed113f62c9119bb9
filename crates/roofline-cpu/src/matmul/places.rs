//! Where the factors of a sum lie, for kernels that go through C element by element.

use crate::Product;

/// The places in A and B of a row of C, a column of C and a step of their sum.
pub(super) trait Places: Fn(Product, [usize; 3]) -> [usize; 2] {}
impl<F: Fn(Product, [usize; 3]) -> [usize; 2]> Places for F {}

/// A \[m,k\] and B \[n,k\].
pub(super) fn nt(Product { k, .. }: Product, [i, j, p]: [usize; 3]) -> [usize; 2] {
    [i * k + p, j * k + p]
}

/// A \[m,k\] and B \[k,n\].
pub(super) fn nn(Product { n, k, .. }: Product, [i, j, p]: [usize; 3]) -> [usize; 2] {
    [i * k + p, p * n + j]
}

/// A \[k,m\] and B \[k,n\].
pub(super) fn tn(Product { m, n, .. }: Product, [i, j, p]: [usize; 3]) -> [usize; 2] {
    [p * m + i, p * n + j]
}

/// A \[k,m\] and B \[n,k\].
pub(super) fn tt(Product { m, k, .. }: Product, [i, j, p]: [usize; 3]) -> [usize; 2] {
    [p * m + i, j * k + p]
}

/// Each element of C as a sum of products from the left.
pub(super) fn each_sum<T: Copy, S: Default, O>(
    a: &[T],
    b: &[T],
    c: &mut [O],
    shape: Product,
    places: impl Places,
    add: impl Fn(S, T, T) -> S,
    round: impl Fn(S) -> O,
) {
    shape.check(a.len(), b.len(), c.len());
    let Product { m, n, k } = shape;
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let sum = (0..k).fold(S::default(), |sum, p| {
            let [of_a, of_b] = places(shape, [i, j, p]);
            add(sum, a[of_a], b[of_b])
        });
        c[i * n + j] = round(sum);
    }
}
