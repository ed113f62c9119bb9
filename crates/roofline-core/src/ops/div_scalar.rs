//! `div-scalar`: y = x / s, element by element. Kernels may multiply by 1 / s, which they have rounded once.

use crate::fill::Fill;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Mutant, Operation, Param, Wrong};

pub const OPERATION: Operation = Operation {
    name: "div-scalar",
    about: "y = x / s",
    params: &[Param { range: (0.001, 1000.0), ..elementwise::SCALAR }],
    judged: Judged::Elementwise(|e| e.x(0) * (1.0 / e.number(e.param("scalar")))),
    mutants: &[Mutant {
        name: "quotient the other way round",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(Judged::Elementwise(|e| e.param("scalar") / e.x(0))),
    }],
    ..elementwise::UNARY
};
