//! Convolutions by Winograd's F(2×2, 3×3): four outputs from a tile of four by four pixels, with 16 products in place of 36.
//!
//! The sums are those of the definition; what a kernel may be off by is what these steps round: pixels are added up before they
//! are multiplied, and products are taken off each other after. Where a kernel is not of three by three, or goes by other
//! steps, nothing is transformed, and the bound is that of sums of products.

use super::{Layout, RIGHT as DIRECT};
use crate::case::Case;
use crate::number::Number;
use crate::operation::family::whole::All;
use crate::precision::Precision;

/// Whether a case is transformed.
pub(super) fn is_meant(case: &Case) -> bool {
    let has = |axis: &str, size: usize| case.axis(axis) == size;
    case.precision.id == Precision::F32_WINOGRAD.id
        && has("kernel", 3)
        && has("stride", 1)
        && has("dilation", 1)
}

/// How a kernel goes about it: what mutants change.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// The factor of the middle rows of a transformed kernel.
    pub middle: f64,
    /// The same where a row and a column of it are both in the middle, in place of its square, beside 1 for neither.
    pub halves: f64,
}

pub(super) const RIGHT: How = How { middle: 0.5, halves: 0.25 };

/// Of a tile along one side: two of its elements, and the sign of the second.
const PIXELS: [(usize, usize, f64); 4] = [(0, 2, -1.0), (1, 2, 1.0), (2, 1, -1.0), (1, 3, -1.0)];
/// Of the sums of products along one side: which ones make an output, and their signs.
const SUMS: [[(usize, f64); 3]; 2] = [[(0, 1.0), (1, 1.0), (2, 1.0)], [(1, 1.0), (2, -1.0), (3, -1.0)]];

/// The wanted elements.
pub(super) fn convolved<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let layout = Layout::of(all.case());
    wanted.iter().map(|element| output(all, &layout, *element, how)).collect()
}

fn output<'a>(all: &All<'a>, layout: &Layout, element: usize, how: How) -> Number<'a> {
    let [n, o, i, j] = layout.place(element);
    let mut sum = all.number(0.0);
    for (p, down) in SUMS[i % 2] {
        let mut of_row = all.number(0.0);
        for (q, across) in SUMS[j % 2] {
            let (mut pixels, mut weights) = (Vec::new(), Vec::new());
            for c in 0..layout.per_group {
                let channel = n * layout.channels + (DIRECT.channel)(layout, o, c);
                pixels.push(tile(all, layout, channel, [i / 2 * 2, j / 2 * 2], [p, q]));
                weights.push(kernel(all, o * layout.per_group + c, [p, q], how));
            }
            of_row = of_row + all.dot(&pixels, &weights) * across;
        }
        sum = sum + of_row * down;
    }
    if all.variant() == "bias" { sum + all.x(2, o) } else { sum }
}

/// An element of the transformed tile that begins at this row and column.
fn tile<'a>(
    all: &All<'a>,
    layout: &Layout,
    channel: usize,
    [i, j]: [usize; 2],
    [p, q]: [usize; 2],
) -> Number<'a> {
    let pixel = |row: usize, column: usize| {
        let pixel = (DIRECT.pixel)(layout, [i + row, j + column]);
        pixel.map_or(all.number(0.0), |pixel| all.x(0, channel * layout.plane() + pixel))
    };
    let (row, other_row, down) = PIXELS[p];
    let (column, other, across) = PIXELS[q];
    let along = |row: usize| pixel(row, column) + pixel(row, other) * across;
    along(row) + along(other_row) * down
}

/// An element of the transformed kernel of an output and a channel.
fn kernel<'a>(all: &All<'a>, plane: usize, [p, q]: [usize; 2], how: How) -> Number<'a> {
    let weight = |k: usize, l: usize| all.x(1, plane * 9 + k * 3 + l);
    let is_middle = |place: usize| place == 1 || place == 2;
    let line = |at: &dyn Fn(usize) -> Number<'a>, place: usize| match place {
        0 => at(0),
        3 => at(2),
        1 => at(0) + at(1) + at(2),
        _ => at(0) - at(1) + at(2),
    };
    let sum = line(&|k| line(&|l| weight(k, l), q), p);
    match [p, q].into_iter().filter(|place| is_middle(*place)).count() {
        0 => sum,
        1 => sum * how.middle,
        _ => sum * how.halves,
    }
}
