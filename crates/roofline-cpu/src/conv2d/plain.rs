//! The definition: every output is the sum of the products of its window.

use super::Windows;
use crate::{Cpu, Real, Scalar};

/// The products of `w` with every window of `x`, and the bias of each channel if there is one.
///
/// ```
/// use roofline_cpu::{Cpu, conv2d::{Windows, plain::conv2d}};
///
/// let mut y = [0.0; 2];
/// let shape = Windows::new(1, [2, 3], 2);
/// conv2d(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 0.0, 0.0, 10.0], None, &mut y, shape);
/// assert_eq!(y, [51.0, 62.0]);
/// ```
pub fn conv2d<T: Scalar>(_cpu: &Cpu, x: &[T], w: &[T], bias: Option<&[T]>, y: &mut [T], shape: Windows) {
    shape.check(x, w, bias, y);
    let Windows { batch, channels, out, height, width, kernel: [down, across], .. } = shape;
    let ([rows, columns], [per_group, out_per_group]) = (shape.outputs(), shape.per_group());
    for n in 0..batch {
        for o in 0..out {
            let first = o / out_per_group * per_group;
            for i in 0..rows {
                for j in 0..columns {
                    let mut sum = bias.map_or(T::Wide::of(0.0), |bias| bias[o].wide());
                    for c in 0..per_group {
                        let image = (n * channels + first + c) * height;
                        for k in 0..down {
                            let Some(row) = shape.row(i, k) else { continue };
                            for l in 0..across {
                                let Some(column) = shape.column(j, l) else { continue };
                                let weight = w[((o * per_group + c) * down + k) * across + l];
                                sum += x[(image + row) * width + column].wide() * weight.wide();
                            }
                        }
                    }
                    y[((n * out + o) * rows + i) * columns + j] = T::narrow(sum);
                }
            }
        }
    }
}
