//! A product that is right and quick: for bugs that show in large ones only.

/// Sums side by side in each dot product.
const LANES: usize = 8;

/// Columns that are gone through with all rows before the next ones are.
const COLUMNS: usize = 32;

/// C = A · Bᵀ in f32, with rows of `k` elements in A and B and of `cols` in C.
pub(crate) fn multiply(a: &[f32], b: &[f32], c: &mut [f32], cols: usize, k: usize) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has both, as just asked.
        unsafe { multiply_fused(a, b, c, cols, k) };
        return;
    }
    tiles(a, b, c, cols, k, |a, b, sum| a * b + sum);
}

/// The same, compiled for wide vectors and fused multiply-adds.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_fused(a: &[f32], b: &[f32], c: &mut [f32], cols: usize, k: usize) {
    tiles(a, b, c, cols, k, f32::mul_add);
}

/// Two rows by two columns at a time, within as many columns as a cache holds; what is left over one by one.
#[inline(always)]
fn tiles(
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    cols: usize,
    k: usize,
    fused: impl Fn(f32, f32, f32) -> f32 + Copy,
) {
    for first in (0..cols).step_by(COLUMNS) {
        let last = (first + COLUMNS).min(cols);
        for (c, a) in c.chunks_mut(2 * cols).zip(a.chunks(2 * k)) {
            let (c, below) = c.split_at_mut(cols);
            for j in (first..last).step_by(2) {
                let columns = b[j * k..last * k].chunks_exact(k);
                if below.is_empty() || columns.len() < 2 {
                    for (j, column) in (j..).zip(columns.take(2)) {
                        [[c[j]]] = tile([&a[..k]], [column], fused);
                        if !below.is_empty() {
                            [[below[j]]] = tile([&a[k..]], [column], fused);
                        }
                    }
                } else {
                    let columns = [&b[j * k..][..k], &b[(j + 1) * k..][..k]];
                    let sums = tile([&a[..k], &a[k..]], columns, fused);
                    c[j..j + 2].copy_from_slice(&sums[0]);
                    below[j..j + 2].copy_from_slice(&sums[1]);
                }
            }
        }
    }
}

/// The dot products of some rows and some columns, all of one length.
#[inline(always)]
fn tile<const M: usize, const N: usize>(
    rows: [&[f32]; M],
    columns: [&[f32]; N],
    fused: impl Fn(f32, f32, f32) -> f32 + Copy,
) -> [[f32; N]; M] {
    let rows_of_lanes = rows.map(|row| row.as_chunks::<LANES>());
    let columns_of_lanes = columns.map(|column| column.as_chunks::<LANES>());
    let mut sums = [[[0.0_f32; LANES]; N]; M];
    for p in 0..rows_of_lanes[0].0.len() {
        for i in 0..M {
            for j in 0..N {
                let (x, y) = (&rows_of_lanes[i].0[p], &columns_of_lanes[j].0[p]);
                for lane in 0..LANES {
                    sums[i][j][lane] = fused(x[lane], y[lane], sums[i][j][lane]);
                }
            }
        }
    }
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let rest = rows_of_lanes[i].1.iter().zip(columns_of_lanes[j].1);
            rest.fold(sums[i][j].iter().sum(), |sum, (x, y)| fused(*x, *y, sum))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_integers_are_exact_whatever_the_edges() {
        for (m, n, k) in [(1, 1, 1), (4, 2, 8), (5, 3, 9), (7, 8, 31), (9, 5, 64)] {
            let number = |i: usize| (i * 7 % 11) as f32 - 5.0;
            let a: Vec<f32> = (0..m * k).map(number).collect();
            let b: Vec<f32> = (0..n * k).map(|i| number(i + 3)).collect();
            let mut c = vec![f32::NAN; m * n];
            multiply(&a, &b, &mut c, n, k);
            for (index, c) in c.iter().enumerate() {
                let (a, b) = (&a[index / n * k..][..k], &b[index % n * k..][..k]);
                assert_eq!(*c, a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>(), "{m} {n} {k} at {index}");
            }
        }
    }
}
