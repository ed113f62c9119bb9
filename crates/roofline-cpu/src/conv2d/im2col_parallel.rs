//! Windows as columns and a product, both on all threads.

use super::Windows;
use super::im2col::convolve;
use crate::matmul::packed_parallel;
use crate::{Cpu, Scalar};

/// The products of `w` with every window of `x`, and the bias of each channel if there is one.
///
/// ```
/// use roofline_cpu::{Cpu, conv2d, conv2d::Windows};
///
/// // Each pixel with itself and what lies left and right of it.
/// let mut y = [0.0f32; 3];
/// let shape = Windows { pad: [1; 2], ..Windows::new(1, [1, 3], 3) };
/// let w = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
/// conv2d(&Cpu::new(2), &[1.0, 2.0, 4.0], &w, None, &mut y, shape);
/// assert_eq!(y, [3.0, 7.0, 6.0]);
/// ```
pub fn conv2d<T: Scalar<Wide = f32>>(
    cpu: &Cpu,
    x: &[T],
    w: &[T],
    bias: Option<&[T]>,
    y: &mut [T],
    shape: Windows,
) {
    convolve(cpu, &cpu.pool, packed_parallel::matmul_nn, [x, w], bias, y, shape);
}
