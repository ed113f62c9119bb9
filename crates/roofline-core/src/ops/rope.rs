//! `rope`: rotary position embedding. Each pair of a head's elements is turned by an angle that grows with the position.
//!
//! The angle is that of f64, or of as many bits as a case says; its cosine and sine are rounded to the accumulator.
//! Cached forms have them in tables; those of positions beyond the tables are computed.

use crate::case::Case;
use crate::dtype::Dtype::{F32, F64, I32};
use crate::fill::Fill;
use crate::format;
use crate::number::Number;
use crate::operation::family::{Along, Line, Rowwise, rowwise};
use crate::operation::{Axis, Judged, Mutant, Operation, Param, Problem, Reach, Variant, Wrong};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "rope",
    about: "pairs (a, b) become (a cos φ - b sin φ, a sin φ + b cos φ), φ = position · base^(-2i/dim)",
    variants: &[
        Variant { name: "", about: "pair i is i and i + dim/2" },
        Variant { name: "interleaved", about: "pair i is 2i and 2i + 1" },
        Variant { name: "cached", about: "pair i is i and i + dim/2; cos φ and sin φ are given" },
        Variant { name: "interleaved-cached", about: "pair i is 2i and 2i + 1; cos φ and sin φ are given" },
        Variant { name: "in-place", about: "pair i is i and i + dim/2; y is x before the launch" },
        Variant { name: "interleaved-in-place", about: "pair i is 2i and 2i + 1; y is x before the launch" },
        Variant { name: "cached-in-place", about: "as cached; y is x before the launch" },
        Variant {
            name: "interleaved-cached-in-place",
            about: "as interleaved-cached; y is x before the launch",
        },
        Variant {
            name: "cached-beyond",
            about: "as cached, with positions beyond the tables too, whose cos φ and sin φ are computed",
        },
    ],
    axes: &[
        Axis::new("seq", "positions of the sequence"),
        Axis::new("heads", "heads of a position"),
        Axis::new("dim", "length of a head"),
    ],
    params: &[BASE, ANGLE_BITS],
    legal: "dim % 2 == 0",
    tensors: |case| {
        let shape @ [seq, _, dim] = ["seq", "heads", "dim"].map(|axis| case.axis(axis));
        let below = if has_angles(case) { 2 * CACHED } else { CACHED } as u64;
        let table = if case.dtype() == F64 { F64 } else { F32 };
        // A row for each position is read, and by lot half of them have one where there are positions beyond.
        let read = seq * (dim / 2) / if has_angles(case) { 2 } else { 1 };
        let table = |name| Tensor::constant(name, table, &[CACHED, dim / 2]).beside(&[1]).read_in_part(read);
        let positions = Tensor::input("positions", I32, &[seq]).beside(&[seq, 1, 1]);
        let mut tensors = vec![
            Tensor::input("x", case.dtype(), &shape),
            positions.holding(Content::Indices { below, none: None }),
        ];
        let tables = ["cos", "sin"].map(|name| table(name).holding(Content::Within { low: -1.0, high: 1.0 }));
        tensors.extend(tables.into_iter().filter(|_| is_cached(case)));
        let y = Tensor::output("y", case.precision.output, &shape);
        tensors.push(if case.variant.ends_with("in-place") { y.starting_as("x") } else { y });
        tensors
    },
    judged: turned(|line, _| rotated(line, turns(line, line.one_raw(1), angle), is_interleaved(line.case()))),
    mutants: &[
        mutant("pairs of the other layout", |line, _| {
            rotated(line, turns(line, line.one_raw(1), angle), !is_interleaved(line.case()))
        }),
        mutant("turned the other way", |line, _| {
            let turns = turns(line, line.one_raw(1), angle).into_iter().map(|(cos, sin)| (cos, -sin));
            rotated(line, turns.collect(), is_interleaved(line.case()))
        }),
        mutant("place in the sequence taken for the position", |line, _| {
            rotated(line, turns(line, line.start()[0] as f64, angle), is_interleaved(line.case()))
        }),
        mutant("a pair turned in place", |line, _| {
            let (x, is_interleaved) = (line.all(0), is_interleaved(line.case()));
            let turns = turns(line, line.one_raw(1), angle);
            let mut y = rotated(line, turns.clone(), is_interleaved);
            for (i, (cos, sin)) in turns.into_iter().enumerate() {
                let [a, b] = pair(i, x.len(), is_interleaved);
                y[b] = y[a] * sin + x[b] * cos;
            }
            y
        }),
        Mutant {
            of: |case| case.variant == "cached-beyond",
            ..mutant("positions beyond the tables taken from their last row", |line, _| {
                let position = line.one_raw(1).min(CACHED as f64 - 1.0);
                rotated(line, turns(line, position, angle), is_interleaved(line.case()))
            })
        },
        of_angle("angles of the next pair", |line, _| {
            let next = |position, i: usize, line: &Line| angle(position, i + 1, line);
            rotated(line, turns(line, line.one_raw(1), next), is_interleaved(line.case()))
        }),
        of_angle("angles of half the exponent", |line, _| {
            let half = |position, i: usize, line: &Line| {
                position * line.param("base").powf(-(i as f64) / line.len() as f64)
            };
            rotated(line, turns(line, line.one_raw(1), half), is_interleaved(line.case()))
        }),
        of_angle("angles multiplied in f16", |line, _| {
            let narrow = |position: f64, i: usize, line: &Line| {
                format::F16.round(format::F16.round(position) * format::F16.round(angle(1.0, i, line)))
            };
            rotated(line, turns(line, line.one_raw(1), narrow), is_interleaved(line.case()))
        }),
    ],
    ..rowwise::UNARY
};

pub(super) const BASE: Param =
    Param::new("base", "of the angles; nothing where tables have them", 1e4, (1.0, 1e7));

/// Many kernels multiply position and frequency in f32, which is an angle off by 1e-4 at position 2048.
pub(super) const ANGLE_BITS: Param = Param::new(
    "angle-bits",
    "of the significands that angles are computed with, 24 for f32; nothing where tables have them",
    53.0,
    (24.0, 53.0),
);

/// Positions that tables have rows for.
const CACHED: usize = 2048;

const fn turned(formula: rowwise::Formula) -> Judged {
    Judged::Rowwise(Rowwise { formula, along, dimension: |_| 0 })
}

fn is_cached(case: &Case) -> bool {
    case.variant.contains("cached")
}

/// Whether there are positions that tables have no row for.
fn has_angles(case: &Case) -> bool {
    !is_cached(case) || case.variant == "cached-beyond"
}

fn is_interleaved(case: &Case) -> bool {
    case.variant.starts_with("interleaved")
}

/// The places of pair number `i`.
fn pair(i: usize, dim: usize, is_interleaved: bool) -> [usize; 2] {
    if is_interleaved { [2 * i, 2 * i + 1] } else { [i, i + dim / 2] }
}

fn angle(position: f64, i: usize, line: &Line) -> f64 {
    position * frequency(line, i, line.len())
}

/// Cosine and sine of each pair's angle.
fn turns<'a>(
    line: &Line<'a>,
    position: f64,
    angle: fn(f64, usize, &Line) -> f64,
) -> Vec<(Number<'a>, Number<'a>)> {
    if is_cached(line.case()) && position < CACHED as f64 {
        return line.half(2, position as usize).into_iter().zip(line.half(3, position as usize)).collect();
    }
    (0..line.len() / 2).map(|i| turn(line, angle(position, i, line))).collect()
}

/// Cosine and sine of an angle that is a power and a product, by whatever library.
fn turn<'a>(line: &Line<'a>, angle: f64) -> (Number<'a>, Number<'a>) {
    let error = 16.0 * (-line.param("angle-bits")).exp2() * angle.abs();
    (line.within(angle.cos(), error), line.within(angle.sin(), error))
}

/// Cosine and sine for pair number `i` of a head of length `dim`.
pub(super) fn angle_at<'a>(line: &Line<'a>, position: f64, i: usize, dim: usize) -> (Number<'a>, Number<'a>) {
    turn(line, position * frequency(line, i, dim))
}

fn frequency(line: &Line, i: usize, dim: usize) -> f64 {
    line.param("base").powf(-2.0 * i as f64 / dim as f64)
}

fn rotated<'a>(
    line: &Line<'a>,
    turns: Vec<(Number<'a>, Number<'a>)>,
    is_interleaved: bool,
) -> Vec<Number<'a>> {
    let x = line.all(0);
    let mut y = x.clone();
    for (i, (cos, sin)) in turns.into_iter().enumerate() {
        let [a, b] = pair(i, x.len(), is_interleaved);
        (y[a], y[b]) = (x[a] * cos - x[b] * sin, x[a] * sin + x[b] * cos);
    }
    y
}

fn along(case: &Case, input: usize, _: usize) -> Along {
    match input {
        0 if is_interleaved(case) => Along::Pair(|at, _| at ^ 1),
        0 => Along::Pair(|at, dim| (at + dim / 2) % dim),
        1 => Along::Whole,
        _ => Along::By(read),
    }
}

/// The pairs that an element of a table turns: those of its number at its position, in every head.
fn read(problem: &Problem, element: usize) -> Vec<Reach> {
    let [seq, heads, dim] = ["seq", "heads", "dim"].map(|axis| problem.case.axis(axis));
    let (row, i) = (element / (dim / 2), element % (dim / 2));
    let at_row = (0..seq).filter(|at| problem.inputs[1].get(*at) == row as f64);
    let reached = at_row.flat_map(|at| {
        let places = pair(i, dim, is_interleaved(problem.case));
        places.map(|place| Reach { output: 0, first: at * heads * dim + place, step: dim, count: heads })
    });
    reached.collect()
}

const fn mutant(name: &'static str, formula: rowwise::Formula) -> Mutant {
    Mutant { name, fill: Fill::Uniform, wrong: Wrong::Formula(turned(formula)), of: |_| true }
}

/// A wrong angle, where angles are computed.
const fn of_angle(name: &'static str, formula: rowwise::Formula) -> Mutant {
    Mutant { of: has_angles, ..mutant(name, formula) }
}
