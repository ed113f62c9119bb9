//! `window-attention`: causal attention to the last keys alone, as many as the window is long.

use super::attention::{
    self, BATCH, CAP, DIM, HEADS, How, KV, KV_HEADS, LEGAL, PRECISIONS, RIGHT, SCALE, SEQ, attended, reach,
    scale,
};
use crate::case::Case;
use crate::fill::Fill;
use crate::operation::family::whole::{self, Whole};
use crate::operation::{Axis, Judged, Mutant, Operation, Variant, Wrong};
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "window-attention",
    also: &[],
    about: "attention.causal to the last `window` keys, a query's own place included",
    variants: &[
        Variant { name: "", about: "the plain form" },
        Variant { name: "sinks", about: "with exp(sinks[heads]) more below each softmax" },
        Variant { name: "soft-cap", about: "of cap · tanh(scale · q · kᵀ / cap)" },
    ],
    axes: &[BATCH, SEQ, KV, HEADS, KV_HEADS, DIM, Axis::new("window", "keys that a query sees")],
    params: &[SCALE, CAP],
    precisions: PRECISIONS,
    fills: Fill::FINITE,
    legal: LEGAL,
    tensors: |case| {
        let mut tensors = attention::tensors(case);
        let [seq, kv, window] = sizes(case);
        let read = (seq + window).saturating_sub(1).min(kv);
        for keys in &mut tensors[1..3] {
            let of_key =
                keys.shape.iter().fold(1, |product: usize, size| product.saturating_mul(*size)) / kv.max(1);
            keys.read = Some(of_key.saturating_mul(read)).filter(|_| read < kv);
        }
        tensors
    },
    work: |case| {
        let [seq, kv, window] = sizes(case);
        attention::work(case, attention::pairs(seq, kv, window))
    },
    judged: judged(|all, _, wanted| attended(all, wanted, How { sees, ..RIGHT })),
    mutants: &[
        mutant("a window too long by one", |all, _, wanted| {
            let sees = |case: &Case, i| sees(case, i).start.saturating_sub(1)..sees(case, i).end;
            attended(all, wanted, How { sees, ..RIGHT })
        }),
        mutant("a window too short by one", |all, _, wanted| {
            let sees = |case: &Case, i| {
                let right = sees(case, i);
                (right.start + 1).min(right.end - 1)..right.end
            };
            attended(all, wanted, How { sees, ..RIGHT })
        }),
        mutant("every earlier key seen", |all, _, wanted| {
            attended(all, wanted, How { sees: |case, i| 0..sees(case, i).end, ..RIGHT })
        }),
        mutant("heads of keys in turn", |all, _, wanted| {
            attended(all, wanted, How { sees, head: |groups, head| head % groups.kv_heads, ..RIGHT })
        }),
        Mutant {
            of: |case| case.variant == "sinks",
            ..mutant("sink left out", |all, _, wanted| {
                attended(
                    all,
                    wanted,
                    How { sees, over: |all, powers, _| all.sum(powers.iter().copied()), ..RIGHT },
                )
            })
        },
        Mutant {
            of: |case| case.variant == "soft-cap",
            fill: Fill::Planted,
            ..mutant("cap not applied", |all, _, wanted| {
                attended(
                    all,
                    wanted,
                    How { sees, score: |all, product| product * scale(all.case()), ..RIGHT },
                )
            })
        },
    ],
    ..attention::OPERATION
};

/// The last keys up to the place of query number `i`.
fn sees(case: &Case, i: usize) -> Range<usize> {
    let [seq, kv, window] = sizes(case);
    let end = i + kv - seq + 1;
    end.saturating_sub(window)..end
}

fn sizes(case: &Case) -> [usize; 3] {
    ["seq", "kv", "window"].map(|axis| case.axis(axis))
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach: |problem, tensor, element| reach(problem, tensor, element, sees) })
}

const fn mutant(name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { name, fill: Fill::Normal, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}
