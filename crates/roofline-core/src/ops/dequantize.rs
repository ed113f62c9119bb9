//! `dequantize`: y = q · s, codes in i8 and the scale of their row, of the tensor or of their block. `dequantize.fp8`: codes in
//! fp8-e4m3; `dequantize.u8`: y = (q − z) · s, with z the code of zero of each row.

use super::quantize::{group, has_groups, members, scales};
use crate::case::Case;
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
        Variant { name: "block", about: "a scale for each block of a row" },
        Variant { name: "fp8", about: "codes in fp8-e4m3, a scale for each row" },
        Variant { name: "u8", about: "y = (q - z) · s, codes in u8, s and z for each row" },
    ],
    tensors: |case| {
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        let q = match case.variant {
            "fp8" => Tensor::input("q", Dtype::Fp8E4m3, &[rows, cols]),
            "u8" => Tensor::input("q", Dtype::U8, &[rows, cols]).holding(BYTES),
            _ => Tensor::input("q", Dtype::I8, &[rows, cols]),
        };
        let s = Tensor::input("s", Dtype::F32, &scales(case)).holding(Content::Scales);
        let z = is_u8(case).then(|| Tensor::input("z", Dtype::U8, &[rows]).holding(BYTES));
        let y = Tensor::output("y", case.precision.output, &[rows, cols]);
        [q, s].into_iter().chain(z).chain([y]).collect()
    },
    work: |case| {
        let [rows, cols] = ["rows", "cols"].map(|axis| case.axis(axis) as u64);
        whole::work(case, Counts { simple: 1, ..Counts::default() }, rows.saturating_mul(cols))
    },
    judged: judged(|all, _, wanted| scaled(all, wanted, |group, _| group, |q, z| q - z)),
    mutants: &[
        Mutant {
            of: has_groups,
            ..mutant("the scale of the next group", |all, _, wanted| {
                scaled(all, wanted, |group, groups| (group + 1) % groups, |q, z| q - z)
            })
        },
        Mutant {
            of: has_groups,
            ..mutant("the first scale for all", |all, _, wanted| scaled(all, wanted, |_, _| 0, |q, z| q - z))
        },
        Mutant {
            of: |case| !is_u8(case),
            ..mutant("codes without their sign", |all, _, wanted| {
                scaled(all, wanted, |group, _| group, |q, _| if q < 0.0 { q + 256.0 } else { q })
            })
        },
        Mutant {
            of: is_u8,
            ..mutant("the code of zero forgotten", |all, _, wanted| {
                scaled(all, wanted, |group, _| group, |q, _| q)
            })
        },
        Mutant {
            of: is_u8,
            ..mutant("a difference in eight bits", |all, _, wanted| {
                scaled(all, wanted, |group, _| group, |q, z| f64::from((q - z) as i16 as i8))
            })
        },
    ],
    ..super::quantize::OPERATION
};

/// Any number of eight bits.
const BYTES: Content = Content::Indices { below: 256, none: None };

fn is_u8(case: &Case) -> bool {
    case.variant == "u8"
}

/// The wanted elements, from the scale that a kernel takes for a group, of so many, and what a code and that of zero
/// stand for.
fn scaled<'a>(
    all: &All<'a>,
    wanted: &[usize],
    of: fn(usize, usize) -> usize,
    code: fn(f64, f64) -> f64,
) -> Vec<Number<'a>> {
    let groups: usize = scales(all.case()).iter().product();
    let element = |element: &usize| {
        let group = group(all.case(), *element);
        let zero = if is_u8(all.case()) { all.raw(2, group) } else { 0.0 };
        all.number(code(all.raw(0, *element), zero)) * all.x(1, of(group, groups))
    };
    wanted.iter().map(element).collect()
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole {
        formula,
        reach: |problem, tensor, element| {
            let reached = if tensor == 0 { element..element + 1 } else { members(problem.case, element) };
            vec![Reach { output: 0, first: reached.start, step: 1, count: reached.len() }]
        },
    })
}

const fn mutant(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}
