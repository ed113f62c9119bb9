//! The definition, element after element.

use crate::{Cpu, Float, Real, Rows, Scalar};

/// −Σ t · ln(max(p, 10⁻⁸)) over everything.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, cross_entropy_prob::plain::cross_entropy_prob};
///
/// let mut y = [0.0];
/// cross_entropy_prob(&Cpu::serial(), &[0.5, 1.0], &[1.0, 1.0], &mut y, Rows { rows: 1, cols: 2 });
/// assert_eq!(y, [2f64.ln()]);
/// ```
pub fn cross_entropy_prob<T: Scalar>(_cpu: &Cpu, p: &[T], t: &[T], y: &mut [T], shape: Rows) {
    assert!([p.len(), t.len(), y.len()] == [shape.len(), shape.len(), 1], "lengths for {shape:?}");
    let least = T::Wide::of(1e-8);
    // `max` would hide a probability that is NaN.
    let clamped = |p: T::Wide| if p < least { least } else { p };
    y[0] = T::narrow(p.iter().zip(t).map(|(p, t)| -t.wide() * clamped(p.wide()).ln()).sum());
}
