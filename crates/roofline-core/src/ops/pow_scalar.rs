//! `pow-scalar`: y = xˢ, element by element; s = 2 if nothing else is said.

use crate::operation::family::elementwise;
use crate::operation::{Judged, Operation, Param};

pub const OPERATION: Operation = Operation {
    name: "pow-scalar",
    about: "y = x to the power of exponent",
    params: &[Param { name: "exponent", about: "what x is raised to", default: 2.0, range: (-8.0, 8.0) }],
    tensors: |case| {
        let exponent = case.param("exponent");
        // Numbers below zero have whole powers only, and zero none below it.
        if exponent < 0.0 || exponent.fract() != 0.0 {
            return elementwise::within(case, 0.01, 10.0);
        }
        elementwise::unary(case, case.precision.accumulator.max_finite().powf(1.0 / exponent.max(1.0)) / 2.0)
    },
    judged: Judged::Elementwise(|e| e.x(0).pow(e.param("exponent"))),
    ..elementwise::UNARY
};
