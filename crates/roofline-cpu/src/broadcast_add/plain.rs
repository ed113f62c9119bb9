//! The definition: three loops, and no step of x along the axis that it lacks.

use crate::{Cpu, Scalar};

/// z = x + y with y of `shape` and x of the same but for 1 at axis `along`.
///
/// ```
/// use roofline_cpu::{Cpu, broadcast_add};
///
/// let mut z = [0.0; 4];
/// broadcast_add(&Cpu::serial(), &[10.0, 20.0], &[1.0, 2.0, 3.0, 4.0], &mut z, [2, 1, 2], 0);
/// assert_eq!(z, [11.0, 22.0, 13.0, 24.0]);
/// ```
pub fn broadcast_add<T: Scalar>(_cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: [usize; 3], along: usize) {
    let mut own = shape;
    own[along] = 1;
    let lengths = [own, shape, shape].map(|shape| shape.iter().product());
    assert!([x.len(), y.len(), z.len()] == lengths, "lengths for {shape:?} along {along}");
    let mut steps = [own[1] * own[2], own[2], 1];
    steps[along] = 0;
    let mut pairs = y.iter().zip(z);
    for i in 0..shape[0] {
        for j in 0..shape[1] {
            for (k, (y, z)) in (0..shape[2]).zip(&mut pairs) {
                let x = x[i * steps[0] + j * steps[1] + k * steps[2]];
                *z = T::narrow(x.wide() + y.wide());
            }
        }
    }
}
