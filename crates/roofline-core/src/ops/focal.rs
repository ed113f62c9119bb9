//! `focal`: the focal loss of each element, from the probability p of class 1 and the class t that is true.

use super::{Judged, Mutant, Operation, Param, Wrong};
use crate::dtype::Dtype;
use crate::family::{Element, elementwise};
use crate::fill::Fill;
use crate::number::Number;
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "focal",
    about: "y = -α · (1 - q)^γ · ln(q), where q = p and α = alpha if t = 1, else q = 1 - p and α = 1 - alpha",
    params: &[
        Param { name: "alpha", about: "weight of class 1", default: 0.25, range: (0.0, 1.0) },
        Param { name: "gamma", about: "how far sure elements are left out", default: 2.0, range: (0.0, 8.0) },
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
        let (alpha, q) = of_class(e);
        loss(e, alpha, q, q.ln())
    }),
    mutants: &[
        mutant("logarithm of p times t", |e| loss(e, e.param("alpha"), e.x(0), e.x(0).ln() * e.raw(1))),
        mutant("one weight for both classes", |e| {
            let (_, q) = of_class(e);
            loss(e, e.param("alpha"), q, q.ln())
        }),
    ],
    ..elementwise::UNARY
};

const fn mutant(name: &'static str, formula: elementwise::Formula) -> Mutant {
    Mutant { name, fill: Fill::Uniform, of: |_| true, wrong: Wrong::Formula(Judged::Elementwise(formula)) }
}

/// The weight and the probability of the class that is true.
fn of_class<'a>(e: &Element<'a>) -> (f64, Number<'a>) {
    let (alpha, p) = (e.param("alpha"), e.x(0));
    if e.raw(1) == 1.0 { (alpha, p) } else { (1.0 - alpha, 1.0 - p) }
}

fn loss<'a>(e: &Element<'a>, alpha: f64, q: Number<'a>, log: Number<'a>) -> Number<'a> {
    -((1.0 - q).pow(e.param("gamma")) * log * alpha)
}
