//! `mean` of each row, of each column or of everything.

use crate::fill::Fill;
use crate::operation::Operation;
use crate::operation::family::rowwise::{self, mutant};

pub const OPERATION: Operation = Operation {
    name: "mean",
    about: "y = sum(x) / length",
    judged: rowwise::reduction(|line, _| vec![line.sum_each(line.each(0)) / line.len() as f64]),
    mutants: &[
        mutant("mean over a padded length", Fill::Shifted, |line, _| {
            vec![line.sum_each(line.each(0)) / line.len().next_multiple_of(48) as f64]
        }),
        mutant("remainder left out", Fill::Planted, |line, _| {
            let rest = line.len().saturating_sub(3);
            vec![line.sum_each(line.each(0).take(rest)) / line.len() as f64]
        }),
    ],
    ..rowwise::REDUCTION
};
