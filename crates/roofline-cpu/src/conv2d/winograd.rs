//! Winograd's F(2×2, 3×3): four outputs from a tile of four by four pixels, with 16 products in place of 36.
//!
//! Tiles and kernels are transformed, element by element of the 4×4; the sums over channels are then 16 products of matrices;
//! and what comes out is transformed back. It rounds more than sums of products do, which is what `f32+winograd` is for.

use super::Windows;
use crate::matmul::packed_parallel::matmul_nn;
use crate::scratch::Scratch;
use crate::{Cpu, Product};

/// Elements of a transformed tile.
const TILE: usize = 16;

/// The products of `w` with every window of `x`, and the bias of each channel if there is one.
///
/// ```
/// use roofline_cpu::{Cpu, conv2d::{Windows, winograd::conv2d}};
///
/// // Each pixel with itself and what lies left and right of it.
/// let mut y = [0.0f32; 3];
/// let shape = Windows { pad: [1; 2], ..Windows::new(1, [1, 3], 3) };
/// let w = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
/// conv2d(&Cpu::serial(), &[1.0, 2.0, 4.0], &w, None, &mut y, shape);
/// assert_eq!(y, [3.0, 7.0, 6.0]);
/// ```
///
/// # Panics
/// If the kernel is not of three by three, or goes by other steps than one.
pub fn conv2d(cpu: &Cpu, x: &[f32], w: &[f32], bias: Option<&[f32]>, y: &mut [f32], shape: Windows) {
    shape.check(x, w, bias, y);
    let steps = (shape.kernel, shape.stride, shape.dilation);
    assert_eq!(steps, ([3; 2], 1, 1), "a kernel of three by three, and steps of one");
    let ([rows, columns], [per_group, out_per_group]) = (shape.outputs(), shape.per_group());
    let (plane, across) = (rows * columns, columns.div_ceil(2));
    let tiles = rows.div_ceil(2) * across;
    let mut kernels = Scratch::<f32>::take(TILE * shape.out * per_group);
    for (number, w) in w.chunks_exact(9).enumerate() {
        let transformed = transform_kernel(w);
        scatter(&transformed, &mut kernels, shape.out * per_group, number);
    }
    let mut pixels = Scratch::<f32>::take(TILE * per_group * tiles);
    let mut sums = Scratch::<f32>::take(TILE * out_per_group * tiles);
    for (number, y) in y.chunks_mut((out_per_group * plane).max(1)).enumerate() {
        // Groups of an image lie one after the other, and so do their channels.
        let image = &x[number * per_group * shape.height * shape.width..];
        for (c, image) in image.chunks(shape.height * shape.width).take(per_group).enumerate() {
            for tile in 0..tiles {
                let transformed = transform_tile(image, [tile / across * 2, tile % across * 2], shape);
                scatter(&transformed, &mut pixels, per_group * tiles, c * tiles + tile);
            }
        }
        let first = number % shape.groups * out_per_group;
        let product = Product { m: out_per_group, n: tiles, k: per_group };
        for element in 0..TILE {
            let of_group = &kernels[element * shape.out * per_group + first * per_group..];
            let pixels = &pixels[element * per_group * tiles..][..per_group * tiles];
            let sums = &mut sums[element * out_per_group * tiles..][..out_per_group * tiles];
            matmul_nn(cpu, &of_group[..out_per_group * per_group], pixels, sums, product);
        }
        for (o, y) in y.chunks_mut(plane).enumerate() {
            let bias = bias.map_or(0.0, |bias| bias[first + o]);
            for tile in 0..tiles {
                let at = |element: usize| sums[(element * out_per_group + o) * tiles + tile];
                let outputs = transform_back(&std::array::from_fn(at));
                let (top, left) = (tile / across * 2, tile % across * 2);
                for (place, output) in outputs.into_iter().enumerate() {
                    let (row, column) = (top + place / 2, left + place % 2);
                    // The last tile of a row or a column may reach beyond.
                    if row < rows && column < columns {
                        y[row * columns + column] = output + bias;
                    }
                }
            }
        }
    }
}

/// The elements of a tile, each to its own matrix, of so many numbers.
fn scatter(tile: &[f32; TILE], matrices: &mut [f32], length: usize, at: usize) {
    tile.iter().enumerate().for_each(|(element, value)| matrices[element * length + at] = *value);
}

/// Along both sides: the first, half the sum, half the sum with the middle one taken off, the last.
fn transform_kernel(w: &[f32]) -> [f32; TILE] {
    let line = |[a, b, c]: [f32; 3]| [a, (a + b + c) / 2.0, (a - b + c) / 2.0, c];
    let down = [0, 1, 2].map(|column| line([w[column], w[3 + column], w[6 + column]]));
    let rows = [0, 1, 2, 3].map(|row| line([down[0][row], down[1][row], down[2][row]]));
    std::array::from_fn(|element| rows[element / 4][element % 4])
}

/// The tile that begins at this row and column of the padded image, transformed along both sides.
fn transform_tile(image: &[f32], [top, left]: [usize; 2], shape: Windows) -> [f32; TILE] {
    let pixel = |row: usize, column: usize| {
        let (row, column) = (shape.row(top, row), shape.column(left, column));
        row.zip(column).map_or(0.0, |(row, column)| image[row * shape.width + column])
    };
    let line = |[a, b, c, d]: [f32; 4]| [a - c, b + c, c - b, b - d];
    let down = [0, 1, 2, 3].map(|column| line([0, 1, 2, 3].map(|row| pixel(row, column))));
    let rows = [0, 1, 2, 3].map(|row| line([0, 1, 2, 3].map(|column| down[column][row])));
    std::array::from_fn(|element| rows[element / 4][element % 4])
}

/// The four outputs of a tile, row by row.
fn transform_back(sums: &[f32; TILE]) -> [f32; 4] {
    let line = |[a, b, c, d]: [f32; 4]| [a + b + c, b - c - d];
    let down = [0, 1, 2, 3].map(|column| line([0, 1, 2, 3].map(|row| sums[4 * row + column])));
    let [top, bottom] = [0, 1].map(|row| line([0, 1, 2, 3].map(|column| down[column][row])));
    [top[0], top[1], bottom[0], bottom[1]]
}
