//! The definition: one product after the other.

use crate::{Cpu, Scalar};

/// z\[0\] = Σ x · y.
///
/// ```
/// use roofline_cpu::{Cpu, dot::plain::dot};
///
/// let mut z = [0.0];
/// dot(&Cpu::serial(), &[1.0, 2.0], &[3.0, 4.0], &mut z);
/// assert_eq!(z, [11.0]);
/// ```
pub fn dot<T: Scalar>(_cpu: &Cpu, x: &[T], y: &[T], z: &mut [T]) {
    assert!(x.len() == y.len() && z.len() == 1, "lengths {}, {} and {}", x.len(), y.len(), z.len());
    z[0] = T::narrow(x.iter().zip(y).map(|(x, y)| x.wide() * y.wide()).sum());
}
