//! `add-rms-norm-quantize`: h = x + r, and rms-norm(h) · w as codes with a scale for each row, in one pass.
//!
//! Codes know nothing of the norm, which all of a row shares: that is in the scales. Of what is written before it is quantised,
//! sums or their norm, 16 bits are left, and codes next to the right ones: a precision of its own.

use super::add_rms_norm::{normed, sums};
use super::quantize::{How, RESULTS, ROW_FORMS, halfway, of_form, of_results, row_tensors};
use super::rms_norm::EPS;
use crate::case::Case;
use crate::dtype::Dtype::Bf16;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Along, Line, Rowwise, rowwise};
use crate::operation::{Judged, Mutant, Operation, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "add-rms-norm-quantize",
    about: "h = x + r, q = round(y / s) of y = h / sqrt(mean(h²) + eps) · w with a scale s of each row",
    variants: ROW_FORMS,
    params: &[EPS],
    precisions: RESULTS,
    fills: Fill::FINITE,
    tensors: |case| {
        let dtype = case.dtype();
        let (rows, cols) = (case.axis("rows"), case.axis("cols"));
        let limit = rowwise::squarable(case, cols) / 2.0;
        // A row may have all its norm in one number, which the weight meets.
        let of_weights = limit.min(dtype.max_finite() / (cols.max(1) as f64).sqrt() / 2.0);
        let [q, s] = row_tensors(case);
        vec![
            Tensor::input("x", dtype, &[rows, cols]).limit(limit),
            Tensor::input("r", dtype, &[rows, cols]).limit(limit).alike(),
            Tensor::input("w", dtype, &[cols]).limit(of_weights),
            Tensor::output("h", case.precision.output, &[rows, cols]),
            q,
            s,
        ]
    },
    judged: rows(|line, output| quantized(line, output, of_form(line.case()), all_ways)),
    mutants: &[
        mutant("residual not added", Fill::Uniform, |line, output| match output {
            0 => line.all(0),
            _ => of_norm(line, output, line.all(0)),
        }),
        mutant("sum not written", Fill::Uniform, |line, output| match output {
            0 => line.all(1),
            _ => of_norm(line, output, sums(line)),
        }),
        mutant("codes of the sum, not of its norm", Fill::Uniform, |line, output| {
            quantized(line, output, of_form(line.case()), |line| vec![sums(line)])
        }),
        mutant("weight not applied", Fill::Uniform, |line, output| {
            quantized(line, output, of_form(line.case()), |line| {
                let h = sums(line);
                let scale = super::rms_norm::scale(line, &h);
                vec![h.into_iter().map(|h| h * scale).collect()]
            })
        }),
        mutant("epsilon forgotten", Fill::Planted, |line, output| {
            quantized(line, output, of_form(line.case()), |line| {
                let h = sums(line);
                let scale = 1.0 / line.mean_square(&h).sqrt();
                vec![h.into_iter().zip(line.all(2)).map(|(h, w)| h * scale * w).collect()]
            })
        }),
        mutant("scale of the maximum, not of the largest magnitude", Fill::Normal, |line, output| {
            quantized(line, output, How { size: |x| x, ..of_form(line.case()) }, all_ways)
        }),
        mutant("scale rounded to bf16", Fill::Normal, |line, output| {
            quantized(line, output, How { held: Bf16, ..of_form(line.case()) }, all_ways)
        }),
    ],
    ..rowwise::UNARY
};

/// The sums, or what becomes of their norm as these are.
fn quantized<'a>(
    line: &Line<'a>,
    output: usize,
    how: How,
    ways: fn(&Line<'a>) -> Vec<Vec<Number<'a>>>,
) -> Vec<Number<'a>> {
    match output {
        0 => sums(line),
        _ => of_results(line, ways(line), output == 2, how),
    }
}

/// The norm of the sums as they are; where these may be rounded halfway, of those too, and each of the two rounded itself.
fn all_ways<'a>(line: &Line<'a>) -> Vec<Vec<Number<'a>>> {
    let h = sums(line);
    let Some(dtype) = line.case().precision.halfway else { return vec![normed(line, h)] };
    let after = line.uncounted(|| normed(line, halfway(&h, dtype)));
    let at_once = normed(line, h);
    let rounded = [halfway(&at_once, dtype), halfway(&after, dtype)];
    [at_once, after].into_iter().chain(rounded).collect()
}

fn of_norm<'a>(line: &Line<'a>, output: usize, h: Vec<Number<'a>>) -> Vec<Number<'a>> {
    of_results(line, vec![normed(line, h)], output == 2, of_form(line.case()))
}

const fn rows(formula: rowwise::Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along, dimension: |_| 0 })
}

const fn mutant(name: &'static str, fill: Fill, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(rows(formula)), of: |_| true }
}

/// A code by its scale hangs on all of its row, weights too.
fn along(_: &Case, input: usize, output: usize) -> Along {
    match (input, output) {
        (2, 0) => Along::Nothing,
        (_, 0) => Along::Own,
        _ => Along::Whole,
    }
}
