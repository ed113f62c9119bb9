//! A product that is right and quick: for bugs that show in large ones only.

/// Sums side by side in each dot product.
const LANES: usize = 8;

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

/// Four rows by two columns at a time; what is left over one by one.
#[inline(always)]
fn tiles(
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    cols: usize,
    k: usize,
    fused: impl Fn(f32, f32, f32) -> f32 + Copy,
) {
    let whole = cols / 2 * 2;
    for (c, a) in c.chunks_mut(4 * cols).zip(a.chunks(4 * k)) {
        let rows = c.len() / cols;
        for j in (0..whole).step_by(2) {
            let columns = [&b[j * k..][..k], &b[(j + 1) * k..][..k]];
            if rows == 4 {
                let rows = [&a[..k], &a[k..][..k], &a[2 * k..][..k], &a[3 * k..][..k]];
                for (i, sums) in tile(rows, columns, fused).into_iter().enumerate() {
                    c[i * cols + j..][..2].copy_from_slice(&sums);
                }
            } else {
                for i in 0..rows {
                    let [sums] = tile([&a[i * k..][..k]], columns, fused);
                    c[i * cols + j..][..2].copy_from_slice(&sums);
                }
            }
        }
        for j in whole..cols {
            for i in 0..rows {
                [[c[i * cols + j]]] = tile([&a[i * k..][..k]], [&b[j * k..][..k]], fused);
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
