//! `layer-norm-gelu`: y = gelu(layer-norm(x)), in one pass; `layer-norm-gelu.tanh` with the form by tanh.

use super::layer_norm::{EPS, affine, mutant, normed, rows, tensors};
use super::{gelu, gelu_quick, gelu_tanh};
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Line, rowwise};
use crate::operation::{Mutant, Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "layer-norm-gelu",
    about: "y = gelu((x - mean(x)) / sqrt(var(x) + eps) · w + b) over each row",
    variants: &[
        Variant { name: "", about: "gelu(z) = z / 2 · (1 + erf(z / √2))" },
        Variant { name: "tanh", about: "gelu(z) = z / 2 · (1 + tanh(√(2/π) · (z + 0.044715 z³)))" },
    ],
    params: &[EPS],
    tensors,
    judged: rows(|line, _| activated(line, line.variant() == "tanh")),
    mutants: &[
        mutant("the other gelu", Fill::Normal, |line, _| activated(line, line.variant() != "tanh")),
        mutant("gelu by the sigmoid", Fill::Normal, |line, _| {
            affine(line, normed(line)).into_iter().map(gelu_quick::formula).collect()
        }),
        mutant("gelu left out", Fill::Uniform, |line, _| affine(line, normed(line))),
        mutant("gelu before the weight", Fill::Uniform, |line, _| {
            affine(line, normed(line).into_iter().map(|z| of(z, line.variant() == "tanh")).collect())
        }),
        BIAS,
    ],
    ..rowwise::UNARY
};

const BIAS: Mutant = mutant("bias not applied", Fill::Uniform, |line, _| {
    let weighted = normed(line).into_iter().zip(line.all(1));
    weighted.map(|(x, w)| of(x * w, line.variant() == "tanh")).collect()
});

fn activated<'a>(line: &Line<'a>, by_tanh: bool) -> Vec<Number<'a>> {
    affine(line, normed(line)).into_iter().map(|z| of(z, by_tanh)).collect()
}

fn of(z: Number, by_tanh: bool) -> Number {
    if by_tanh { gelu_tanh::formula(z) } else { gelu::formula(z) }
}
