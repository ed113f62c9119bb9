//! Windows written out as the columns of a matrix, zeros for what lies outside of the image; the rest is a product.
//!
//! A pixel is written as often as windows have it: memory for a product that knows nothing of images.

use super::Windows;
use crate::bind::Multiply;
use crate::matmul::packed;
use crate::scratch::Scratch;
use crate::{Cpu, Pool, Product, Scalar};

/// The products of `w` with every window of `x`, and the bias of each channel if there is one.
///
/// ```
/// use roofline_cpu::{Cpu, conv2d::{Windows, im2col::conv2d}};
///
/// let mut y = [0.0f32; 2];
/// let shape = Windows::new(1, [2, 3], 2);
/// conv2d(&Cpu::serial(), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 0.0, 0.0, 10.0], Some(&[0.5]), &mut y, shape);
/// assert_eq!(y, [51.5, 62.5]);
/// ```
pub fn conv2d<T: Scalar<Wide = f32>>(
    cpu: &Cpu,
    x: &[T],
    w: &[T],
    bias: Option<&[T]>,
    y: &mut [T],
    shape: Windows,
) {
    convolve(cpu, Pool::alone(), packed::matmul_nn, [x, w], bias, y, shape);
}

/// The same with these threads and this product, one group of one image after the other.
pub(super) fn convolve<T: Scalar<Wide = f32>>(
    cpu: &Cpu,
    pool: &Pool,
    product: Multiply<f32, f32>,
    [x, w]: [&[T]; 2],
    bias: Option<&[T]>,
    y: &mut [T],
    shape: Windows,
) {
    shape.check(x, w, bias, y);
    let ([rows, columns], [per_group, out_per_group]) = (shape.outputs(), shape.per_group());
    let (plane, terms) = (rows * columns, per_group * shape.window());
    let mut weights = Scratch::<f32>::take(w.len());
    weights.iter_mut().zip(w).for_each(|(wide, w)| *wide = w.wide());
    let mut windows = Scratch::<f32>::take(terms * plane);
    let mut sums = Scratch::<f32>::take(out_per_group * plane);
    for (number, y) in y.chunks_mut((out_per_group * plane).max(1)).enumerate() {
        // Groups of an image lie one after the other, and so do their channels.
        let image = &x[number * per_group * shape.height * shape.width..];
        pool.run_pieces(&mut windows, plane, PIECE, |offset, some| {
            some.chunks_mut(plane).enumerate().for_each(|(row, line)| {
                write_line(image, offset / plane + row, line, shape);
            });
        });
        let first = number % shape.groups * out_per_group;
        let of_group = &weights[first * terms..(first + out_per_group) * terms];
        product(cpu, of_group, &windows, &mut sums, Product { m: out_per_group, n: plane, k: terms });
        for (o, (y, sums)) in y.chunks_mut(plane).zip(sums.chunks(plane)).enumerate() {
            let bias = bias.map_or(0.0, |bias| bias[first + o].wide());
            y.iter_mut().zip(sums).for_each(|(y, sum)| *y = T::narrow(sum + bias));
        }
    }
}

/// Elements that are worth handing to another thread.
const PIECE: usize = 1 << 13;

/// One element of each window, by its number: channel, row and column of the kernel.
fn write_line<T: Scalar<Wide = f32>>(image: &[T], number: usize, line: &mut [f32], shape: Windows) {
    let [down, across] = shape.kernel;
    let (k, l) = (number / across % down, number % across);
    let channel = number / shape.window();
    let [_, columns] = shape.outputs();
    for (i, line) in line.chunks_mut(columns).enumerate() {
        let Some(row) = shape.row(i, k) else {
            line.fill(0.0);
            continue;
        };
        let row = &image[(channel * shape.height + row) * shape.width..][..shape.width];
        for (j, element) in line.iter_mut().enumerate() {
            *element = shape.column(j, l).map_or(0.0, |column| row[column].wide());
        }
    }
}
