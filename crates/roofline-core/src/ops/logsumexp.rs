//! `logsumexp` of each row, of each column or of everything: y = m + ln(sum(exp(x - m))), where m = max(x).

use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::Line;
use crate::operation::family::rowwise::{self, mutant};
use crate::operation::{Mutant, Operation};

pub const OPERATION: Operation = Operation {
    name: "logsumexp",
    about: "y = ln(sum(exp(x)))",
    // Large enough that exp without the maximum taken off overflows every accumulator.
    tensors: |case| rowwise::reduced(case, |x, _| x.limit(1000.0).rising(40.0)),
    judged: rowwise::reduction(|line, _| {
        let most = line.max_each(line.each(0));
        // An infinity is what it is: nothing is taken off.
        vec![around(line, if most.value.is_finite() { most } else { line.number(0.0) })]
    }),
    mutants: &[
        mutant("maximum not subtracted", Fill::Extreme, |line, _| vec![around(line, line.number(0.0))]),
        Mutant {
            // Everything together is hardly ever so far below zero.
            of: |case| case.variant != "all",
            ..mutant("maximum from zero", Fill::Planted, |line, _| {
                vec![around(line, line.max_each(line.each(0)).max(line.number(0.0)))]
            })
        },
        mutant("maximum not added again", Fill::Uniform, |line, _| {
            let most = line.max_each(line.each(0));
            vec![around(line, most) - most]
        }),
    ],
    ..rowwise::REDUCTION
};

fn around<'a>(line: &Line<'a>, pivot: Number<'a>) -> Number<'a> {
    line.sum_each(line.each(0).map(|x| (x - pivot).exp())).ln() + pivot
}
