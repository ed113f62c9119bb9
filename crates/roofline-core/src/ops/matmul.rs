//! `matmul`: C[m,n] = A[m,k] · B[n,k]ᵀ, weights as rows; `matmul.nn`: C = A · B[k,n].
//!
//! Products of the narrow types are exact in the accumulator and f32 products are fused, so the
//! only internal error is that of summation. Integer products are exact.

use super::{Arithmetic, Axis, Expected, Operation, Problem, RateUnit, Reach, Tensor, Variant, View, Work};
use crate::bound::{self, Dot};
use crate::case::Case;
use crate::dtype::Dtype::{self, Bf16, F16, F32, F64, I8, I32};
use crate::fill::Fill;
use crate::philox::Draws;
use crate::units::Bytes;

pub const OPERATION: Operation = Operation {
    name: "matmul",
    about: "C = A · Bᵀ, sums in the accumulator",
    variants: &[
        Variant { name: "", about: "C[m,n] = A[m,k] · B[n,k]ᵀ" },
        Variant { name: "nn", about: "C[m,n] = A[m,k] · B[k,n]" },
    ],
    axes: &[
        Axis { name: "m", about: "rows of A and C" },
        Axis { name: "n", about: "columns of C" },
        Axis { name: "k", about: "length of the sums" },
    ],
    precisions: &[(F32, F32), (Bf16, F32), (F16, F32), (I8, I32), (F64, F64)],
    fills: Fill::ALL,
    rate: RateUnit::Flops,
    tensors,
    work,
    limit: |case| (case.accumulator.max_finite() / case.axis("k") as f64).sqrt() / 4.0,
    reference,
    reach,
    emulate,
    mutants: &[],
    whole: Some(project),
};

/// Sizes and the steps through B of one case.
struct Layout {
    n: usize,
    k: usize,
    /// Between neighbours along k, and between columns of C.
    b_step: usize,
    b_column: usize,
}

impl Layout {
    fn of(case: &Case) -> Layout {
        let (n, k) = (case.axis("n"), case.axis("k"));
        let (b_step, b_column) = if case.variant == "nn" { (n, 1) } else { (1, k) };
        Layout { n, k, b_step, b_column }
    }

    fn row(&self, a: &View, i: usize) -> Vec<f64> {
        a.line(i * self.k, 1, self.k)
    }

    fn column(&self, b: &View, j: usize) -> Vec<f64> {
        b.line(j * self.b_column, self.b_step, self.k)
    }
}

/// Integer products leave in their accumulator; floats leave in the type they came in.
fn output_dtype(case: &Case) -> Dtype {
    if case.dtype == I8 { I32 } else { case.dtype }
}

fn tensors(case: &Case) -> Vec<Tensor> {
    let (m, n, k) = (case.axis("m"), case.axis("n"), case.axis("k"));
    let b = if case.variant == "nn" { [k, n] } else { [n, k] };
    vec![
        Tensor::input("a", case.dtype, &[m, k]),
        Tensor::input("b", case.dtype, &b),
        Tensor::output("c", output_dtype(case), &[m, n]),
    ]
}

fn work(case: &Case) -> Work {
    let (m, n, k) = (case.axis("m") as u64, case.axis("n") as u64, case.axis("k") as u64);
    Work {
        multiply_adds: m * n * k,
        read: Bytes((m * k + n * k) * case.dtype.size() as u64),
        written: Bytes(m * n * output_dtype(case).size() as u64),
        ..Work::default()
    }
}

fn reference(problem: &Problem, wanted: &[usize]) -> Vec<Expected> {
    let layout = Layout::of(problem.case);
    let (a, b) = (&problem.inputs[0], &problem.inputs[1]);
    // Neighbours in `wanted` share a row of A (a sampled row) or a column of B (a sampled column).
    let (mut row_of, mut row) = (usize::MAX, Vec::new());
    let (mut column_of, mut column) = (usize::MAX, Vec::new());
    let mut expected = Vec::with_capacity(wanted.len());
    for index in wanted {
        let (i, j) = (index / layout.n, index % layout.n);
        if i != row_of {
            (row_of, row) = (i, layout.row(a, i));
        }
        if j != column_of {
            (column_of, column) = (j, layout.column(b, j));
        }
        let dot = Dot::of(&row, &column);
        let soft = dot.error(problem.case.accumulator, problem.fill.order_matters());
        expected.push(Expected { value: dot.sum, soft: soft + underflow(problem.case) });
    }
    expected
}

/// Sums of f32 products can underflow in the accumulator; those of integers cannot.
fn underflow(case: &Case) -> f64 {
    case.accumulator.smallest_subnormal()
}

fn reach(case: &Case, tensor: usize, element: usize) -> Reach {
    let (m, n, k) = (case.axis("m"), case.axis("n"), case.axis("k"));
    match (tensor, case.variant) {
        (0, _) => Reach { first: element / k * n, step: 1, count: n },
        (_, "nn") => Reach { first: element % n, step: n, count: m },
        _ => Reach { first: element / k, step: n, count: m },
    }
}

fn emulate(problem: &Problem, arithmetic: &Arithmetic) -> Vec<f64> {
    let layout = Layout::of(problem.case);
    let rounded = |line: Vec<f64>| line.into_iter().map(|x| arithmetic.input(x)).collect();
    let columns: Vec<Vec<f64>> =
        (0..layout.n).map(|j| rounded(layout.column(&problem.inputs[1], j))).collect();
    let mut output = Vec::with_capacity(problem.case.axis("m") * layout.n);
    for i in 0..problem.case.axis("m") {
        let row: Vec<f64> = rounded(layout.row(&problem.inputs[0], i));
        output.extend(columns.iter().map(|column| {
            let products: Vec<f64> = row.iter().zip(column).map(|(x, y)| x * y).collect();
            arithmetic.sum(&products)
        }));
    }
    output
}

/// Random projection: C·s against A·(B·s) for a random vector of signs s, a row of C at a time.
///
/// It costs two products of a matrix and a vector, and every element of C takes part, so a wrong
/// tile that the sampled rows and columns miss shows in its rows. The tolerance of a row adds the
/// variances of its elements' errors, each bounded for every order of summation.
fn project(problem: &Problem, output: Dtype, row_of: &dyn Fn(usize) -> Vec<f64>, draws: u64) -> Vec<usize> {
    let layout = Layout::of(problem.case);
    let (a, b) = (&problem.inputs[0], &problem.inputs[1]);
    let mut bits = Draws::new(draws, 0);
    let signs: Vec<f64> = (0..layout.n).map(|_| if bits.bits() & 1 == 0 { 1.0 } else { -1.0 }).collect();

    let (mut projected, mut squares) = (vec![0.0; layout.k], vec![0.0; layout.k]);
    let stored_row = if problem.case.variant == "nn" { layout.n } else { layout.k };
    for (row, first) in (0..b.elements()).step_by(stored_row).enumerate() {
        for (column, x) in b.line(first, 1, stored_row).into_iter().enumerate() {
            let (p, j) = if problem.case.variant == "nn" { (row, column) } else { (column, row) };
            projected[p] += signs[j] * x;
            squares[p] += x * x;
        }
    }
    let u = problem.case.accumulator.unit_roundoff();
    // (7 sqrt(k) u)^2 times k times the sum of squared products bounds the squared error of a sum.
    let soft = (bound::MARGIN * 7.0 * u * layout.k as f64).powi(2);
    let mut bad = Vec::new();
    for i in 0..problem.case.axis("m") {
        let (mut expected, mut variance, mut got) = (0.0, 0.0, 0.0);
        for (p, x) in layout.row(a, i).into_iter().enumerate() {
            expected += x * projected[p];
            variance += soft * x * x * squares[p];
        }
        for (value, sign) in row_of(i).into_iter().zip(&signs) {
            got += sign * value;
            variance += bound::rounding(output, value).powi(2);
        }
        let allowed = bound::Z * variance.sqrt() + expected.abs() * ROUNDING_OF_THE_PROJECTION;
        let right = (got - expected).abs() <= allowed;
        // A NaN or an infinity in the row is never within what is allowed.
        if !right {
            bad.push(i);
        }
    }
    bad
}

/// The projection itself is summed in f64.
const ROUNDING_OF_THE_PROJECTION: f64 = 1e-9;
