//! `cross-entropy`: logsumexp(x) - x[t] of each row, or its mean over the rows that count. A target of -100 is none.

use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::Judged;
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::family::{elementwise, rowwise};
use crate::operation::{Mutant, Operation, Reach, Variant, Wrong};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "cross-entropy",
    about: "y = mean over rows of logsumexp(x) - x[t], without those whose t is -100",
    variants: &[
        Variant { name: "", about: "y[1], the mean over the rows that count" },
        Variant { name: "none", about: "y[rows], with 0 for rows that do not count" },
    ],
    axes: rowwise::ROWS,
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        let (outputs, step) =
            if case.variant == "none" { (rows, 40.0) } else { (1, 40.0 + rows as f64 / 8.0) };
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]).limit(1000.0).rising(step),
            Tensor::input("t", Dtype::I32, &[rows])
                .holding(Content::Indices { below: cols as u64, none: Some(-100) }),
            Tensor::output("y", case.precision.output, &[outputs]),
        ]
    },
    work: |case| {
        let cols = case.axis("cols") as u64;
        let row = Counts { simple: 3 * cols + 3, special: cols + 1, ..Counts::default() };
        whole::work(case, row, case.axis("rows") as u64)
    },
    judged: judged(|all, _, wanted| losses(all, wanted, counted(all), |all, x| all.max(all.row(0, x)))),
    mutants: &[
        Mutant {
            of: |case| case.variant.is_empty(),
            ..mutant("rows that do not count counted", Fill::Normal, |all, _, wanted| {
                losses(all, wanted, all.axis("rows"), |all, x| all.max(all.row(0, x)))
            })
        },
        mutant("maximum not subtracted", Fill::Extreme, |all, _, wanted| {
            losses(all, wanted, counted(all), |all, _| all.number(0.0))
        }),
    ],
    ..elementwise::UNARY
};

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole {
        formula,
        reach: |problem, tensor, element| {
            let row = if tensor == 0 { element / problem.case.axis("cols") } else { element };
            let first = if problem.case.variant == "none" { row } else { 0 };
            let is_read = tensor == 1 || problem.inputs[1].get(row) >= 0.0;
            is_read.then_some(Reach { output: 0, first, step: 1, count: 1 }).into_iter().collect()
        },
    })
}

const fn mutant(name: &'static str, fill: Fill, formula: whole::Formula) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

/// Rows that have a target.
fn counted(all: &All) -> usize {
    (0..all.axis("rows")).filter(|row| all.raw(1, *row) >= 0.0).count()
}

/// The losses of rows, exponentials taken around `pivot`; or their mean over so many rows.
fn losses<'a>(
    all: &All<'a>,
    wanted: &[usize],
    over: usize,
    pivot: fn(&All<'a>, usize) -> Number<'a>,
) -> Vec<Number<'a>> {
    let loss = |row: usize| {
        let target = all.raw(1, row);
        if target < 0.0 {
            return all.number(0.0);
        }
        let pivot = pivot(all, row);
        let sum = all.sum(all.row(0, row).map(|x| (x - pivot).exp()));
        sum.ln() + (pivot - all.x(0, row * all.axis("cols") + target as usize))
    };
    if all.variant() == "none" {
        return wanted.iter().map(|row| loss(*row)).collect();
    }
    vec![all.sum((0..all.axis("rows")).map(loss)) / over as f64]
}
