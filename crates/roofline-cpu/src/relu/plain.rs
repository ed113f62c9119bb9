//! The definition: one loop over the elements.

use crate::elementwise::map;
use crate::{Cpu, Real, Rows, Scalar};

/// y = max(x, 0).
///
/// ```
/// use roofline_cpu::{Cpu, Rows, relu::plain::relu};
///
/// let mut y = [0.0; 3];
/// relu(&Cpu::serial(), &[-1.0, 0.0, 2.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [0.0, 0.0, 2.0]);
/// ```
pub fn relu<T: Scalar>(_cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(x, y, shape, |x| if x < T::Wide::of(0.0) { T::Wide::of(0.0) } else { x });
}
