//! `dequantize`: y = q · s, codes in i8 and the scale of their row, of the tensor or of their block of 32.

use super::quantize::{group, has_groups, members, scales};
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{Judged, Mutant, Operation, Reach, Variant, Wrong};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "dequantize",
    also: &["dequantise"],
    about: "y = q · s, codes in i8",
    variants: &[
        Variant { name: "", about: "a scale for each row" },
        Variant { name: "tensor", about: "one scale" },
        Variant { name: "block", about: "a scale for each 32 of a row" },
    ],
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        vec![
            Tensor::input("q", Dtype::I8, &[rows, cols]),
            Tensor::input("s", Dtype::F32, &scales(case, BLOCK)).holding(Content::Scales),
            Tensor::output("y", case.precision.output, &[rows, cols]),
        ]
    },
    work: |case| {
        let [rows, cols] = ["rows", "cols"].map(|axis| case.axis(axis) as u64);
        whole::work(case, Counts { simple: 1, ..Counts::default() }, rows.saturating_mul(cols))
    },
    judged: judged(|all, _, wanted| scaled(all, wanted, |group, _| group, |q| q)),
    mutants: &[
        Mutant {
            of: has_groups,
            ..mutant("the scale of the next group", |all, _, wanted| {
                scaled(all, wanted, |group, groups| (group + 1) % groups, |q| q)
            })
        },
        Mutant {
            of: has_groups,
            ..mutant("the first scale for all", |all, _, wanted| scaled(all, wanted, |_, _| 0, |q| q))
        },
        mutant("codes without their sign", |all, _, wanted| {
            scaled(all, wanted, |group, _| group, |q| if q < 0.0 { q + 256.0 } else { q })
        }),
    ],
    ..super::quantize::OPERATION
};

/// Codes that share a scale in the form `block`.
const BLOCK: usize = 32;

/// The wanted elements, from the scale that a kernel takes for a group, of so many, and what it reads a code as.
fn scaled<'a>(
    all: &All<'a>,
    wanted: &[usize],
    of: fn(usize, usize) -> usize,
    code: fn(f64) -> f64,
) -> Vec<Number<'a>> {
    let groups: usize = scales(all.case(), BLOCK).iter().product();
    let element = |element: &usize| {
        let group = group(all.case(), BLOCK, *element);
        all.number(code(all.raw(0, *element))) * all.x(1, of(group, groups))
    };
    wanted.iter().map(element).collect()
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole {
        formula,
        reach: |problem, tensor, element| {
            let reached =
                if tensor == 0 { element..element + 1 } else { members(problem.case, BLOCK, element) };
            vec![Reach { output: 0, first: reached.start, step: 1, count: reached.len() }]
        },
    })
}

const fn mutant(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}
