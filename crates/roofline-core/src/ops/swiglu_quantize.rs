//! `swiglu-quantize`: silu(gate) · up as codes with a scale for each row, in one pass.

use super::quantize::{How, RESULTS, ROW_FORMS, halfway, of_form, of_results, row_tensors};
use super::silu::silu;
use crate::dtype::Dtype::Bf16;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Line, rowwise};
use crate::operation::{Mutant, Operation, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "swiglu-quantize",
    also: &["silu-mul-quantize"],
    about: "q = round(y / s) of y = gate / (1 + e^-gate) · up with a scale s of each row",
    variants: ROW_FORMS,
    precisions: RESULTS,
    fills: Fill::FINITE,
    tensors: |case| {
        let (dtype, shape) = (case.dtype(), [case.axis("rows"), case.axis("cols")]);
        let [q, s] = row_tensors(case);
        vec![
            // As small as leaves every type digits for the least of a row.
            Tensor::input("gate", dtype, &shape).limit(16.0),
            Tensor::input("up", dtype, &shape).limit(dtype.max_finite() / 32.0),
            q,
            s,
        ]
    },
    judged: rowwise::rows(|line, output| {
        quantized(line, output, of_form(line.case()), |gate, up| silu(gate) * up)
    }),
    mutants: &[
        mutant("gate and up exchanged", |line, output| {
            quantized(line, output, of_form(line.case()), |gate, up| silu(up) * gate)
        }),
        mutant("gate not multiplied", |line, output| {
            quantized(line, output, of_form(line.case()), |gate, up| gate.sigmoid() * up)
        }),
        mutant("up left out", |line, output| {
            quantized(line, output, of_form(line.case()), |gate, _| silu(gate))
        }),
        mutant("scale of the maximum, not of the largest magnitude", |line, output| {
            let how = How { size: |x| x, ..of_form(line.case()) };
            quantized(line, output, how, |gate, up| silu(gate) * up)
        }),
        mutant("scale rounded to bf16", |line, output| {
            let how = How { held: Bf16, ..of_form(line.case()) };
            quantized(line, output, how, |gate, up| silu(gate) * up)
        }),
    ],
    ..rowwise::UNARY
};

/// Codes, or the scale, of what each gate makes of its number.
fn quantized<'a>(
    line: &Line<'a>,
    output: usize,
    how: How,
    gated: fn(Number<'a>, Number<'a>) -> Number<'a>,
) -> Vec<Number<'a>> {
    let y: Vec<Number> = line.all(0).into_iter().zip(line.all(1)).map(|(gate, up)| gated(gate, up)).collect();
    let rounded = line.case().precision.halfway.map(|dtype| halfway(&y, dtype));
    of_results(line, std::iter::once(y).chain(rounded).collect(), output == 1, how)
}

const fn mutant(name: &'static str, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, wrong: Wrong::Formula(rowwise::rows(formula)), of: |_| true }
}
