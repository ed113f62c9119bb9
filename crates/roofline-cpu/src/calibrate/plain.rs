//! The definitions.

use crate::Scalar;
use crate::scratch::Scratch;

/// max|x| / 127, and 1 where all is zero.
///
/// ```
/// assert_eq!(roofline_cpu::calibrate(&[1.0f32, -254.0, 3.0]), 2.0);
/// ```
pub fn calibrate<T: Scalar<Wide = f32>>(x: &[T]) -> f32 {
    over(x.iter().fold(0.0, |most: f32, x| most.max(x.wide().abs())))
}

/// Of |x| the least that so many in a hundred are not above, over 127; 1 where that is zero.
///
/// ```
/// assert_eq!(roofline_cpu::calibrate::calibrate_percentile(&[254.0f32, -127.0, 1000.0], 60.0), 2.0);
/// ```
pub fn calibrate_percentile<T: Scalar<Wide = f32>>(x: &[T], percentile: f64) -> f32 {
    let mut sizes = Scratch::<f32>::take(x.len());
    sizes.iter_mut().zip(x).for_each(|(size, x)| *size = x.wide().abs());
    let up_to = (percentile * x.len() as f64 / 100.0).ceil() as usize;
    let rank = up_to.clamp(1, x.len().max(1)) - 1;
    if x.is_empty() { 1.0 } else { over(*sizes.select_nth_unstable_by(rank, f32::total_cmp).1) }
}

/// Of hundredths of max|x| / 127 the one whose codes, held between -127 and 127, leave the least squares; 1 of zeros.
///
/// ```
/// // All but one lie between two codes of the largest scale: together they lose more by it than that one by a smaller.
/// let mut x = vec![1.5f32; 10_000];
/// x[0] = 127.0;
/// assert!(roofline_cpu::calibrate::calibrate_mse(&x) < 1.0);
/// ```
pub fn calibrate_mse<T: Scalar<Wide = f32>>(x: &[T]) -> f32 {
    let largest = calibrate(x);
    if x.iter().all(|x| x.wide() == 0.0) {
        return largest;
    }
    let left = |s: f32| -> f64 {
        let of = |x: &T| f64::from(x.wide() - s * (x.wide() / s).round_ties_even().clamp(-127.0, 127.0));
        x.iter().map(|x| of(x).powi(2)).sum()
    };
    let tried = (1..=100).map(|number| largest * number as f32 / 100.0).map(|s| (s, left(s)));
    tried.min_by(|one, other| one.1.total_cmp(&other.1)).map_or(largest, |(s, _)| s)
}

/// The moving average of max|x| of each row of so many columns, to which a row adds this share of what it differs by, over 127; 1
/// where that is zero.
///
/// ```
/// use roofline_cpu::calibrate::calibrate_average;
///
/// assert_eq!(calibrate_average(&[127.0f32, 0.0, 1.0, -381.0], 2, 0.5), 2.0);
/// ```
pub fn calibrate_average<T: Scalar<Wide = f32>>(x: &[T], cols: usize, share: f64) -> f32 {
    let largest = |row: &[T]| row.iter().fold(0.0, |most: f32, x| most.max(x.wide().abs()));
    let rows = x.chunks(cols.max(1)).map(largest);
    over(rows.reduce(|known, row| known + share as f32 * (row - known)).unwrap_or(0.0))
}

/// The scale that takes a magnitude to 127.
pub(super) fn over(most: f32) -> f32 {
    if most == 0.0 { 1.0 } else { most / 127.0 }
}
