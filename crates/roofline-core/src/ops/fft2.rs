//! `fft2`: the discrete Fourier transform along the last two axes, each as [`fft`](super::fft) has it.

use super::fft::transform::{Complex, Plan};
use super::fft::{self, error, greatest_common, is_inverse, sign, steps, turned};
use crate::arithmetic::Arithmetic;
use crate::case::Case;
use crate::fill::Fill;
use crate::number::Counts;
use crate::operation::family::whole;
use crate::operation::{Axis, Elements, Expected, Judged, Mutant, Operation, Problem, Reach, Variant, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "fft2",
    also: &[],
    about: "fft along the rows and along the columns, complex numbers as pairs",
    variants: &[
        Variant { name: "", about: "y[batch,rows,cols,2] of x[batch,rows,cols,2], not normalised" },
        Variant { name: "inverse", about: "the other sign, and divided by rows · cols" },
    ],
    axes: &[
        Axis::new("batch", "transforms").usually(1),
        Axis::new("rows", "rows of each"),
        Axis::new("cols", "columns of each"),
    ],
    tensors: |case| {
        let [batch, rows, cols] = sizes(case);
        let shape = [batch, rows, cols, 2];
        let n = rows as f64 * cols as f64;
        let limit = case.precision.accumulator.max_finite() / n.powi(2) / 16.0;
        vec![
            Tensor::input("x", case.dtype(), &shape).limit(limit).running(1),
            Tensor::output("y", case.precision.output, &shape),
        ]
    },
    work: |case| {
        let [batch, rows, cols] = sizes(case);
        let n = rows as f64 * cols as f64;
        let pair = Counts { multiply_adds: 2, simple: 6, ..Counts::default() };
        whole::work(case, pair, ((n * n.log2() / 2.0).round() as u64).saturating_mul(batch as u64))
    },
    judged: Judged::Elements(Elements { reference, reach, emulate, whole: None }),
    mutants: &[
        Mutant {
            name: "not divided by the rows",
            of: |case| is_inverse(case),
            ..mutant(|problem| {
                let rows = problem.case.axis("rows") as f64;
                vec![emulated(problem, &declared(problem), 1.0, true).into_iter().map(|y| y * rows).collect()]
            })
        },
        Mutant {
            name: "the other sign of the exponent",
            ..mutant(|problem| vec![emulated(problem, &declared(problem), -1.0, true)])
        },
        Mutant {
            name: "columns left as they are",
            ..mutant(|problem| vec![emulated(problem, &declared(problem), 1.0, false)])
        },
        Mutant {
            name: "rows and columns exchanged",
            ..mutant(|problem| {
                let [_, rows, cols] = sizes(problem.case);
                let y = emulated(problem, &declared(problem), 1.0, true);
                let exchanged = |index: usize| {
                    let (first, place) = (index / (2 * rows * cols) * rows * cols, index / 2 % (rows * cols));
                    y[2 * (first + place % rows * cols + place / rows) + index % 2]
                };
                vec![(0..y.len()).map(exchanged).collect()]
            })
        },
    ],
    ..fft::OPERATION
};

const fn mutant(wrong: fn(&Problem) -> Vec<Vec<f64>>) -> Mutant {
    Mutant { name: "", fill: Fill::Normal, of: |_| true, wrong: Wrong::Outputs(wrong) }
}

fn declared(problem: &Problem) -> Arithmetic {
    Arithmetic::declared(problem.case)
}

fn sizes(case: &Case) -> [usize; 3] {
    ["batch", "rows", "cols"].map(|axis| case.axis(axis))
}

/// Transform number `number` before it is one.
fn input(problem: &Problem, number: usize) -> Vec<Complex> {
    let [_, rows, cols] = sizes(problem.case);
    let parts = problem.inputs[0].line(number * 2 * rows * cols, 1, 2 * rows * cols);
    parts.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// Each row transformed, and then each column.
fn both(x: &[Complex], of_row: &Plan, of_column: Option<&Plan>, cols: usize) -> Vec<Complex> {
    let mut y: Vec<Complex> = x.chunks_exact(cols).flat_map(|row| of_row.run(row)).collect();
    for column in 0..cols {
        let Some(plan) = of_column else { break };
        let numbers: Vec<Complex> = y[column..].iter().step_by(cols).copied().collect();
        y[column..].iter_mut().step_by(cols).zip(plan.run(&numbers)).for_each(|(y, number)| *y = number);
    }
    y
}

fn reference(problem: &Problem, _output: usize, wanted: &[usize]) -> Vec<Expected> {
    let case = problem.case;
    let [_, rows, cols] = sizes(case);
    let (n, length) = ((rows * cols) as f64, 2 * rows * cols);
    let [of_row, of_column] = [cols, rows].map(|n| Plan::exact(n, sign(case)));
    let scale = if is_inverse(case) { n } else { 1.0 };
    let mut expected = Vec::with_capacity(wanted.len());
    for of_one in wanted.chunk_by(|one, next| one / length == next / length) {
        let x = input(problem, of_one[0] / length);
        let soft = error(problem, &x, steps(rows) + steps(cols)) / scale;
        let lost = if soft > 0.0 { case.precision.accumulator.smallest_subnormal() } else { 0.0 };
        let y = both(&x, &of_row, Some(&of_column), cols);
        expected.extend(of_one.iter().map(|index| {
            let part = y[index % length / 2][index % 2];
            Expected { value: part / scale, soft: soft + lost }
        }));
    }
    expected
}

/// All outputs of its transform, but those that it is turned away from.
fn reach(problem: &Problem, _tensor: usize, element: usize) -> Vec<Reach> {
    let [_, rows, cols] = sizes(problem.case);
    let (n, length) = (rows * cols, 2 * rows * cols);
    let (first, part) = (element / length * length, element % 2);
    let (row, column) = (element % length / 2 / cols, element % length / 2 % cols);
    let of = |is_sine: bool| {
        (0..rows).flat_map(move |k| {
            // Of n-ths of a turn: what the row has turned it by, and more for each column.
            let angle = move |m: usize| {
                let [row, column] = [(row * cols, k), (column * rows, m)].map(|(a, b)| a as u128 * b as u128);
                row + column
            };
            let part = if is_sine { 1 - part } else { part };
            let line = Reach { output: 0, first: first + 2 * k * cols + part, step: 2, count: cols };
            turned(angle, n, cols / greatest_common(column, cols), is_sine, line)
        })
    };
    of(false).chain(of(true)).collect()
}

fn emulate(problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
    vec![emulated(problem, arithmetic, 1.0, true)]
}

/// With the sign of the exponent times another, and with columns or without.
fn emulated(problem: &Problem, arithmetic: &Arithmetic, other: f64, has_columns: bool) -> Vec<f64> {
    let case = problem.case;
    let [batch, rows, cols] = sizes(case);
    let [of_row, of_column] = [cols, rows].map(|n| Plan::emulating(n, other * sign(case), arithmetic, 0));
    let of_column = Some(&of_column).filter(|_| has_columns);
    let n = (rows * cols) as f64;
    let scaled = |y: f64| if is_inverse(case) { arithmetic.round(y / n) } else { y };
    let of_one = |number: usize| {
        let x = input(problem, number).into_iter().map(|x| x.map(|x| arithmetic.input(x)));
        both(&x.collect::<Vec<_>>(), &of_row, of_column, cols).into_iter().flatten()
    };
    (0..batch).flat_map(of_one).map(scaled).collect()
}
