//! `rope-tables`: the cosines and sines that cached forms of [`rope`](super::rope) read, of given positions.

use super::rope::{ANGLE_BITS, BASE, angle_at};
use crate::dtype::Dtype::I32;
use crate::fill::Fill;
use crate::number::Number;
use crate::operation::family::{Along, Line, Rowwise, rowwise};
use crate::operation::{Axis, Judged, Mutant, Operation, Wrong};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "rope-tables",
    about: "cos φ and sin φ of pair i of every position, φ = position · base^(-2i/dim)",
    axes: &[
        Axis::new("seq", "positions"),
        Axis::new("dim", "length of a head, which has half as many pairs"),
    ],
    params: &[BASE, ANGLE_BITS],
    legal: "dim % 2 == 0",
    tensors: |case| {
        let shape = [case.axis("seq"), case.axis("dim") / 2];
        let positions = Tensor::input("positions", I32, &[shape[0]]).beside(&[shape[0], 1]);
        let table = |name| Tensor::output(name, case.precision.output, &shape);
        vec![positions.holding(Content::Indices { below: 4096, none: None }), table("cos"), table("sin")]
    },
    judged: tables(|line, output| turned(line, output, 0)),
    mutants: &[
        mutant("angles of the next pair", |line, output| turned(line, output, 1)),
        mutant("cosine and sine exchanged", |line, output| turned(line, 1 - output, 0)),
    ],
    ..rowwise::UNARY
};

const fn tables(formula: rowwise::Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along: |_, _, _| Along::Whole, dimension: |_| 0 })
}

const fn mutant(name: &'static str, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill: Fill::Uniform, wrong: Wrong::Formula(tables(formula)), of: |_| true }
}

/// One table's row of a position, whose pairs are numbered from `first` on.
fn turned<'a>(line: &Line<'a>, output: usize, first: usize) -> Vec<Number<'a>> {
    let of = |i: usize| {
        let (cos, sin) = angle_at(line, line.one_raw(0), first + i, 2 * line.len());
        if output == 0 { cos } else { sin }
    };
    (0..line.len()).map(of).collect()
}
