//! `fft2`: the discrete Fourier transform along the last two axes, each as [`fft`](super::fft) has it.

use super::fft::transform::{Complex, Plan};
use super::fft::{self, error, greatest_common, is_inverse, is_real, sign, steps, turned};
use crate::arithmetic::Arithmetic;
use crate::case::Case;
use crate::fill::Fill;
use crate::instance::POISON;
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
        Variant {
            name: "real",
            about: "y[batch,rows,cols/2+1,2] of x[batch,rows,cols]: the rest is its mirror image",
        },
        Variant {
            name: "real-inverse",
            about: "y[batch,rows,cols] of x[batch,rows,cols/2+1,2], back along the columns, and then along the rows as \
                    fft.real-inverse",
        },
    ],
    axes: &[
        Axis::new("batch", "transforms").usually(1),
        Axis::new("rows", "rows of each"),
        Axis::new("cols", "columns of each"),
    ],
    tensors: |case| {
        let [batch, rows, cols] = sizes(case);
        let (complex, half) = ([batch, rows, cols, 2], [batch, rows, cols / 2 + 1, 2]);
        let (x, y): (&[usize], &[usize]) = match case.variant {
            "real" => (&complex[..3], &half),
            "real-inverse" => (&half, &complex[..3]),
            _ => (&complex, &complex),
        };
        let n = rows as f64 * cols as f64;
        let limit = case.precision.accumulator.max_finite() / n.powi(2) / 16.0;
        // Real and imaginary parts are a line each, as long as a row.
        vec![
            Tensor::input("x", case.dtype(), x).limit(limit).running(x.len() - 3),
            Tensor::output("y", case.precision.output, y),
        ]
    },
    work: |case| {
        let [batch, rows, cols] = sizes(case);
        let n = rows as f64 * cols as f64;
        let pair = Counts { multiply_adds: 2, simple: 6, ..Counts::default() };
        let shared = if is_real(case) { 2.0 } else { 1.0 };
        whole::work(case, pair, ((n * n.log2() / 2.0 / shared).round() as u64).saturating_mul(batch as u64))
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
            of: |case| !is_real(case),
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
        Mutant {
            name: "the last number of a row left as it was",
            of: |case| case.variant == "real",
            ..mutant(|problem| {
                let [_, width] = widths(problem.case);
                let y = emulated(problem, &declared(problem), 1.0, true).into_iter().enumerate();
                vec![y.map(|(at, y)| if at % width + 2 < width { y } else { POISON }).collect()]
            })
        },
        Mutant {
            name: "rows not mirrored",
            of: |case| case.variant == "real-inverse" && case.axis("rows") > 2 && case.axis("cols") > 2,
            ..mutant(|problem| vec![of_inputs(problem, &declared(problem), 1.0, true, |at, _| at)])
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

/// Elements of a row of one transform, before it and after.
fn widths(case: &Case) -> [usize; 2] {
    let cols = case.axis("cols");
    let (all, half) = (cols.saturating_mul(2), (cols / 2 + 1).saturating_mul(2));
    match case.variant {
        "real" => [cols, half],
        "real-inverse" => [half, cols],
        _ => [all, all],
    }
}

/// The row that a row of a spectrum is the mirror image of, of so many.
type Mirror = fn(usize, usize) -> usize;

const MIRROR: Mirror = |row, rows| (rows - row) % rows;

/// Transform number `number` as its input stands for it: rows · cols complex numbers. Of columns that are their own mirror image
/// what a real result cannot have is `dropped`.
fn input(problem: &Problem, number: usize, dropped: bool, mirror: Mirror) -> Vec<Complex> {
    let [_, rows, cols] = sizes(problem.case);
    let [width, _] = widths(problem.case);
    let x = problem.inputs[0].line(number * rows * width, 1, rows * width);
    let pair = |row: usize, column: usize| [x[row * width + 2 * column], x[row * width + 2 * column + 1]];
    let of = |at: usize| {
        let (row, column) = (at / cols, at % cols);
        let mirrored = || {
            let [re, im] = pair(mirror(row, rows), (cols - column) % cols);
            [re, -im]
        };
        match 2 * column {
            twice if dropped && twice.is_multiple_of(cols) => {
                let ([re, im], [other, against]) = (pair(row, column), mirrored());
                [(re + other) / 2.0, (im + against) / 2.0]
            }
            twice if twice <= cols => pair(row, column),
            _ => mirrored(),
        }
    };
    match problem.case.variant {
        "real" => x.into_iter().map(|x| [x, 0.0]).collect(),
        "real-inverse" => (0..rows * cols).map(of).collect(),
        _ => x.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect(),
    }
}

/// Elements of a transform's output as the output holds them.
fn held(case: &Case, y: Vec<Complex>) -> Vec<f64> {
    let [_, width] = widths(case);
    match case.variant {
        "real-inverse" => y.into_iter().map(|[re, _]| re).collect(),
        _ => y
            .chunks_exact(case.axis("cols"))
            .flat_map(|row| row.iter().flatten().take(width))
            .copied()
            .collect(),
    }
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
    let ([_, rows, cols], [_, width]) = (sizes(case), widths(case));
    let (n, length) = ((rows * cols) as f64, rows * width);
    let [of_row, of_column] = [cols, rows].map(|n| Plan::exact(n, sign(case)));
    let scale = if is_inverse(case) { n } else { 1.0 };
    let mut expected = Vec::with_capacity(wanted.len());
    for of_one in wanted.chunk_by(|one, next| one / length == next / length) {
        let number = of_one[0] / length;
        // What is dropped at the end is rounded until then.
        let whole = input(problem, number, false, MIRROR);
        let soft = error(problem, &whole, cols, steps(rows) + steps(cols)) / scale;
        let lost = if soft > 0.0 { case.precision.accumulator.smallest_subnormal() } else { 0.0 };
        let y = both(&input(problem, number, true, MIRROR), &of_row, Some(&of_column), cols);
        let y = held(case, y);
        let part = |index: &usize| Expected { value: y[index % length] / scale, soft: soft + lost };
        expected.extend(of_one.iter().map(part));
    }
    expected
}

/// All outputs of its transform, but those that it is turned away from.
fn reach(problem: &Problem, _tensor: usize, element: usize) -> Vec<Reach> {
    let case = problem.case;
    let ([_, rows, cols], [before, after]) = (sizes(case), widths(case));
    let n = rows * cols;
    let (first, row, within) =
        (element / (rows * before) * rows * after, element / before % rows, element % before);
    let (column, part) = if case.variant == "real" { (within, 0) } else { (within / 2, within % 2) };
    let of = |is_sine: bool| {
        (0..rows).flat_map(move |k| {
            // Of n-ths of a turn: what the row has turned it by, and more for each column.
            let angle = move |m: usize| {
                let [row, column] = [(row * cols, k), (column * rows, m)].map(|(a, b)| a as u128 * b as u128);
                row + column
            };
            let of_row = first + k * after;
            let line = match case.variant {
                "real-inverse" => Reach { output: 0, first: of_row, step: 1, count: cols },
                _ => {
                    let part = if is_sine { 1 - part } else { part };
                    Reach { output: 0, first: of_row + part, step: 2, count: after / 2 }
                }
            };
            turned(angle, n, cols / greatest_common(column, cols), is_sine, line)
        })
    };
    if case.variant == "real-inverse" {
        return of(part == 1).collect();
    }
    of(false).chain(of(true)).collect()
}

fn emulate(problem: &Problem, arithmetic: &Arithmetic) -> Vec<Vec<f64>> {
    vec![emulated(problem, arithmetic, 1.0, true)]
}

/// With the sign of the exponent times another, and with columns or without.
fn emulated(problem: &Problem, arithmetic: &Arithmetic, other: f64, has_columns: bool) -> Vec<f64> {
    of_inputs(problem, arithmetic, other, has_columns, MIRROR)
}

/// The same of inputs that a kernel mirrors in a way of its own.
fn of_inputs(
    problem: &Problem,
    arithmetic: &Arithmetic,
    other: f64,
    has_columns: bool,
    mirror: Mirror,
) -> Vec<f64> {
    let case = problem.case;
    let [batch, rows, cols] = sizes(case);
    let [of_row, of_column] = [cols, rows].map(|n| Plan::emulating(n, other * sign(case), arithmetic, 0));
    let of_column = Some(&of_column).filter(|_| has_columns);
    let n = (rows * cols) as f64;
    let scaled = |y: f64| if is_inverse(case) { arithmetic.round(y / n) } else { y };
    let of_one = |number: usize| {
        let x = input(problem, number, true, mirror).into_iter().map(|x| x.map(|x| arithmetic.input(x)));
        held(case, both(&x.collect::<Vec<_>>(), &of_row, of_column, cols))
    };
    (0..batch).flat_map(of_one).map(scaled).collect()
}
