//! `varlen-attention`: attention of several sequences that lie packed one behind another, as a batch of prompts does.
//!
//! Sequence i has the tokens from offsets[i] up to offsets[i + 1], and its queries see no other. A query's place is counted
//! from where its sequence begins.

use super::attention::{
    DIM, Groups, HEADS, How, KV_HEADS, PRECISIONS, RIGHT, SCALE, Seen, mean_of, pairs, queries_keys_values,
};
use crate::case::Case;
use crate::dtype::Dtype::I32;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::product;
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Mutant, Operation, Problem, RateUnit, Reach, Variant, Work};
use crate::tensor::{Content, Tensor};
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "varlen-attention",
    also: &["ragged-attention"],
    about: "attention within each of several sequences that lie one behind another",
    variants: &[
        Variant { name: "", about: "q[tokens,heads,dim], k and v[tokens,kv-heads,dim], offsets[batch + 1]" },
        Variant { name: "causal", about: "the same, and a query sees no key after its own" },
    ],
    axes: &[
        Axis::new("batch", "sequences"),
        Axis::new("tokens", "tokens of all sequences together"),
        HEADS,
        KV_HEADS,
        DIM,
    ],
    params: &[SCALE],
    precisions: PRECISIONS,
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    legal: "batch >= 1, heads % kv-heads == 0, tokens <= 2147483647",
    tensors: |case| {
        let Layout { batch, tokens, heads, kv_heads, dim } = Layout::of(case);
        let (queries, keys) = ([tokens, heads, dim], [tokens, kv_heads, dim]);
        let [q, k, v] = queries_keys_values(case, &queries, &keys, tokens / batch.max(1));
        let offsets = Tensor::input("offsets", I32, &[batch.saturating_add(1)])
            .holding(Content::Offsets { total: tokens as u64 });
        vec![q, k, v, offsets, Tensor::output("y", case.precision.output, &queries)]
    },
    work: |case| {
        let Layout { tokens, heads, dim, .. } = Layout::of(case);
        let pair = Counts { multiply_adds: 2 * dim as u64, simple: 4, special: 1 };
        let work = whole::work(case, pair, fewest_pairs(case).saturating_mul(heads as u64));
        Work { simple: work.simple.saturating_add(product(&[tokens, heads, dim + 1])), ..work }
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| attended(all, wanted, RIGHT, seen_by), reach }),
    mutants: &[
        mutant("sequences not kept apart", |all, _, wanted| {
            attended(all, wanted, RIGHT, |all, token| {
                0..if is_causal(all.case()) { token + 1 } else { all.axis("tokens") }
            })
        }),
        mutant("a sequence that begins one too late", |all, _, wanted| {
            attended(all, wanted, RIGHT, |all, token| {
                let right = seen_by(all, token);
                (right.start + 1).min(right.end - 1)..right.end
            })
        }),
        mutant("a sequence that ends one too late", |all, _, wanted| {
            attended(all, wanted, RIGHT, |all, token| {
                let right = seen_by(all, token);
                right.start..(right.end + 1).min(all.axis("tokens"))
            })
        }),
        Mutant {
            of: is_causal,
            ..mutant("the mask counted from the first sequence", |all, _, wanted| {
                attended(all, wanted, RIGHT, |all, token| {
                    let own = sequence(|at| all.raw(3, at) as usize, token);
                    own.start..(own.start + token + 1).min(own.end)
                })
            })
        },
        mutant("heads of keys in turn", |all, _, wanted| {
            attended(all, wanted, How { head: |groups, head| head % groups.kv_heads, ..RIGHT }, seen_by)
        }),
        mutant("scale forgotten", |all, _, wanted| {
            attended(all, wanted, How { score: |_, product| product, ..RIGHT }, seen_by)
        }),
    ],
};

/// Sizes.
struct Layout {
    batch: usize,
    tokens: usize,
    heads: usize,
    kv_heads: usize,
    dim: usize,
}

impl Layout {
    fn of(case: &Case) -> Layout {
        let [batch, tokens, heads, kv_heads, dim] =
            ["batch", "tokens", "heads", "kv-heads", "dim"].map(|axis| case.axis(axis));
        Layout { batch, tokens, heads, kv_heads, dim }
    }
}

fn is_causal(case: &Case) -> bool {
    case.variant == "causal"
}

/// Pairs of a query and a key that there are however the sequences lie: there are fewest where they are as long as each
/// other.
fn fewest_pairs(case: &Case) -> u64 {
    let Layout { batch, tokens, .. } = Layout::of(case);
    let (length, longer) = (tokens / batch.max(1), (tokens % batch.max(1)) as u64);
    let of = |length: usize| {
        if is_causal(case) { pairs(length, length, length) } else { product(&[length, length]) }
    };
    longer.saturating_mul(of(length + 1)).saturating_add((batch as u64 - longer).saturating_mul(of(length)))
}

/// The tokens of the sequence that a token belongs to.
fn sequence(offset: impl Fn(usize) -> usize, token: usize) -> Range<usize> {
    let end = (1..).find(|at| offset(*at) > token).unwrap_or(1);
    offset(end - 1)..offset(end)
}

/// The keys that a token's query sees.
fn seen_by(all: &All, token: usize) -> Range<usize> {
    seen(all.case(), sequence(|at| all.raw(3, at) as usize, token), token)
}

fn seen(case: &Case, own: Range<usize>, token: usize) -> Range<usize> {
    own.start..if is_causal(case) { token + 1 } else { own.end }
}

fn attended<'a>(
    all: &All<'a>,
    wanted: &[usize],
    how: How,
    seen_by: fn(&All, usize) -> Range<usize>,
) -> Vec<Number<'a>> {
    let Layout { heads, kv_heads, dim, .. } = Layout::of(all.case());
    let of_head = |wanted: &[usize]| {
        let row = wanted[0] / dim;
        let head = (how.head)(Groups { heads, kv_heads }, row % heads);
        let keys = seen_by(all, row / heads).map(|key| (key * kv_heads + head) * dim).collect();
        mean_of(all, row * dim, Seen { keys, ..Seen::default() }, wanted, how)
    };
    wanted.chunk_by(|one, next| one / dim == next / dim).flat_map(of_head).collect()
}

fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let Layout { tokens, heads, kv_heads, dim, .. } = Layout::of(problem.case);
    let all =
        |first: usize, count: usize| Reach { output: 0, first: first * dim, step: 1, count: count * dim };
    let own = |token: usize| sequence(|at| problem.inputs[3].get(at) as usize, token);
    let seen = |token: usize| seen(problem.case, own(token), token);
    // The softmax of one product is 1, whatever that is.
    let has_choice = |token: &usize| seen(*token).len() > 1;
    match tensor {
        0 => Some(all(element / dim, 1))
            .filter(|_| has_choice(&(element / (heads * dim))))
            .into_iter()
            .collect(),
        1 | 2 => {
            let (key, head, group) = (element / (kv_heads * dim), element / dim % kv_heads, heads / kv_heads);
            let queries = own(key).filter(|token| seen(*token).contains(&key));
            let first = |token: usize| token * heads + head * group;
            match tensor {
                1 => queries.filter(has_choice).map(|token| all(first(token), group)).collect(),
                _ => queries
                    .map(|token| Reach {
                        output: 0,
                        first: first(token) * dim + element % dim,
                        step: dim,
                        count: group,
                    })
                    .collect(),
            }
        }
        _ => vec![all(0, tokens * heads)],
    }
}
