//! `moe-permute`: the rows of tokens sorted by their experts, as [`grouped_matmul`](super::grouped_matmul) takes them.
//!
//! Each token has several experts, and so as many places. Places are numbered token by token; those of an expert stay in
//! this order.

use crate::case::Case;
use crate::dtype::Dtype::I32;
use crate::instance::POISON;
use crate::number::{Counts, Number};
use crate::operation::family::elementwise;
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Operation, Problem, Reach};
use crate::tensor::{Content, Tensor};
use std::collections::BTreeSet;

pub const OPERATION: Operation = Operation {
    name: "moe-permute",
    also: &["permute-tokens"],
    about: "order = numbers i · top + j sorted by at[i,j], offsets[e] = those of experts before e, y[p] = x[order[p] / top]",
    axes: &[
        Axis::new("rows", "tokens"),
        Axis::new("experts", "experts to sort by"),
        Axis::new("top", "experts of a token"),
        Axis::new("cols", "length of a row"),
    ],
    legal: "rows * top <= 2147483647, experts >= top, experts < 2147483647",
    tensors: |case| {
        let [rows, experts, top, cols] = sizes(case);
        let all = rows.saturating_mul(top);
        let experts_of = Content::Indices { below: experts as u64, none: None };
        vec![
            Tensor::input("x", case.dtype(), &[rows, cols]),
            Tensor::input("at", I32, &[rows, top]).holding(experts_of).sorted_by(),
            Tensor::output("y", case.precision.output, &[all, cols]),
            Tensor::output("order", I32, &[all]),
            Tensor::output("offsets", I32, &[experts.saturating_add(1)]),
        ]
    },
    work: |case| {
        let [rows, _, top, _] = sizes(case).map(|size| size as u64);
        whole::work(case, Counts { simple: 1, ..Counts::default() }, rows.saturating_mul(top))
    },
    judged: Judged::Whole(Whole { formula: |all, output, wanted| sorted(all, output, wanted, RIGHT), reach }),
    mutants: &[
        mutant("places of an expert the other way round", |all, output, wanted| {
            let key = |(expert, place): &(usize, usize)| (*expert, usize::MAX - place);
            sorted(all, output, wanted, How { key, ..RIGHT })
        }),
        mutant("rows left in their order", |all, output, wanted| {
            sorted(all, output, wanted, How { key: |(_, place)| (0, *place), ..RIGHT })
        }),
        mutant("rows of places, not of tokens", |all, output, wanted| {
            sorted(all, output, wanted, How { token: |place, rows, _| place % rows, ..RIGHT })
        }),
        mutant("ends in place of beginnings", |all, output, wanted| {
            let before = |expert: usize, experts: usize| (expert + 1).min(experts);
            sorted(all, output, wanted, How { before, ..RIGHT })
        }),
        mutant("the number of all not written", |all, output, wanted| {
            let right = sorted(all, output, wanted, RIGHT).into_iter().zip(wanted);
            let is_last = |place: usize| output == 2 && place == all.axis("experts");
            right.map(|(y, place)| if is_last(*place) { all.number(POISON) } else { y }).collect()
        }),
    ],
    ..elementwise::UNARY
};

fn sizes(case: &Case) -> [usize; 4] {
    ["rows", "experts", "top", "cols"].map(|axis| case.axis(axis))
}

/// How a kernel goes about it: what mutants change.
#[derive(Clone, Copy)]
struct How {
    /// What places are sorted by, of expert and number.
    key: fn(&(usize, usize)) -> (usize, usize),
    /// The token of a place, of so many tokens with so many experts each.
    token: fn(usize, usize, usize) -> usize,
    /// Places of the experts before this one, of so many, are what stands at an expert's offset.
    before: fn(usize, usize) -> usize,
}

const RIGHT: How = How {
    key: |(expert, place)| (*expert, *place),
    token: |place, _, top| place / top,
    before: |expert, _| expert,
};

/// Places with their experts, in the order that a kernel sorts them in.
fn order(problem: &Problem, key: fn(&(usize, usize)) -> (usize, usize)) -> Vec<(usize, usize)> {
    let [rows, _, top, _] = sizes(problem.case);
    let experts = problem.inputs[1].line(0, 1, rows * top);
    let mut places: Vec<(usize, usize)> =
        experts.into_iter().enumerate().map(|(place, expert)| (expert as usize, place)).collect();
    places.sort_by_key(key);
    places
}

fn sorted<'a>(all: &All<'a>, output: usize, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let [rows, experts, top, cols] = sizes(all.case());
    let order = order(all.problem(), if output == 2 { RIGHT.key } else { how.key });
    let element = |index: &usize| match output {
        0 => all.x(0, (how.token)(order[index / cols].1, rows, top) * cols + index % cols),
        1 => all.number(order[*index].1 as f64),
        _ => {
            let expert = (how.before)(*index, experts);
            all.number(order.partition_point(|(other, _)| *other < expert) as f64)
        }
    };
    wanted.iter().map(element).collect()
}

/// A row reaches its places. A place that leaves its expert for any other takes a place between two others, and whoever is
/// between the old and the new one moves by one.
fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [_, experts, top, cols] = sizes(problem.case);
    let order = order(problem, RIGHT.key);
    let token = |at: usize| order[at].1 / top;
    if tensor == 0 {
        let own = (0..order.len()).filter(|at| token(*at) == element / cols);
        let one = |at: usize| Reach { output: 0, first: at * cols + element % cols, step: 1, count: 1 };
        return own.map(one).collect();
    }
    let own = order.iter().position(|(_, place)| *place == element).unwrap_or(0);
    // Where it comes to with each expert, itself taken out.
    let place_of = |expert: usize| {
        let before = order.partition_point(|place| *place < (expert, element));
        before - usize::from(before > own)
    };
    let places: BTreeSet<usize> = (0..experts).map(place_of).collect();
    let (low, high) = (places.first().copied().unwrap_or(own), places.last().copied().unwrap_or(own));
    let line = |output: usize, first: usize, count: usize| Reach { output, first, step: 1, count };
    let inner = Some(line(2, 1, experts - 1)).filter(|inner| inner.count > 0);
    if low == high {
        return inner.into_iter().collect();
    }
    // Rows that become those of another token.
    let moves = |at: usize| {
        (at >= own && at < high && token(at) != token(at + 1))
            || (at <= own && at > low && token(at) != token(at - 1))
            || (places.contains(&at) && token(at) != element / top)
    };
    let rows = (low..=high).filter(|at| moves(*at)).map(|at| line(0, at * cols, cols));
    // Its own number first: there a change shows whatever expert it comes to.
    [line(1, own, 1), line(1, low, high + 1 - low)].into_iter().chain(inner).chain(rows).collect()
}
