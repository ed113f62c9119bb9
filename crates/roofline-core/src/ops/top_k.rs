//! `top-k`: the largest numbers of each row, the largest first, and where they stand. Of equal ones any place is right.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::Counts;
use crate::operation::family::{rowwise, work};
use crate::operation::{Axis, Judged, Mutant, Operation, Problem, Property, Wrong};
use crate::tensor::{Tensor, View};

pub const OPERATION: Operation = Operation {
    name: "top-k",
    also: &["topk"],
    about: "y = the largest of each row in falling order, at = their columns",
    axes: &[
        Axis::new("rows", "rows of x"),
        Axis::new("cols", "columns of x"),
        Axis::new("top", "numbers that are chosen"),
    ],
    legal: "cols >= top, cols <= 2147483647",
    fills: Fill::FINITE,
    tensors: |case| {
        let [rows, top, cols] = sizes(case);
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).rising(16.0).sorted_by(),
            Tensor::output("y", case.precision.output, &[rows, top]),
            Tensor::output("at", Dtype::I32, &[rows, top]),
        ]
    },
    // A look at every number at least.
    work: |case| {
        let [rows, _, cols] = sizes(case).map(|size| size as u64);
        work(case, Counts { simple: 1, ..Counts::default() }, rows.saturating_mul(cols))
    },
    judged: Judged::Property(Property { check, example }),
    mutants: &[
        mutant(
            "the smallest first",
            |case| case.axis("top") > 1,
            |problem| chosen(problem, |chosen| chosen.reverse()),
        ),
        mutant(
            "places counted from 1",
            |_| true,
            |problem| chosen(problem, |chosen| chosen.iter_mut().for_each(|(_, at)| *at += 1)),
        ),
        mutant(
            "the largest again and again",
            |case| case.axis("top") > 1,
            |problem| {
                chosen(problem, |chosen| {
                    let first = chosen[0];
                    chosen.fill(first);
                })
            },
        ),
    ],
    ..rowwise::UNARY
};

fn sizes(case: &Case) -> [usize; 3] {
    ["rows", "top", "cols"].map(|axis| case.axis(axis))
}

fn check(problem: &Problem, outputs: &[View]) -> Result<(), String> {
    let [rows, top, _] = sizes(problem.case);
    let wrong = |row: usize| {
        let x = line(problem, row);
        let [y, at] = [0, 1].map(|output| outputs[output].line(row * top, 1, top));
        let stands = |(y, at): (&f64, &f64)| *at >= 0.0 && x.get(*at as usize) == Some(y);
        let mut places: Vec<u64> = at.iter().map(|at| at.max(0.0) as u64).collect();
        places.sort_unstable();
        places.dedup();
        if !y.iter().eq(largest(&x, top).iter().map(|(x, _)| x)) {
            Some("y is not the largest numbers in falling order")
        } else if !y.iter().zip(&at).all(stands) {
            Some("a number does not stand where `at` says")
        } else if places.len() < top {
            Some("a place is named twice")
        } else {
            None
        }
    };
    let faults: Vec<(usize, &str)> = (0..rows).filter_map(|row| Some((row, wrong(row)?))).collect();
    let Some((row, why)) = faults.first() else { return Ok(()) };
    Err(format!("{} rows; in row {row} {why}", faults.len()))
}

fn example(problem: &Problem) -> Vec<Vec<f64>> {
    chosen(problem, |_| {})
}

const fn mutant(name: &'static str, of: fn(&Case) -> bool, wrong: fn(&Problem) -> Vec<Vec<f64>>) -> Mutant {
    Mutant { name, fill: Fill::Normal, of, wrong: Wrong::Outputs(wrong) }
}

/// What is chosen of each row, spoiled.
fn chosen(problem: &Problem, spoil: fn(&mut Vec<(f64, usize)>)) -> Vec<Vec<f64>> {
    let [rows, top, _] = sizes(problem.case);
    let of_row = |row: usize| {
        let mut chosen = largest(&line(problem, row), top);
        spoil(&mut chosen);
        chosen
    };
    let (y, at) = (0..rows).flat_map(of_row).map(|(x, at)| (x, at as f64)).unzip();
    vec![y, at]
}

fn line(problem: &Problem, row: usize) -> Vec<f64> {
    let cols = problem.case.axis("cols");
    problem.inputs[0].line(row * cols, 1, cols)
}

/// The largest numbers with their places, the largest first.
fn largest(x: &[f64], top: usize) -> Vec<(f64, usize)> {
    let mut places: Vec<(f64, usize)> = x.iter().copied().zip(0..).collect();
    places.sort_by(|one, other| other.0.total_cmp(&one.0));
    places.truncate(top);
    places
}
