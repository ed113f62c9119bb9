//! `batch-norm`: y = (x - mean) / sqrt(var + eps) · w + b, each channel with the statistics that were learnt.

use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Element, elementwise};
use crate::operation::{Axis, Judged, Mutant, Operation, Param, Wrong};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "batch-norm",
    about: "y = (x - mean) / sqrt(var + eps) · w + b, with mean, var, w and b of each channel",
    axes: &[
        Axis::new("batch", "images"),
        Axis::new("channels", "channels of an image"),
        Axis::new("pixels", "elements of a channel"),
    ],
    params: &[Param::new("eps", "added to the variance", 1e-5, (0.0, 1.0))],
    // An infinite weight or mean gives NaN where the statistics are folded, and an infinity where they are not.
    fills: Fill::FINITE,
    tensors: |case| {
        let channels = case.axis("channels");
        let shape = [case.axis("batch"), channels, case.axis("pixels")];
        let limit = case.precision.accumulator.max_finite().sqrt() / 64.0;
        let of_channels = |name| Tensor::input(name, case.dtype(), &[channels]).beside(&[channels, 1]);
        vec![
            Tensor::input("x", case.dtype(), &shape).limit(limit),
            of_channels("mean").limit(limit),
            of_channels("var").holding(Content::Within { low: 0.01, high: 10.0 }),
            of_channels("w").limit(limit),
            of_channels("b").limit(limit),
            Tensor::output("y", case.precision.output, &shape),
        ]
    },
    judged: Judged::Elementwise(|e| folded(e, e.x(3) / (e.x(2) + e.param("eps")).sqrt())),
    mutants: &[
        mutant("epsilon forgotten", Fill::Extreme, |e| folded(e, e.x(3) / e.x(2).sqrt())),
        mutant("variance taken for the deviation", Fill::Uniform, |e| {
            folded(e, e.x(3) / (e.x(2) + e.param("eps")))
        }),
    ],
    ..elementwise::UNARY
};

const fn mutant(name: &'static str, fill: Fill, formula: elementwise::Formula) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(Judged::Elementwise(formula)) }
}

/// As kernels fold it, with one factor and one summand a channel; those that take the mean off first err by less.
fn folded<'a>(e: &Element<'a>, scale: Number<'a>) -> Number<'a> {
    e.x(0) * scale + (e.x(4) - e.x(1) * scale)
}
