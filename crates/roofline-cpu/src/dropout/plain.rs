//! The definition: four elements a counter.

use crate::philox::philox;
use crate::{Cpu, Real, Rows, Scalar};

/// y = x · m / (1 − p), with the mask of `seed` and offset.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, dropout::plain::dropout};
///
/// let mut y = [0.0; 1000];
/// dropout(&Cpu::serial(), &[1.0; 1000], [7, 0], &mut y, Rows { rows: 1, cols: 1000 }, 0.5);
/// assert!(y.iter().all(|y| [0.0, 2.0].contains(y)));
/// ```
pub fn dropout<T: Scalar>(_cpu: &Cpu, x: &[T], [seed, offset]: [i32; 2], y: &mut [T], shape: Rows, p: f64) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    let least = least(p);
    let scale = T::Wide::of(1.0 / (1.0 - p));
    for (block, (x, y)) in x.chunks(4).zip(y.chunks_mut(4)).enumerate() {
        let block = block as u64;
        let words = philox([block as u32, (block >> 32) as u32, offset as u32, 0], [seed as u32, 0]);
        for ((x, y), word) in x.iter().zip(y).zip(words) {
            let kept = if word >= least { T::Wide::of(1.0) } else { T::Wide::of(0.0) };
            *y = T::narrow(x.wide() * kept * scale);
        }
    }
}

/// What words are at least that keep an element.
pub(super) fn least(p: f64) -> u32 {
    (p * 2f64.powi(32)).round() as u32
}
