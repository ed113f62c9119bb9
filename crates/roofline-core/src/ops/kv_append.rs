//! `kv-append`: new keys and values into the slots of a cache, whose other slots stay what they are.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::number::{Counts, Number};
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::family::{elementwise, movement};
use crate::operation::{Axis, Judged, Operation, Problem, Reach};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "kv-append",
    also: &["reshape-and-cache"],
    about: "k-cache[slot[i]] = k[i], v-cache[slot[i]] = v[i]; slots differ, the others keep what they hold",
    axes: &[
        Axis::new("seq", "new keys and values"),
        Axis::new("kept", "slots of the cache that keep what they hold"),
        Axis::new("heads", "heads of keys and values"),
        Axis::new("dim", "length of a head"),
    ],
    legal: "seq + kept <= 2147483647",
    tensors: |case| {
        let [seq, slots, heads, dim] = sizes(case);
        let (new, cache) = ([seq, heads, dim], [slots, heads, dim]);
        let written = seq.saturating_mul(heads).saturating_mul(dim);
        let output = |name, before| {
            Tensor::output(name, case.precision.output, &cache).starting_as(before).written_in_part(written)
        };
        vec![
            Tensor::input("k", case.dtype(), &new),
            Tensor::input("v", case.dtype(), &new),
            Tensor::input("slot", Dtype::I32, &[seq]).holding(Content::Order { below: slots as u64 }),
            Tensor::input("k-before", case.dtype(), &cache).read_in_part(0),
            Tensor::input("v-before", case.dtype(), &cache).read_in_part(0),
            output("k-cache", "k-before"),
            output("v-cache", "v-before"),
        ]
    },
    work: |case| whole::work(case, Counts::default(), 0),
    judged: Judged::Whole(Whole { formula: |all, output, wanted| cached(all, output, wanted, RIGHT), reach }),
    mutants: &[
        mutant("the last one left out", |all, output, wanted| {
            cached(all, output, wanted, How { count: |seq| seq - 1, ..RIGHT })
        }),
        mutant("slots in a row from the first", |all, output, wanted| {
            let slot = |all: &All, i: usize| (all.raw(2, 0) as usize + i) % sizes(all.case())[1];
            cached(all, output, wanted, How { slot, ..RIGHT })
        }),
        mutant("keys for values", |all, output, wanted| {
            cached(all, output, wanted, How { new: |_| 0, ..RIGHT })
        }),
        mutant("other slots cleared", |all, output, wanted| {
            cached(all, output, wanted, How { keeps: false, ..RIGHT })
        }),
    ],
    ..elementwise::UNARY
};

/// New keys, slots, heads, and the length of a head.
fn sizes(case: &Case) -> [usize; 4] {
    let [seq, kept, heads, dim] = ["seq", "kept", "heads", "dim"].map(|axis| case.axis(axis));
    [seq, seq.saturating_add(kept), heads, dim]
}

/// How a kernel goes about it: what mutants change.
#[derive(Clone, Copy)]
struct How {
    /// How many of the new ones are written.
    count: fn(usize) -> usize,
    slot: fn(&All, usize) -> usize,
    /// The input that is new in an output.
    new: fn(usize) -> usize,
    /// Whether other slots keep what they hold.
    keeps: bool,
}

const RIGHT: How =
    How { count: |seq| seq, slot: |all, i| all.raw(2, i) as usize, new: |output| output, keeps: true };

fn cached<'a>(all: &All<'a>, output: usize, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let [seq, slots, heads, dim] = sizes(all.case());
    let length = heads * dim;
    let mut from = vec![None; slots];
    (0..(how.count)(seq)).for_each(|i| from[(how.slot)(all, i)] = Some(i));
    let value = |index: &usize| match from[index / length] {
        Some(i) => all.x((how.new)(output), i * length + index % length),
        None if how.keeps => all.x(3 + output, *index),
        None => all.number(0.0),
    };
    wanted.iter().map(value).collect()
}

fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let [seq, _, heads, dim] = sizes(problem.case);
    let length = heads * dim;
    let slot = |i: usize| problem.inputs[2].get(i) as usize;
    match tensor {
        0 | 1 => movement::one(tensor, slot(element / length) * length + element % length),
        2 => (0..2)
            .map(|output| Reach { output, first: slot(element) * length, step: 1, count: length })
            .collect(),
        _ if (0..seq).any(|i| slot(i) == element / length) => Vec::new(),
        _ => movement::one(tensor - 3, element),
    }
}
