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

/// The scale that takes a magnitude to 127.
fn over(most: f32) -> f32 {
    if most == 0.0 { 1.0 } else { most / 127.0 }
}
