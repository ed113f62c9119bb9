//! `axpy`: z = a · x + y, element by element, fused or in two steps.

use crate::fill::Fill;
use crate::operation::family::elementwise;
use crate::operation::{Judged, Mutant, Operation, Param, Variant, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "axpy",
    about: "z = a · x + y",
    variants: &[
        Variant { name: "", about: "z apart from x and y" },
        Variant { name: "in-place", about: "z is y before the launch, as BLAS has it" },
    ],
    params: &[Param::new("a", "the factor of x", 2.5, (-1000.0, 1000.0))],
    tensors: |case| {
        let shape = [case.axis("rows"), case.axis("cols")];
        let most = case.precision.accumulator.max_finite() / 4.0;
        let z = Tensor::output("z", case.precision.output, &shape);
        vec![
            Tensor::input("x", case.dtype(), &shape).limit(most / case.param("a").abs().max(1.0)),
            Tensor::input("y", case.dtype(), &shape).limit(most),
            if case.variant == "in-place" { z.starting_as("y") } else { z },
        ]
    },
    judged: Judged::Elementwise(|e| e.x(0) * e.param("a") + e.x(1)),
    mutants: &[Mutant {
        name: "factor on the sum",
        fill: Fill::Uniform,
        of: |_| true,
        wrong: Wrong::Formula(Judged::Elementwise(|e| (e.x(0) + e.x(1)) * e.param("a"))),
    }],
    ..elementwise::UNARY
};
