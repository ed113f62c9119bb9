//! The definition: one loop over the elements.

use crate::elementwise::zip;
use crate::{Cpu, Real, Rows, Scalar};

/// z = a · x + y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, axpy};
///
/// let mut z = [0.0; 2];
/// axpy(&Cpu::serial(), &[1.0, 2.0], &[0.5; 2], &mut z, Rows { rows: 1, cols: 2 }, 2.5);
/// assert_eq!(z, [3.0, 5.5]);
/// ```
pub fn axpy<T: Scalar>(_cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows, a: f64) {
    let a = T::Wide::of(a);
    zip(x, y, z, shape, |x, y| a * x + y);
}

/// z = a · x + z.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, axpy_in_place};
///
/// let mut z = [0.5; 2];
/// axpy_in_place(&Cpu::serial(), &[1.0, 2.0], &mut z, Rows { rows: 1, cols: 2 }, 2.5);
/// assert_eq!(z, [3.0, 5.5]);
/// ```
pub fn axpy_in_place<T: Scalar>(_cpu: &Cpu, x: &[T], z: &mut [T], shape: Rows, a: f64) {
    assert!([x.len(), z.len()] == [shape.len(); 2], "lengths for {shape:?}");
    let a = T::Wide::of(a);
    for (x, z) in x.iter().zip(z) {
        *z = T::narrow(a * x.wide() + z.wide());
    }
}
