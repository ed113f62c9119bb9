//! One kernel under several names, some with a known share of real extra work.
//!
//! `a` and `b` are the same code. `b-1`, `b-2` and `b-5` compute 1, 2 and 5 % of the rows a second
//! time: the output stays right, and the time grows by that much. Time is linear in rows, so the
//! kernels are those without tiles, packing or sharing between rows.
#![forbid(unsafe_code)]

use roofline_cpu::{Cpu, Product, Rows, add, matmul, softmax};

/// The names, and the share of rows that each computes twice, in percent.
pub const NAMES: [(&str, usize); 5] = [("a", 0), ("b", 0), ("b-1", 1), ("b-2", 2), ("b-5", 5)];

/// A problem whose rows can be computed one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Add,
    Softmax,
    /// B is \[n,k\] and shared by all rows.
    Matmul {
        k: usize,
    },
}

/// Rows of outputs to compute.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    pub form: Form,
    /// Elements in a row of the output.
    pub cols: usize,
    /// One input, or two.
    pub x: &'a [f32],
    pub y: &'a [f32],
    /// Percent of the rows that are computed twice.
    pub extra: usize,
}

impl Task<'_> {
    /// What this knob runs on. A call on a few rows stores as a call on all rows does: a memory-bound
    /// sum past the caches, everything else through them.
    pub fn configure(form: Form, bytes: usize, cpu: &mut Cpu) {
        let is_streamed = form == Form::Add && bytes > cpu.stream_above;
        cpu.stream_above = if is_streamed { 0 } else { usize::MAX };
    }

    /// Computes all of `z`, and some of it again.
    pub fn launch(&self, cpu: &Cpu, z: &mut [f32]) {
        if self.form != Form::Add || cpu.pool.threads() == 1 {
            return self.rows(cpu, 0, z);
        }
        // Every thread does the extra work of its own pieces.
        cpu.pool.run_pieces(z, self.cols, self.cols, |offset, z| self.rows(cpu, offset / self.cols, z));
    }

    /// Computes whole rows of the output from row `first` on: the middle third, the first, the last.
    ///
    /// Rows that are computed twice are the last of the middle third, and again the first of the last call:
    /// every name makes three calls, so that the extra work costs no call; a third of all rows comes between,
    /// so that no cache near the core saves it; and every name begins and ends with the same rows, so that
    /// none finds what the launch before it has left there.
    fn rows(&self, cpu: &Cpu, first: usize, z: &mut [f32]) {
        let rows = z.len() / self.cols;
        let (third, two_thirds) = (rows / 3, 2 * rows / 3);
        let again = ((rows * self.extra + 50) / 100).min(two_thirds - third);
        for part in [third..two_thirds, 0..third, two_thirds - again..rows] {
            if !part.is_empty() {
                self.once(cpu, first + part.start, &mut z[part.start * self.cols..part.end * self.cols]);
            }
        }
    }

    fn once(&self, cpu: &Cpu, first: usize, z: &mut [f32]) {
        let shape = Rows { rows: z.len() / self.cols, cols: self.cols };
        let part = first * self.cols..first * self.cols + z.len();
        match self.form {
            Form::Add => add::vector::add(cpu, &self.x[part.clone()], &self.y[part], z, shape),
            Form::Softmax => softmax::vector::softmax(cpu, &self.x[part], z, shape),
            Form::Matmul { k } => {
                let x = &self.x[first * k..(first + shape.rows) * k];
                let shape = Product { m: shape.rows, n: self.cols, k };
                matmul::plain::matmul(cpu, x, self.y, z, shape);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each name writes for a problem of 100 rows of 48.
    fn outputs(form: Form, x: &[f32], y: &[f32], threads: usize) -> Vec<Vec<f32>> {
        let cpu = Cpu::new(threads);
        let output = |(_, extra): &(&str, usize)| {
            let mut z = vec![f32::NAN; 4800];
            Task { form, cols: 48, x, y, extra: *extra }.launch(&cpu, &mut z);
            z
        };
        NAMES.iter().map(output).collect()
    }

    #[test]
    fn extra_work_changes_no_output() {
        let x: Vec<f32> = (0..4800).map(|i| (i % 97) as f32 / 97.0).collect();
        let product = (Form::Matmul { k: 48 }, &x[..48 * 48], 1);
        for (form, y, threads) in
            [(Form::Add, &x[..], 1), (Form::Add, &x, 2), (Form::Softmax, &x, 1), product]
        {
            let outputs = outputs(form, &x, y, threads);
            assert!(outputs[0].iter().all(|value| value.is_finite()), "{form:?}");
            assert!(outputs.iter().all(|output| *output == outputs[0]), "{form:?}");
        }
    }
}
