//! Squares of vectors, turned in registers: every line of memory is read once and written once.
//!
//! Elements of four bytes and of two are moved as codes, whatever they are; squares of others go through small loops,
//! whose lines stay in the nearest cache. What no square covers is moved one by one.

use crate::lanes::Lanes;
use crate::scratch::Plain;
use crate::{Cpu, Datum, Pool, Rows, Vectorize};
use std::ops::Range;

/// y \[cols, rows\] from x \[rows, cols\].
///
/// ```
/// use roofline_cpu::{Cpu, Rows, transpose::tiles::transpose};
///
/// let mut y = [0; 6];
/// transpose(&Cpu::serial(), &[1, 2, 3, 4, 5, 6], &mut y, Rows { rows: 2, cols: 3 });
/// assert_eq!(y, [1, 4, 2, 5, 3, 6]);
/// ```
pub fn transpose<T: Datum + Plain>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    turn(Pool::alone(), cpu, x, y, Turn::one(shape));
}

/// The same, rows of y on all threads.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, transpose};
///
/// let mut y = [0; 6];
/// transpose(&Cpu::new(2), &[1, 2, 3, 4, 5, 6], &mut y, Rows { rows: 2, cols: 3 });
/// assert_eq!(y, [1, 4, 2, 5, 3, 6]);
/// ```
pub fn transpose_parallel<T: Datum + Plain>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    turn(&cpu.pool, cpu, x, y, Turn::one(shape));
}

/// y \[groups, cols, middle, rows\] from x \[groups, rows, middle, cols\].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) groups: usize,
    pub(crate) rows: usize,
    pub(crate) middle: usize,
    pub(crate) cols: usize,
}

impl Turn {
    fn one(shape: Rows) -> Self {
        Self { groups: 1, rows: shape.rows, middle: 1, cols: shape.cols }
    }
}

/// Elements that are worth handing to another thread.
const PIECE: usize = 1 << 13;
/// Columns of x that are turned side by side: a few lines of memory that follow each other.
const STRIP: usize = 64;

/// On these threads.
#[track_caller]
pub(crate) fn turn<T: Datum + Plain>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: Turn) {
    let Turn { groups, rows, middle, cols } = shape;
    assert!([x.len(), y.len()] == [groups * rows * middle * cols; 2], "lengths for {shape:?}");
    let (isa, streamed) = (cpu.isa, cpu.streams(2 * size_of_val(x)));
    // A row of y for each column of x. Columns of one group are turned side by side, as many as there are in a piece.
    let row = (middle * rows).max(1);
    let unit = row * if cols.is_multiple_of(STRIP) { STRIP } else { 1 };
    pool.run_pieces(y, unit, PIECE.max(STRIP * row), |offset, y| {
        let (mut first, mut y) = (offset / row, y);
        while !y.is_empty() {
            let (group, column) = (first / cols, first % cols);
            let count = STRIP.min(cols - column).min(y.len() / row);
            let (strip, rest) = y.split_at_mut(count * row);
            let x = &x[group * rows * row_of_x(shape)..][..rows * row_of_x(shape)];
            isa.run(Strip { x, y: strip, shape, column, streamed });
            (first, y) = (first + count, rest);
        }
    });
}

/// Elements from a row of x to the next.
fn row_of_x(shape: Turn) -> usize {
    shape.middle * shape.cols
}

/// Columns of a group from `column` on, and as many rows of y as there is room for.
struct Strip<'a, T> {
    x: &'a [T],
    y: &'a mut [T],
    shape: Turn,
    column: usize,
    streamed: bool,
}

impl<T: Datum + Plain> Vectorize for Strip<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Strip { x, y, shape: Turn { rows, middle, cols, .. }, column, streamed } = self;
        let [step_x, step_y] = [middle * cols, middle * rows];
        let count = y.len() / step_y;
        let whole = rows - rows % L::LANES;
        let squares = count - count % L::LANES;
        for between in 0..middle {
            let (x, y) = (&x[between * cols + column..], &mut y[between * rows..]);
            for i in (0..whole).step_by(L::LANES) {
                for j in (0..squares).step_by(L::LANES) {
                    let (x, y) = (&x[i * step_x + j..], &mut y[j * step_y + i..]);
                    square::<L, T>(lanes, x, step_x, y, step_y, streamed);
                }
                each(x, step_x, i..i + L::LANES, y, step_y, squares..count);
            }
            each(x, step_x, whole..rows, y, step_y, 0..count);
        }
        if streamed {
            lanes.fence();
        }
    }
}

/// As many columns as a vector has lanes, of as many rows.
#[inline(always)]
fn square<L: Lanes, T: Datum + Plain>(
    lanes: L,
    x: &[T],
    step_x: usize,
    y: &mut [T],
    step_y: usize,
    streamed: bool,
) {
    if let (Some(x), Some(y)) = (as_plain::<T, f32>(x), as_plain_mut::<T, f32>(y)) {
        let mut rows = lanes.square(lanes.splat(0.0));
        for (i, row) in rows.as_mut().iter_mut().enumerate() {
            *row = lanes.load_f32(&x[i * step_x..]);
        }
        for (j, column) in lanes.transpose(rows).as_ref().iter().enumerate() {
            if streamed {
                lanes.stream_f32(*column, &mut y[j * step_y..]);
            } else {
                lanes.store_f32(*column, &mut y[j * step_y..]);
            }
        }
    } else if let (Some(x), Some(y)) = (as_plain::<T, u16>(x), as_plain_mut::<T, u16>(y)) {
        let mut rows = lanes.square(lanes.splat_i32(0));
        for (i, row) in rows.as_mut().iter_mut().enumerate() {
            *row = lanes.load_u16(&x[i * step_x..]);
        }
        for (j, column) in lanes.transpose_i32(rows).as_ref().iter().enumerate() {
            lanes.store_u16(*column, &mut y[j * step_y..]);
        }
    } else {
        each(x, step_x, 0..L::LANES, y, step_y, 0..L::LANES);
    }
}

/// The same elements as numbers of the same size and alignment, if these are.
#[inline(always)]
fn as_plain<T: Plain, P: Plain>(x: &[T]) -> Option<&[P]> {
    let are_alike = size_of::<T>() == size_of::<P>() && align_of::<T>() == align_of::<P>();
    // SAFETY: both are plain, so that what the one holds is a value of the other, as long and as aligned.
    are_alike.then(|| unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) })
}

/// The same to be written.
#[inline(always)]
fn as_plain_mut<T: Plain, P: Plain>(y: &mut [T]) -> Option<&mut [P]> {
    let are_alike = size_of::<T>() == size_of::<P>() && align_of::<T>() == align_of::<P>();
    // SAFETY: as above, and what is written as the one is a value of the other.
    are_alike.then(|| unsafe { std::slice::from_raw_parts_mut(y.as_mut_ptr().cast(), y.len()) })
}

/// These rows of these columns of x, one element after the other.
#[inline(always)]
fn each<T: Copy>(
    x: &[T],
    step_x: usize,
    rows: Range<usize>,
    y: &mut [T],
    step_y: usize,
    columns: Range<usize>,
) {
    for j in columns {
        for i in rows.clone() {
            y[j * step_y + i] = x[i * step_x + j];
        }
    }
}
