//! `argmax`: where the maximum of each row stands. Any place of it is right; in a row with a NaN, any NaN's.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::operation::family::{Along, Rowwise, rowwise};
use crate::operation::{Judged, Mutant, Operation, Problem, Property, Wrong};
use crate::tensor::Tensor;
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "argmax",
    about: "y = the column of max(x) in each row",
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).rising(16.0),
            Tensor::output("y", Dtype::I32, &[rows]).beside(&[rows, 1]),
        ]
    },
    work: |case| {
        let formula: rowwise::Formula = |line, _| vec![line.max_each(line.each(0))];
        rowwise::work_with(
            case,
            &Rowwise { formula, along: |_, _, _| Along::Whole, dimension: rowwise::columns },
        )
    },
    judged: Judged::Property(Property {
        check: |problem, outputs| {
            let is_right = |row: usize| {
                let (x, at) = (line(problem, row), outputs[0].get(row));
                let got = x.get(at.max(0.0) as usize).filter(|_| at >= 0.0);
                got.is_some_and(|got| got.total_cmp(&most(&x)).is_eq() || *got == most(&x))
            };
            let wrong: Vec<usize> = (0..lines(problem)).filter(|row| !is_right(*row)).collect();
            let Some(first) = wrong.first() else { return Ok(()) };
            let at = outputs[0].get(*first);
            Err(format!("{} lines; the maximum of line {first} does not stand at {at}", wrong.len()))
        },
        example: |problem| places(problem, |_| 0..usize::MAX),
    }),
    mutants: &[
        mutant("the last three columns not looked at", |problem| {
            places(problem, |cols| 0..cols.saturating_sub(3).max(1))
        }),
        mutant("counted from where the second vector begins", |problem| {
            places(problem, |cols| cols.min(8)..cols)
        }),
        mutant("of the next row", |problem| {
            let mut places = places(problem, |_| 0..usize::MAX);
            places[0].rotate_left(1);
            places
        }),
    ],
    ..rowwise::UNARY
};

const fn mutant(name: &'static str, wrong: fn(&Problem) -> Vec<Vec<f64>>) -> Mutant {
    // Of one column there is one place.
    Mutant { name, fill: Fill::Normal, of: |case| sizes(case)[1] > 1, wrong: Wrong::Outputs(wrong) }
}

/// The first place of each line's maximum among the elements that are looked at, of so many.
fn places(problem: &Problem, among: fn(usize) -> Range<usize>) -> Vec<Vec<f64>> {
    let at = |row: usize| {
        let x = line(problem, row);
        let Range { start, end } = among(x.len());
        let x = &x[start.min(x.len() - 1)..end.min(x.len())];
        let most = most(x);
        x.iter().position(|x| *x == most || x.is_nan()).unwrap_or(0) as f64
    };
    vec![(0..lines(problem)).map(at).collect()]
}

/// Dimensions before, along and after its lines.
fn sizes(case: &Case) -> [usize; 3] {
    match case.sizes[..] {
        [outer, length, inner] => [outer, length, inner].map(|size| size as usize),
        _ => [case.axis("rows"), case.axis("cols"), 1],
    }
}

fn lines(problem: &Problem) -> usize {
    let [outer, _, inner] = sizes(problem.case);
    outer * inner
}

fn line(problem: &Problem, number: usize) -> Vec<f64> {
    let [_, length, inner] = sizes(problem.case);
    problem.inputs[0].line(number / inner * length * inner + number % inner, inner, length)
}

/// The maximum, or a NaN.
fn most(x: &[f64]) -> f64 {
    x.iter().fold(f64::NEG_INFINITY, |most, x| if most >= *x || most.is_nan() { most } else { *x })
}
