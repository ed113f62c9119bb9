//! `pow-scalar`: y = xˢ, element by element; s = 2 if nothing else is said.

use crate::fill::Fill;
use crate::operation::family::elementwise::{self, mutant};
use crate::operation::{Judged, Mutant, Operation, Param};

pub const OPERATION: Operation = Operation {
    name: "pow-scalar",
    about: "y = x to the power of exponent",
    params: &[Param::new("exponent", "what x is raised to", 2.0, (-8.0, 8.0))],
    tensors: |case| {
        let exponent = case.param("exponent");
        // Numbers below zero have whole powers only, and zero none below it.
        if exponent < 0.0 || exponent.fract() != 0.0 {
            return elementwise::within(case, 0.01, 10.0);
        }
        elementwise::unary(case, case.precision.accumulator.max_finite().powf(1.0 / exponent.max(1.0)) / 2.0)
    },
    judged: Judged::Elementwise(|e| e.x(0).pow(e.param("exponent"))),
    mutants: &[Mutant {
        of: |case| case.param("exponent") != 1.0,
        ..mutant("remainder as it was", Fill::Uniform, |e| {
            if e.is_remainder() { e.x(0) } else { e.x(0).pow(e.param("exponent")) }
        })
    }],
    ..elementwise::UNARY
};
