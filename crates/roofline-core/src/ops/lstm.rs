//! `lstm`: c' = σ(f)·c + σ(i)·tanh(g) and h' = σ(o)·tanh(c'), each of i, f, g and o being W_ih·x + b_ih + W_hh·h + b_hh, step
//! after step.

use super::rnn::{At, BOTH_WAYS, Cell, How, judged, mutants, of_steps, shared, states, tensors, work};
use crate::number::{Counts, Number};
use crate::operation::{Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "lstm",
    also: &[],
    about: "c' = σ(f)·c + σ(i)·tanh(g), h' = σ(o)·tanh(c'), of gates i, f, g, o, step after step",
    variants: &[
        Variant {
            name: "",
            about: "y[seq,batch,hidden], the last hn and cn[layers,batch,hidden] from x[seq,batch,input], h0, c0, weights and biases",
        },
        Variant { name: "bidirectional", about: BOTH_WAYS },
    ],
    tensors: |case| tensors(case, CELL),
    // Three gates of two steps each, and what is made of them; five functions.
    work: |case| work(case, CELL, Counts { simple: 10, special: 5, ..Counts::default() }),
    judged: judged(|all, output, wanted| states(all, output, wanted, RIGHT)),
    mutants: mutants!(RIGHT;
        shared("the gates i and f exchanged", |all, output, wanted| {
            states(all, output, wanted, How { next: |at| gated(at, [1, 0, 2, 3]), ..RIGHT })
        }),
        shared("the gates g and o exchanged", |all, output, wanted| {
            states(all, output, wanted, How { next: |at| gated(at, [0, 1, 3, 2]), ..RIGHT })
        }),
        of_steps("the cell not carried on", |all, output, wanted| {
            states(all, output, wanted, How { carries_kept: false, ..RIGHT })
        }),
    ),
    ..super::rnn::OPERATION
};

const CELL: Cell = Cell { gates: 4, keeps: true };

const RIGHT: How = How { cell: CELL, next: |at| gated(at, [0, 1, 2, 3]), ..super::rnn::RIGHT };

/// The next state and cell, with the gates i, f, g and o in these blocks of rows.
fn gated<'a>(at: &At<'a, '_>, [i, f, g, o]: [usize; 4]) -> (Vec<Number<'a>>, Vec<Number<'a>>) {
    let next = at.map(|at, u| {
        let kept = at.gate(f, u).sigmoid() * at.kept[u] + at.gate(i, u).sigmoid() * at.gate(g, u).tanh();
        (at.gate(o, u).sigmoid() * kept.tanh(), kept)
    });
    next.into_iter().unzip()
}
