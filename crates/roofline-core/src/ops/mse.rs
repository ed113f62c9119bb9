//! `mse`: the mean, the sum, or each of the squared differences between predictions and targets.

use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Along, Line, Rowwise, rowwise};
use crate::operation::{Judged, Mutant, Operation, Variant, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "mse",
    about: "y = mean((p - t)²)",
    variants: &[
        Variant { name: "", about: "y[1] = mean((p - t)²) over all elements" },
        Variant { name: "sum", about: "y[1] = sum((p - t)²) over all elements" },
        Variant { name: "none", about: "y[rows,cols] = (p - t)²" },
    ],
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        let is_each = case.variant == "none";
        let terms = if is_each { 1 } else { rows * cols };
        let limit = (case.precision.accumulator.max_finite() / terms.max(1) as f64).sqrt() / 4.0;
        let input = |name| {
            let step = rowwise::visible_square(case, terms);
            Tensor::input(name, case.dtype(), &[rows, cols]).whole().limit(limit).step(step)
        };
        let y = if is_each {
            Tensor::output("y", case.precision.output, &[rows, cols]).whole()
        } else {
            Tensor::output("y", case.precision.output, &[1])
        };
        vec![input("p"), input("t"), y]
    },
    judged: lines(|line, _| reduced(line, line.len(), |difference| difference * difference)),
    mutants: &[
        mutant("differences not squared", |line, _| reduced(line, line.len(), |difference| difference.abs())),
        Mutant {
            of: |case| case.variant.is_empty(),
            ..mutant("mean over a padded length", |line, _| {
                reduced(line, line.len().next_multiple_of(48), |difference| difference * difference)
            })
        },
    ],
    ..rowwise::UNARY
};

const fn lines(formula: rowwise::Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along: |_, _, _| Along::Own, dimension: |_| 0 })
}

const fn mutant(name: &'static str, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill: Fill::Uniform, of: |_| true, wrong: Wrong::Formula(lines(formula)) }
}

fn reduced<'a>(line: &Line<'a>, length: usize, each: fn(Number<'a>) -> Number<'a>) -> Vec<Number<'a>> {
    let losses = line.each(0).zip(line.each(1)).map(|(p, t)| each(p - t));
    match line.variant() {
        "none" => losses.collect(),
        "sum" => vec![line.sum_each(losses)],
        _ => vec![line.sum_each(losses) / length as f64],
    }
}
