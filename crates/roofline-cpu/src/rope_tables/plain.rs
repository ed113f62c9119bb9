//! The definition: one angle after the other.

use crate::{Cpu, Real, Scalar};

/// cos φ and sin φ for pair i of each position, φ = position · base^(-2i/dim).
///
/// ```
/// use roofline_cpu::{Cpu, rope_tables::plain::rope_tables};
///
/// let (mut cos, mut sin) = ([0.0; 4], [0.0; 4]);
/// rope_tables(&Cpu::serial(), &[0, 3], &mut cos, &mut sin, 4, 1e4);
/// assert_eq!((cos[0], sin[1]), (1.0, 0.0));
/// assert_eq!((cos[2], sin[3]), (3f64.cos(), 0.03f64.sin()));
/// ```
pub fn rope_tables<T: Scalar>(
    _cpu: &Cpu,
    positions: &[i32],
    cos: &mut [T],
    sin: &mut [T],
    dim: usize,
    base: f64,
) {
    let pairs = dim / 2;
    assert!([cos.len(), sin.len()] == [positions.len() * pairs; 2], "lengths for {dim}");
    for (at, (cos, sin)) in cos.iter_mut().zip(sin).enumerate() {
        let (position, i) = (f64::from(positions[at / pairs]), at % pairs);
        let angle = position * base.powf(-2.0 * i as f64 / dim as f64);
        (*cos, *sin) = (T::narrow(T::Wide::of(angle.cos())), T::narrow(T::Wide::of(angle.sin())));
    }
}
