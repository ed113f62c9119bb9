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
    cols: usize,
    /// A column, and its transform.
    column: Vec<T>,
    transformed: Vec<T>,
}

impl<T: Real> Plan<T> {
    /// Computes what hangs on the shape alone.
    ///
    /// # Panics
    /// If there is no row or no column, or the form is of real numbers.
    pub fn new(rows: usize, cols: usize, form: Form) -> Self {
        assert!(matches!(form, Form::Forward | Form::Inverse), "complex numbers to complex numbers");
        let column = vec![T::default(); 2 * rows];
        let [of_rows, of_columns] = [cols, rows].map(|n| fft::Plan::new(n, form));
        Self { of_rows, of_columns, cols, transformed: column.clone(), column }
    }

    /// Bytes that it keeps.
    pub fn bytes(&self) -> usize {
        self.of_rows.bytes() + self.of_columns.bytes() + 2 * size_of_val::<[T]>(&self.column)
    }

    /// Transforms each matrix of `x` to one of `y`.
    ///
    /// # Panics
    /// If they do not hold as many whole matrices.
    pub fn run(&mut self, x: &[T], y: &mut [T]) {
        let length = self.cols * self.column.len();
        assert!(
            x.len() == y.len() && x.len().is_multiple_of(length),
            "lengths for matrices of {length} parts"
        );
        self.of_rows.run(x, y);
        for y in y.chunks_exact_mut(length) {
            for column in 0..self.cols {
                let place = |row: usize| 2 * (row * self.cols + column);
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
}
