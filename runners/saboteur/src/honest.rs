//! The honest computations, plainly: what every saboteur does where it does not cheat.
//!
//! All operations compute one row of the output at a time, in f64, so that the cheats can
//! pick their rows.

use roofline_runner::{Input, Job, Output, Ready, Refusal, Visit, unsupported};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A case in f32 with its tensors.
pub(crate) struct Problem {
    pub(crate) given: Arc<Given>,
    pub(crate) output: Output<f32>,
}

/// What is asked: sizes and inputs.
pub(crate) struct Given {
    form: Form,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Length of the sums of a product.
    pub(crate) k: usize,
    pub(crate) inputs: Vec<Input<f32>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Add,
    Tanh,
    Softmax,
    RmsNorm,
    Matmul,
}

impl Problem {
    pub(crate) fn new(job: &mut Job) -> Result<Problem, Refusal> {
        let (form, inputs, output, axes) = match job.form().as_str() {
            "add" => (Form::Add, &["x", "y"][..], "z", ["rows", "cols"]),
            "tanh" => (Form::Tanh, &["x"][..], "y", ["rows", "cols"]),
            "softmax" => (Form::Softmax, &["x"][..], "y", ["rows", "cols"]),
            "rms-norm" => (Form::RmsNorm, &["x", "w"][..], "y", ["rows", "cols"]),
            "matmul" => (Form::Matmul, &["a", "b"][..], "c", ["m", "n"]),
            other => return Err(unsupported(format!("no saboteur computes `{other}`"))),
        };
        let given = Given {
            form,
            rows: job.axis(axes[0])?,
            cols: job.axis(axes[1])?,
            k: if form == Form::Matmul { job.axis("k")? } else { 0 },
            inputs: inputs.iter().map(|name| job.input(name)).collect::<Result<_, _>>()?,
        };
        Ok(Problem { given: Arc::new(given), output: job.output(output)? })
    }

    /// Writes the whole answer.
    pub(crate) fn solve(&mut self) {
        self.solve_rows(0..self.given.rows);
    }

    /// Writes these rows of the answer and no others.
    pub(crate) fn solve_rows(&mut self, rows: Range<usize>) {
        let cols = self.given.cols;
        self.given.compute(rows.clone(), &mut self.output[rows.start * cols..rows.end * cols]);
    }
}

impl Given {
    /// The right answer in memory of its own.
    pub(crate) fn answer(&self) -> Vec<f32> {
        let mut answer = vec![0.0; self.rows * self.cols];
        self.compute(0..self.rows, &mut answer);
        answer
    }

    /// Computes some rows of the answer, `y` being their place.
    pub(crate) fn compute(&self, rows: Range<usize>, y: &mut [f32]) {
        for (row, y) in rows.zip(y.chunks_mut(self.cols)) {
            match self.form {
                Form::Add => add(self.line(0, row), self.line(1, row), y),
                Form::Tanh => tanh(self.line(0, row), y),
                Form::Softmax => softmax(self.line(0, row), y),
                Form::RmsNorm => rms_norm(self.line(0, row), &self.inputs[1], y),
                Form::Matmul => {
                    let a = &self.inputs[0][row * self.k..(row + 1) * self.k];
                    for (c, b) in y.iter_mut().zip(self.inputs[1].chunks(self.k)) {
                        *c = dot(a, b) as f32;
                    }
                }
            }
        }
    }

    fn line(&self, input: usize, row: usize) -> &[f32] {
        &self.inputs[input][row * self.cols..(row + 1) * self.cols]
    }
}

fn add(x: &[f32], y: &[f32], z: &mut [f32]) {
    for ((z, x), y) in z.iter_mut().zip(x).zip(y) {
        *z = x + y;
    }
}

pub(crate) fn tanh(x: &[f32], y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = f64::from(*x).tanh() as f32;
    }
}

pub(crate) fn softmax(x: &[f32], y: &mut [f32]) {
    let max = maximum(x);
    let power = |x: f32| (f64::from(x) - max).exp();
    let sum: f64 = x.iter().map(|x| power(*x)).sum();
    for (y, x) in y.iter_mut().zip(x) {
        *y = (power(*x) / sum) as f32;
    }
}

/// The maximum, NaN if there is one.
pub(crate) fn maximum(x: &[f32]) -> f64 {
    let larger = |max: f64, x: &f32| if max >= f64::from(*x) || max.is_nan() { max } else { f64::from(*x) };
    x.iter().fold(f64::NEG_INFINITY, larger)
}

fn rms_norm(x: &[f32], w: &[f32], y: &mut [f32]) {
    let squares: f64 = x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let scale = 1.0 / (squares / x.len() as f64 + 1e-6).sqrt();
    for ((y, x), w) in y.iter_mut().zip(x).zip(w) {
        *y = (f64::from(*x) * scale * f64::from(*w)) as f32;
    }
}

/// Eight sums side by side, so that a large product takes no minutes.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(*a) * f64::from(*b);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    sums.iter().sum::<f64>() + rest
}

/// A kernel of one function, called at every launch.
pub(crate) fn every_launch(
    job: &mut Job,
    mut launch: impl FnMut(&mut Problem) + 'static,
) -> Result<Ready, Refusal> {
    let mut problem = Problem::new(job)?;
    Ok(Ready::new(move || launch(&mut problem)))
}

/// The samples of a visit by an honest clock, as the SDK takes them.
pub(crate) fn measure(visit: &Visit, mut repeat: impl FnMut(u32)) -> Vec<f64> {
    repeat(visit.warmup);
    (0..visit.samples)
        .map(|_| {
            let start = Instant::now();
            repeat(visit.batch);
            start.elapsed().as_nanos() as f64
        })
        .collect()
}
