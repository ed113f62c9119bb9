//! `matmul`: C[m,n] = A[m,k] · B[n,k]ᵀ, weights as rows; `matmul.nn`: C = A · B[k,n]; `matmul.tn` and `matmul.tt`: the
//! same with A[k,m]; `matmul.fixed`: as the plain form, with a B that is known beforehand.
//!
//! Products of the narrow types are exact in the accumulator and f32 products are fused, so the
//! only internal error is that of summation. Integer products are exact.

use crate::arithmetic::Arithmetic;
use crate::bound;
use crate::case::Case;
use crate::dtype::Dtype::{self, Bf16, F16, F32, F64, I8};
use crate::fill::Fill;
use crate::operation::{
    Axis, Elements, Expected, Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant, Work, Wrong,
};
use crate::philox::Draws;
use crate::precision::Precision;
use crate::tensor::{Role, Tensor, View};
use crate::units::Bytes;

pub const OPERATION: Operation = Operation {
    name: "matmul",
    also: &[],
    about: "C = A · Bᵀ, sums in the accumulator",
    variants: &[
        Variant { name: "", about: "C[m,n] = A[m,k] · B[n,k]ᵀ" },
        Variant { name: "nn", about: "C[m,n] = A[m,k] · B[k,n]" },
        Variant { name: "tn", about: "C[m,n] = A[k,m]ᵀ · B[k,n]" },
        Variant { name: "tt", about: "C[m,n] = A[k,m]ᵀ · B[n,k]ᵀ" },
        Variant {
            name: "fixed",
            about: "C[m,n] = A[m,k] · B[n,k]ᵀ, where B is the same in every launch and may be packed",
        },
    ],
    axes: &[M, N, K],
    params: &[],
    precisions: &[
        Precision::of(F32),
        Precision::of(Bf16),
        Precision::of(F16),
        Precision::F16_F16,
        Precision::of(I8),
        Precision::of(F64),
        Precision::W16A32,
        Precision::W16A32_F16,
    ],
    fills: Fill::ALL,
    rate: RateUnit::Flops,
    legal: "",
    tensors,
    work,
    judged: Judged::Elements(Elements { reference, reach, emulate, whole: Some(project) }),
    mutants: &[
        Mutant {
            name: "remainder of k left out",
            fill: Fill::Normal,
            wrong: Wrong::Outputs(|problem| remainder(problem, -1.0)),
            of: |_| true,
        },
        Mutant {
            name: "remainder of k counted twice",
            fill: Fill::Normal,
            wrong: Wrong::Outputs(|problem| remainder(problem, 1.0)),
            of: |_| true,
        },
    ],
};

pub(super) const M: Axis = Axis::new("m", "rows of A and C");
pub(super) const N: Axis = Axis::new("n", "columns of C");
pub(super) const K: Axis = Axis::new("k", "length of the sums");

/// What factors may be at most, so that no sum of `k` products overflows.
pub(super) fn limit(case: &Case, k: usize) -> f64 {
    (case.precision.accumulator.max_finite() / k.max(1) as f64).sqrt() / 4.0
}

/// Sizes of one case, and the steps through A and B.
struct Layout {
    m: usize,
    n: usize,
    k: usize,
    /// Between neighbours along k, and between rows of C.
    a: [usize; 2],
    /// Between neighbours along k, and between columns of C.
    b: [usize; 2],
}

impl Layout {
    fn of(case: &Case) -> Layout {
        let (m, n, k) = (case.axis("m"), case.axis("n"), case.axis("k"));
        let a = if is_turned(case) { [m, 1] } else { [1, k] };
        let b = if is_straight(case) { [n, 1] } else { [1, k] };
        Layout { m, n, k, a, b }
    }

    fn row(&self, a: &View, i: usize) -> Vec<f64> {
        a.line(i * self.a[1], self.a[0], self.k)
    }

    fn column(&self, b: &View, j: usize) -> Vec<f64> {
        b.line(j * self.b[1], self.b[0], self.k)
    }
}

/// Whether A lies as [k,m].
fn is_turned(case: &Case) -> bool {
    matches!(case.variant, "tn" | "tt")
}

/// Whether B lies as [k,n].
fn is_straight(case: &Case) -> bool {
    matches!(case.variant, "nn" | "tn")
}

fn tensors(case: &Case) -> Vec<Tensor> {
    let (m, n, k) = (case.axis("m"), case.axis("n"), case.axis("k"));
    let limit = limit(case, k);
    let b = if is_straight(case) { [k, n] } else { [n, k] };
    let a = if is_turned(case) { [k, m] } else { [m, k] };
    vec![
        Tensor::input("a", case.dtype(), &a).limit(limit),
        weights(case, Tensor::input("b", case.precision.weights, &b).limit(limit)),
        Tensor::output("c", case.precision.output, &[m, n]),
    ]
}

/// What a kernel may pack beforehand, in the form whose weights are the same in every launch.
pub(super) fn weights(case: &Case, tensor: Tensor) -> Tensor {
    let role = if case.variant == "fixed" { Role::Constant } else { tensor.role };
    Tensor { role, ..tensor }
}

fn work(case: &Case) -> Work {
    let (m, n, k) = (case.axis("m") as u64, case.axis("n") as u64, case.axis("k") as u64);
    Work {
        multiply_adds: m * n * k,
        read: Bytes(m * k * case.dtype().size() as u64 + n * k * case.precision.weights.size() as u64),
        written: Bytes(m * n * case.precision.output.size() as u64),
        ..Work::default()
    }
}

fn reference(problem: &Problem, _output: usize, wanted: &[usize]) -> Vec<Expected> {
    let layout = Layout::of(problem.case);
    let (a, b) = (&problem.inputs[0], &problem.inputs[1]);
    let accumulator = problem.case.precision.accumulator;
    let walk = problem.walk();
    let mut columns = vec![[0.0; bound::LANES]; layout.k];
    let mut expected = Vec::with_capacity(wanted.len());
    for of_row in wanted.chunk_by(|one, next| one / layout.n == next / layout.n) {
        let row = layout.row(a, of_row[0] / layout.n);
        for group in of_row.chunks(bound::LANES) {
            for (lane, index) in group.iter().enumerate() {
                let column = layout.column(b, index % layout.n);
                columns.iter_mut().zip(column).for_each(|(lanes, y)| lanes[lane] = y);
            }
            // Sums of f32 products can underflow in the accumulator; those of integers cannot.
            let lost = accumulator.smallest_subnormal();
            let dots = bound::dots(walk, &row, &columns).into_iter().take(group.len());
            expected.extend(dots.map(|dot| Expected { value: dot.sum, soft: dot.error() + lost }));
        }
    }
    expected
}

fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let Layout { m, n, k, .. } = Layout::of(problem.case);
    let (first, step, count) = match tensor {
        0 if is_turned(problem.case) => (element % m * n, 1, n),
        0 => (element / k * n, 1, n),
        _ if is_straight(problem.case) => (element % n, n, m),
        _ => (element / k, n, m),
    };
    vec![Reach { output: 0, first, step, count }]
}

fn emulate(problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
    let layout = Layout::of(problem.case);
    let rounded = |line: Vec<f64>| line.into_iter().map(|x| arithmetic.input(x)).collect();
    let columns: Vec<Vec<f64>> =
        (0..layout.n).map(|j| rounded(layout.column(&problem.inputs[1], j))).collect();
    let mut output = Vec::with_capacity(layout.m * layout.n);
    for i in 0..layout.m {
        let row: Vec<f64> = rounded(layout.row(&problem.inputs[0], i));
        output.extend(columns.iter().map(|column| {
            let products: Vec<f64> = row.iter().zip(column).map(|(x, y)| x * y).collect();
            arithmetic.sum(&products)
        }));
    }
    vec![output]
}

/// A product with the last three terms of each sum taken once more, or off.
fn remainder(problem: &Problem, times: f64) -> Vec<Vec<f64>> {
    let layout = Layout::of(problem.case);
    let [right] = &emulate(problem, &Arithmetic::declared(problem.case))[..] else {
        unreachable!("one output")
    };
    let right = right.iter().enumerate();
    let spoiled = right
        .map(|(index, c)| {
            let row = layout.row(&problem.inputs[0], index / layout.n);
            let column = layout.column(&problem.inputs[1], index % layout.n);
            let last = layout.k.saturating_sub(3);
            c + times * row[last..].iter().zip(&column[last..]).map(|(x, y)| x * y).sum::<f64>()
        })
        .collect();
    vec![spoiled]
}

/// Random projection: C·s against A·(B·s) for a random vector of signs s, a row of C at a time.
///
/// It costs two products of a matrix and a vector, and every element of C takes part, so a wrong one
/// shows in its row wherever it is. The difference of a row is held against the noise that the
/// sequential model expects of an honest one; the rows come back worst first. The model is that of
/// contents of mean 0: there the squares of the prefix sums of all columns add up, in expectation, to
/// each squared product times the number of prefixes that it is in.
fn project(problem: &Problem, output: Dtype, row_of: &dyn Fn(usize) -> Vec<f64>, draws: u64) -> Vec<usize> {
    let layout = Layout::of(problem.case);
    let (a, b) = (&problem.inputs[0], &problem.inputs[1]);
    let mut bits = Draws::new(draws, 0);
    let signs: Vec<f64> = (0..layout.n).map(|_| if bits.bits() & 1 == 0 { 1.0 } else { -1.0 }).collect();

    let (mut projected, mut squares) = (vec![0.0; layout.k], vec![0.0; layout.k]);
    let is_straight = is_straight(problem.case);
    let stored_row = if is_straight { layout.n } else { layout.k };
    for (row, first) in (0..b.elements()).step_by(stored_row).enumerate() {
        for (column, x) in b.line(first, 1, stored_row).into_iter().enumerate() {
            let (p, j) = if is_straight { (row, column) } else { (column, row) };
            projected[p] += signs[j] * x;
            squares[p] += x * x;
        }
    }
    squares.iter_mut().enumerate().for_each(|(p, square)| *square *= (layout.k - p) as f64);

    // The projection sums in f64 and is as noisy as a kernel that does.
    let u = |unit: f64| unit.powi(2) / 3.0;
    let (own, of_sums) = (u(F64.unit_roundoff()), problem.case.precision.accumulator.unit_roundoff());
    let (of_sums, of_outputs) = (u(of_sums) + own, u(output.unit_roundoff()) + own);
    let suspicion = |i: usize| {
        let (mut expected, mut walks) = (0.0, 0.0);
        for (p, x) in layout.row(a, i).into_iter().enumerate() {
            expected += x * projected[p];
            walks += x * x * squares[p];
        }
        let (mut got, mut outputs) = (0.0, 0.0);
        for (value, sign) in row_of(i).into_iter().zip(&signs) {
            got += sign * value;
            outputs += value * value;
        }
        let noise = (of_sums * walks + of_outputs * outputs).sqrt();
        let suspicion = (got - expected).abs() / noise.max(f64::MIN_POSITIVE);
        // A NaN or an infinity in the row is as suspicious as can be.
        if suspicion.is_nan() { f64::INFINITY } else { suspicion }
    };
    let mut rows: Vec<(f64, usize)> = (0..layout.m).map(|i| (suspicion(i), i)).collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    rows.into_iter().map(|(_, row)| row).collect()
}
