//! `gru`: h' = (1 − z)·n + z·h with r and z = σ(W_ih·x + b_ih + W_hh·h + b_hh) and n = tanh(W_ih·x + b_ih + r·(W_hh·h + b_hh)),
//! step after step: the gate r comes after the product, as in PyTorch and cuDNN.

use super::rnn::{At, BOTH_WAYS, Cell, How, judged, mutants, shared, states, tensors, work};
use crate::number::{Counts, Number};
use crate::operation::{Operation, Variant};

pub const OPERATION: Operation = Operation {
    name: "gru",
    also: &[],
    about: "h' = (1 - z)·n + z·h, n = tanh(W_ih·x + b_ih + r·(W_hh·h + b_hh)), of gates r, z, n, step after step",
    variants: &[
        Variant {
            name: "",
            about: "y[seq,batch,hidden] and the last state hn[layers,batch,hidden] from x[seq,batch,input], h0, weights and biases",
        },
        Variant { name: "bidirectional", about: BOTH_WAYS },
    ],
    tensors: |case| tensors(case, CELL),
    // Two gates of two steps each, and what is made of them; three functions.
    work: |case| work(case, CELL, Counts { simple: 8, special: 3, ..Counts::default() }),
    judged: judged(|all, output, wanted| states(all, output, wanted, RIGHT)),
    mutants: mutants!(RIGHT;
        shared("the gates r and z exchanged", |all, output, wanted| {
            states(all, output, wanted, How { next: |at| gated(at, [1, 0], after), ..RIGHT })
        }),
        shared("the gate r before the product", |all, output, wanted| {
            states(all, output, wanted, How { next: |at| gated(at, [0, 1], ahead), ..RIGHT })
        }),
    ),
    ..super::rnn::OPERATION
};

const CELL: Cell = Cell { gates: 3, keeps: false };

const RIGHT: How = How { cell: CELL, next: |at| gated(at, [0, 1], after), ..super::rnn::RIGHT };

/// What the state gives to n, the gate r being known.
type Candidate = for<'a> fn(&At<'a, '_>, &[Number<'a>]) -> Vec<Number<'a>>;

fn after<'a>(at: &At<'a, '_>, r: &[Number<'a>]) -> Vec<Number<'a>> {
    at.map(|at, u| r[u] * at.from_state[2 * r.len() + u])
}

fn ahead<'a>(at: &At<'a, '_>, r: &[Number<'a>]) -> Vec<Number<'a>> {
    let state = at.map(|at, u| r[u] * at.state[u]);
    at.of_state(&state).split_off(2 * r.len())
}

/// The next state, with the gates r and z in these blocks of rows.
fn gated<'a>(
    at: &At<'a, '_>,
    [r, z]: [usize; 2],
    candidate: Candidate,
) -> (Vec<Number<'a>>, Vec<Number<'a>>) {
    let r = at.map(|at, u| at.gate(r, u).sigmoid());
    let given = candidate(at, &r);
    let next = at.map(|at, u| {
        let z = at.gate(z, u).sigmoid();
        let n = (at.from_input[2 * r.len() + u] + given[u]).tanh();
        // Between n and the state before: as far out as the first state at most.
        ((1.0 - z) * n + z * at.state[u]).off_by_at_most(4.0)
    });
    (next, Vec::new())
}
