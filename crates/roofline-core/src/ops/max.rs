//! `max` of each row, of each column or of everything; NaN if there is one.

use crate::fill::Fill;
use crate::operation::Operation;
use crate::operation::family::rowwise::{self, mutant};

pub const OPERATION: Operation = Operation {
    name: "max",
    about: "y = max(x)",
    // A change is seen where it makes a new maximum.
    tensors: |case| rowwise::reduced(case, |x, _| x.rising(16.0)),
    judged: rowwise::reduction(|line, _| vec![line.max_each(line.each(0))]),
    mutants: &[
        mutant("maximum from zero", Fill::Shifted, |line, _| {
            vec![line.max_each(line.each(0)).max(line.number(0.0))]
        }),
        mutant("remainder left out", Fill::Planted, |line, _| {
            vec![line.max_each(line.each(0).take(line.len().saturating_sub(3).max(1)))]
        }),
        mutant("maximum of magnitudes", Fill::Shifted, |line, _| {
            vec![line.max_each(line.each(0).map(|x| x.abs()))]
        }),
    ],
    ..rowwise::REDUCTION
};
