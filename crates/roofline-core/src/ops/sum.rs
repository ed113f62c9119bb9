//! `sum` of each row, of each column or of everything.

use crate::fill::Fill;
use crate::operation::Operation;
use crate::operation::family::rowwise::{self, mutant};

pub const OPERATION: Operation = Operation {
    name: "sum",
    about: "y = sum(x)",
    judged: rowwise::reduction(|line, _| vec![line.sum_each(line.each(0))]),
    mutants: &[
        mutant("remainder left out", Fill::Planted, |line, _| {
            vec![line.sum_each(line.each(0).take(line.len().saturating_sub(3)))]
        }),
        mutant("remainder counted twice", Fill::Planted, |line, _| {
            vec![line.sum_each(line.each(0).chain(line.each(0).skip(line.len().saturating_sub(3))))]
        }),
    ],
    ..rowwise::REDUCTION
};
