//! `qk-norm`: rms-norm over each head of queries or keys; `qk-norm.combined`: of both, each with its own weight.

use super::rms_norm::{EPS, scale};
use crate::case::Case;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Along, Line, Rowwise, rowwise};
use crate::operation::{Axis, Judged, Mutant, Operation, Variant, Wrong};
use crate::tensor::Tensor;

pub const OPERATION: Operation = Operation {
    name: "qk-norm",
    about: "y = x / sqrt(mean(x²) + eps) · w over each head",
    variants: &[
        Variant { name: "", about: "queries or keys" },
        Variant { name: "combined", about: "queries and keys, each with a weight of its own" },
    ],
    axes: &[
        Axis::new("seq", "positions of the sequence"),
        Axis::new("heads", "heads of a position"),
        Axis::new("dim", "length of a head"),
    ],
    params: &[EPS],
    tensors: |case| {
        let (dtype, dim) = (case.dtype(), case.axis("dim"));
        let heads = [case.axis("seq"), case.axis("heads"), dim];
        let limit = rowwise::squarable(case, dim);
        let (inputs, weights, outputs): (&[&str], &[&str], &[&str]) = match case.variant {
            "combined" => (&["q", "k"], &["wq", "wk"], &["yq", "yk"]),
            _ => (&["x"], &["w"], &["y"]),
        };
        let inputs = inputs.iter().map(|name| Tensor::input(name, dtype, &heads).limit(limit));
        let weights = weights.iter().map(|name| Tensor::input(name, dtype, &[dim]).limit(limit));
        let outputs = outputs.iter().map(|name| Tensor::output(name, case.precision.output, &heads));
        inputs.chain(weights).chain(outputs).collect()
    },
    judged: heads(|line, output| {
        let (x, w) = of(line, output);
        scaled(x, w, |x| scale(line, x))
    }),
    mutants: &[
        mutant("epsilon forgotten", Fill::Planted, |line, output| {
            let (x, w) = of(line, output);
            scaled(x, w, |x| 1.0 / line.mean_square(x).sqrt())
        }),
        mutant("mean over half the head", Fill::Uniform, |line, output| {
            let (x, w) = of(line, output);
            scaled(x, w, |x| scale(line, &x[..x.len().div_ceil(2)]))
        }),
        mutant("weight not applied", Fill::Uniform, |line, output| {
            let (x, w) = of(line, output);
            scaled(x, w.into_iter().map(|_| line.number(1.0)).collect(), |x| scale(line, x))
        }),
        mutant("weight by the head and not by the element", Fill::Uniform, |line, output| {
            let (x, w) = of(line, output);
            let first = w[line.start()[1] % w.len()];
            scaled(x, w.into_iter().map(|_| first).collect(), |x| scale(line, x))
        }),
        Mutant {
            of: |case| case.variant == "combined",
            ..mutant("one weight for both", Fill::Uniform, |line, output| {
                let (x, _) = of(line, output);
                scaled(x, line.all(2), |x| scale(line, x))
            })
        },
        Mutant {
            of: |case| case.variant == "combined",
            ..mutant("one scale for both", Fill::Uniform, |line, output| {
                let (x, w) = of(line, output);
                scaled(x, w, |_| scale(line, &line.all(0)))
            })
        },
    ],
    ..rowwise::UNARY
};

const fn heads(formula: rowwise::Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along, dimension: |_| 0 })
}

const fn mutant(name: &'static str, fill: Fill, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill, wrong: Wrong::Formula(heads(formula)), of: |_| true }
}

/// Inputs before weights, and each side only into its own output.
fn along(case: &Case, input: usize, output: usize) -> Along {
    let sides = if case.variant == "combined" { 2 } else { 1 };
    match input {
        _ if input % sides != output => Along::Nothing,
        _ if input < sides => Along::Whole,
        _ => Along::Own,
    }
}

/// The head and the weight of an output.
fn of<'a>(line: &Line<'a>, output: usize) -> (Vec<Number<'a>>, Vec<Number<'a>>) {
    let sides = if line.variant() == "combined" { 2 } else { 1 };
    (line.all(output), line.all(sides + output))
}

fn scaled<'a>(
    x: Vec<Number<'a>>,
    w: Vec<Number<'a>>,
    scale: impl Fn(&[Number<'a>]) -> Number<'a>,
) -> Vec<Number<'a>> {
    let scale = scale(&x);
    x.into_iter().zip(w).map(|(x, w)| x * scale * w).collect()
}
