//! One axis after the other.

use crate::Real;
use crate::fft::{self, Form};

/// Transforms of one shape and form to come.
///
/// ```
/// use roofline_cpu::{fft::Form, fft2::Plan};
///
/// let mut y = [0.0; 8];
/// let x = [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0];
/// Plan::new(2, 2, Form::Forward).run(&x, &mut y);
/// assert_eq!(y, [10.0, 0.0, -2.0, 0.0, -4.0, 0.0, 0.0, 0.0]);
/// ```
pub struct Plan<T> {
    of_rows: fft::Plan<T>,
    of_columns: fft::Plan<T>,
    form: Form,
    rows: usize,
    /// Elements of a row before and after.
    widths: [usize; 2],
    /// A column, and its transform.
    column: Vec<T>,
    transformed: Vec<T>,
    /// A matrix whose columns are back before its rows are.
    halfway: Vec<T>,
}

impl<T: Real> Plan<T> {
    /// Computes what hangs on the shape alone.
    ///
    /// # Panics
    /// If there is no row or no column.
    pub fn new(rows: usize, cols: usize, form: Form) -> Self {
        let widths = form.lengths(cols);
        let of_column = match form {
            Form::Forward | Form::Real => Form::Forward,
            Form::Inverse | Form::RealInverse => Form::Inverse,
        };
        let column = vec![T::default(); 2 * rows];
        let halfway = if form == Form::RealInverse { rows * widths[0] } else { 0 };
        Self {
            of_rows: fft::Plan::new(cols, form),
            of_columns: fft::Plan::new(rows, of_column),
            form,
            rows,
            widths,
            transformed: column.clone(),
            column,
            halfway: vec![T::default(); halfway],
        }
    }

    /// Bytes that it keeps.
    pub fn bytes(&self) -> usize {
        let kept = 2 * size_of_val::<[T]>(&self.column) + size_of_val::<[T]>(&self.halfway);
        self.of_rows.bytes() + self.of_columns.bytes() + kept
    }

    /// Transforms each matrix of `x` to one of `y`.
    ///
    /// # Panics
    /// If they do not hold as many whole matrices.
    pub fn run(&mut self, x: &[T], y: &mut [T]) {
        let [before, after] = self.widths.map(|width| self.rows * width);
        assert!(
            x.len().is_multiple_of(before) && x.len() / before * after == y.len(),
            "lengths for matrices of {before} parts"
        );
        for (x, y) in x.chunks_exact(before).zip(y.chunks_exact_mut(after)) {
            if self.form == Form::RealInverse {
                let mut halfway = std::mem::take(&mut self.halfway);
                halfway.copy_from_slice(x);
                self.columns(&mut halfway, self.widths[0]);
                self.of_rows.run(&halfway, y);
                self.halfway = halfway;
            } else {
                self.of_rows.run(x, y);
                self.columns(y, self.widths[1]);
            }
        }
    }

    /// Transforms each column of a matrix of complex numbers in its place.
    fn columns(&mut self, y: &mut [T], width: usize) {
        for first in (0..width).step_by(2) {
            let place = |row: usize| row * width + first;
            for (row, number) in self.column.chunks_exact_mut(2).enumerate() {
                number.copy_from_slice(&y[place(row)..place(row) + 2]);
            }
            self.of_columns.run(&self.column, &mut self.transformed);
            for (row, number) in self.transformed.chunks_exact(2).enumerate() {
                y[place(row)..place(row) + 2].copy_from_slice(number);
            }
        }
    }
}
