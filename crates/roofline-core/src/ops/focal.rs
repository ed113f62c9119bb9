//! `focal`: the focal loss of each element, from the probability p of class 1 and the class t that is true.

use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Element, elementwise};
use crate::operation::{Judged, Mutant, Operation, Param, Wrong};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "focal",
    about: "y = -alpha · (1 - q)^gamma · ln(q), where q = p if t = 1, else 1 - p",
    params: &[
        Param::new("alpha", "weight of the loss", 0.25, (0.0, 1.0)),
        Param::new("gamma", "how far sure elements are left out", 2.0, (0.0, 8.0)),
    ],
    tensors: |case| {
        let shape = [case.axis("rows"), case.axis("cols")];
        vec![
            Tensor::input("p", case.dtype(), &shape).holding(Content::Within { low: 0.001, high: 0.999 }),
            Tensor::input("t", Dtype::I32, &shape).holding(Content::Indices { below: 2, none: None }),
            Tensor::output("y", case.precision.output, &shape),
        ]
    },
    judged: Judged::Elementwise(|e| {
        let q = of_class(e);
        loss(e, e.param("alpha"), q, q.ln())
    }),
    mutants: &[
        mutant("logarithm of p times t", |e| loss(e, e.param("alpha"), e.x(0), e.x(0).ln() * e.raw(1))),
        mutant("another weight for class 0", |e| {
            let alpha = e.param("alpha");
            let alpha = if e.raw(1) == 1.0 { alpha } else { 1.0 - alpha };
            let q = of_class(e);
            loss(e, alpha, q, q.ln())
        }),
    ],
    ..elementwise::UNARY
};

const fn mutant(name: &'static str, formula: elementwise::Formula) -> Mutant {
    Mutant { name, fill: Fill::Uniform, of: |_| true, wrong: Wrong::Formula(Judged::Elementwise(formula)) }
}

/// The probability of the class that is true.
fn of_class<'a>(e: &Element<'a>) -> Number<'a> {
    if e.raw(1) == 1.0 { e.x(0) } else { 1.0 - e.x(0) }
}

fn loss<'a>(e: &Element<'a>, alpha: f64, q: Number<'a>, log: Number<'a>) -> Number<'a> {
    -((1.0 - q).pow(e.param("gamma")) * log * alpha)
}
