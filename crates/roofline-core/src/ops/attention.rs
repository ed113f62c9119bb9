//! `attention`: each query's mean of the values, weighted by the softmax of its products with the keys.
//!
//! Heads of queries share the heads of keys and values in groups of neighbours, and the last query stands at the last
//! key. Queries that see no key have zeros.

use crate::case::Case;
use crate::dtype::Dtype;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::product;
use crate::operation::family::whole::{self, All, Whole};
use crate::operation::{
    Axis, Judged, Mutant, Operation, Param, Problem, RateUnit, Reach, Variant, Work, Wrong,
};
use crate::precision::Precision;
use crate::tensor::{Content, Tensor};
use std::ops::Range;

pub const OPERATION: Operation = Operation {
    name: "attention",
    also: &["sdpa"],
    about: "y = softmax(scale · q · kᵀ) · v for each head; query i stands at key i + kv - seq",
    variants: &[
        Variant {
            name: "",
            about: "every query sees every key; q[batch,seq,heads,dim], k and v[batch,kv,kv-heads,dim]",
        },
        Variant { name: "causal", about: "a query sees no key after its own" },
        Variant { name: "masked", about: "mask[seq,kv] is added to the products; where all is -inf, y = 0" },
        Variant { name: "sinks", about: "causal, with exp(sinks[heads]) more below each softmax" },
        Variant { name: "soft-cap", about: "causal, of cap · tanh(scale · q · kᵀ / cap)" },
        Variant { name: "heads-first", about: "q[batch,heads,seq,dim], k and v[batch,kv-heads,kv,dim]" },
        Variant { name: "heads-first-causal", about: "the same, and a query sees no key after its own" },
    ],
    axes: &[BATCH, SEQ, KV, HEADS, KV_HEADS, DIM],
    params: &[SCALE, CAP],
    precisions: PRECISIONS,
    fills: Fill::FINITE,
    rate: RateUnit::Flops,
    legal: LEGAL,
    tensors,
    work: |case| {
        let Layout { seq, kv, .. } = Layout::of(case);
        work(case, if is_causal(case) { pairs(seq, kv, kv) } else { product(&[seq, kv]) })
    },
    judged: judged(|all, _, wanted| attended(all, wanted, RIGHT)),
    mutants: &[
        mutant("scale forgotten", Fill::Normal, |all, _, wanted| {
            attended(all, wanted, How { score: |_, product| product, ..RIGHT })
        }),
        mutant("the last key left out", Fill::Normal, |all, _, wanted| {
            let sees = |case: &Case, i| {
                let all = sees(case, i);
                all.start..(all.end - 1).max(all.start + 1)
            };
            attended(all, wanted, How { sees, ..RIGHT })
        }),
        // What is capped, or kept small beside a sink, does not overflow.
        Mutant {
            fill: Fill::Extreme,
            ..of(
                |case| case.variant != "soft-cap" && (case.variant != "sinks" || case.dtype() == Dtype::F64),
                "maximum not subtracted",
                |all, _, wanted| attended(all, wanted, How { pivot: |all, _| all.number(0.0), ..RIGHT }),
            )
        },
        mutant("heads of keys in turn", Fill::Normal, |all, _, wanted| {
            attended(all, wanted, How { head: |groups, head| head % groups.kv_heads, ..RIGHT })
        }),
        mutant("probabilities not divided", Fill::Normal, |all, _, wanted| {
            attended(all, wanted, How { over: |all, _, _| all.number(1.0), ..RIGHT })
        }),
        of(is_causal, "a key too many", |all, _, wanted| {
            let sees = |case: &Case, i| 0..(sees(case, i).end + 1).min(case.axis("kv"));
            attended(all, wanted, How { sees, ..RIGHT })
        }),
        of(is_causal, "keys counted from the first query", |all, _, wanted| {
            attended(all, wanted, How { sees: |_, i| 0..i + 1, ..RIGHT })
        }),
        of(is_causal, "every key seen", |all, _, wanted| {
            attended(all, wanted, How { sees: |case, _| 0..case.axis("kv"), ..RIGHT })
        }),
        of(
            |case| case.variant == "masked",
            "mask not added",
            |all, _, wanted| attended(all, wanted, How { masked: false, ..RIGHT }),
        ),
        of(
            |case| case.variant == "sinks",
            "sink left out",
            |all, _, wanted| {
                attended(all, wanted, How { over: |all, powers, _| all.sum(powers.iter().copied()), ..RIGHT })
            },
        ),
        Mutant {
            fill: Fill::Planted,
            ..of(
                |case| case.variant == "soft-cap",
                "cap not applied",
                |all, _, wanted| {
                    attended(all, wanted, How { score: |all, product| product * scale(all.case()), ..RIGHT })
                },
            )
        },
    ],
};

pub(super) const BATCH: Axis = Axis::new("batch", "sequences").usually(1);
pub(super) const SEQ: Axis = Axis::new("seq", "queries of a sequence");
pub(super) const KV: Axis = Axis::new("kv", "keys and values of a sequence").usually_as("seq");
pub(super) const HEADS: Axis = Axis::new("heads", "heads of queries");
pub(super) const KV_HEADS: Axis = Axis::new("kv-heads", "heads of keys and values").usually_as("heads");
pub(super) const DIM: Axis = Axis::new("dim", "length of a head");

/// Queries are the last of the sequence, in the forms that see all keys too, and groups of heads are whole.
pub(super) const LEGAL: &str = "kv >= seq, heads % kv-heads == 0";

pub(super) const SCALE: Param =
    Param::new("scale", "factor of the products; 0 is 1 / sqrt(dim)", 0.0, (0.0, 1e3));

pub(super) const CAP: Param =
    Param::new("cap", "of `soft-cap`: most that a product counts", 50.0, (1.0, 1e4));

/// Kernels of the 16-bit types may round probabilities before they meet values: a precision of its own.
pub(super) const PRECISIONS: &[Precision] = &[
    Precision::of(Dtype::F32),
    Precision::of(Dtype::Bf16),
    Precision::of(Dtype::F16),
    Precision::BF16_P16,
    Precision::F16_P16,
    Precision::of(Dtype::F64),
];

/// Products of queries and keys stay below this: enough that exponentials overflow, and that those of errors do not. Beside
/// a sink that outweighs all keys, they stay above what f32 has, lest kernels that take denormals for zero lose all.
fn most(case: &Case) -> f64 {
    match case.variant {
        _ if case.dtype() == Dtype::F64 => 8000.0,
        "sinks" => 80.0,
        _ => 1000.0,
    }
}

/// Where things lie.
#[derive(Clone, Copy)]
struct Layout {
    batch: usize,
    seq: usize,
    kv: usize,
    heads: usize,
    kv_heads: usize,
    dim: usize,
    is_heads_first: bool,
}

impl Layout {
    fn of(case: &Case) -> Layout {
        let [batch, seq, kv, heads, kv_heads, dim] =
            ["batch", "seq", "kv", "heads", "kv-heads", "dim"].map(|axis| case.axis(axis));
        let is_heads_first = case.variant.starts_with("heads-first");
        Layout { batch, seq, kv, heads, kv_heads, dim, is_heads_first }
    }

    fn shape(&self, length: usize, heads: usize) -> [usize; 4] {
        let [one, other] = if self.is_heads_first { [heads, length] } else { [length, heads] };
        [self.batch, one, other, self.dim]
    }

    /// Where a head of a query begins.
    fn query(&self, [batch, i, head]: [usize; 3]) -> usize {
        self.first(self.seq, self.heads, [batch, i, head])
    }

    /// Where a head of a key or value begins.
    fn key(&self, [batch, j, head]: [usize; 3]) -> usize {
        self.first(self.kv, self.kv_heads, [batch, j, head])
    }

    fn first(&self, length: usize, heads: usize, [batch, at, head]: [usize; 3]) -> usize {
        let place = if self.is_heads_first { head * length + at } else { at * heads + head };
        (batch * length * heads + place) * self.dim
    }

    /// Batch, place and head of an element of a tensor of so many places and heads.
    fn place(&self, length: usize, heads: usize, element: usize) -> [usize; 3] {
        let row = element / self.dim;
        let (batch, row) = (row / (length * heads), row % (length * heads));
        if self.is_heads_first {
            [batch, row % length, row / length]
        } else {
            [batch, row / heads, row % heads]
        }
    }

    fn groups(&self) -> Groups {
        Groups { heads: self.heads, kv_heads: self.kv_heads }
    }

    fn group(&self) -> usize {
        self.heads / self.kv_heads
    }
}

/// How many heads of queries share how many of keys.
#[derive(Clone, Copy)]
pub(super) struct Groups {
    pub heads: usize,
    pub kv_heads: usize,
}

/// Two products and a softmax between them, of so many pairs of a query and a key that it sees, in each head.
pub(super) fn work(case: &Case, pairs: u64) -> Work {
    let Layout { batch, seq, heads, dim, .. } = Layout::of(case);
    let special = 1 + u64::from(case.variant == "soft-cap");
    let pair = Counts { multiply_adds: 2 * dim as u64, simple: 4, special };
    let mut work = whole::work(case, pair, product(&[batch, heads]).saturating_mul(pairs));
    work.simple = work.simple.saturating_add(product(&[batch, seq, heads, dim + 1]));
    work
}

/// Pairs of a sequence where each query sees the last keys up to its place, `window` of them at most.
pub(super) fn pairs(seq: usize, kv: usize, window: usize) -> u64 {
    let (first, last, window) = ((kv - seq) as u64, kv as u64, window as u64);
    // 1 + 2 + … up to so many, cut at the window.
    let up_to = |all: u64| {
        let rising = all.min(window);
        rising * (rising + 1) / 2 + (all - rising) * window
    };
    up_to(last) - up_to(first)
}

/// Keys that a query sees, by its number.
pub(super) type Sees = fn(&Case, usize) -> Range<usize>;

fn is_causal(case: &Case) -> bool {
    !matches!(case.variant, "" | "masked" | "heads-first")
}

fn sees(case: &Case, i: usize) -> Range<usize> {
    let (seq, kv) = (case.axis("seq"), case.axis("kv"));
    0..if is_causal(case) { i + kv - seq + 1 } else { kv }
}

pub(super) fn scale(case: &Case) -> f64 {
    match case.param("scale") {
        0.0 => 1.0 / (case.axis("dim") as f64).sqrt(),
        scale => scale,
    }
}

pub(super) fn tensors(case: &Case) -> Vec<Tensor> {
    let layout = Layout::of(case);
    let dtype = case.dtype();
    let (queries, keys) = (layout.shape(layout.seq, layout.heads), layout.shape(layout.kv, layout.kv_heads));
    let mut tensors = queries_keys_values(case, &queries, &keys, layout.kv).to_vec();
    match case.variant {
        "masked" => tensors.push(
            Tensor::input("mask", dtype, &[layout.seq, layout.kv])
                .holding(Content::Masked { limit: most(case) }),
        ),
        "sinks" => tensors.push(Tensor::input("sinks", dtype, &[layout.heads]).limit(4.0).rising(16.0)),
        _ => {}
    }
    tensors.push(Tensor::output("y", case.precision.output, &queries));
    tensors
}

/// Queries, keys and values of these shapes, where a query sees so many keys.
pub(super) fn queries_keys_values(
    case: &Case,
    queries: &[usize],
    keys: &[usize],
    seen: usize,
) -> [Tensor; 3] {
    let (dtype, dim) = (case.dtype(), case.axis("dim") as f64);
    // Products overflow neither before nor after they are scaled.
    let limit = (most(case) / (dim * scale(case))).min(Dtype::F32.max_finite() / (16.0 * dim)).sqrt();
    // What one key changes in a mean over many is small.
    let visible = (seen as f64 / 8.0).max(1.0);
    let step = |step: f64| step.min(dtype.max_finite() / 4.0);
    [
        Tensor::input("q", dtype, queries).limit(limit).step(4.0),
        Tensor::input("k", dtype, keys).limit(limit).step(step(8.0 / scale(case))),
        Tensor::input("v", dtype, keys).limit(1e3).step(step(visible)),
    ]
}

const fn judged(formula: whole::Formula) -> Judged {
    Judged::Whole(Whole { formula, reach: |problem, tensor, element| reach(problem, tensor, element, sees) })
}

const fn mutant(name: &'static str, fill: Fill, formula: whole::Formula) -> Mutant {
    Mutant { name, fill, of: |_| true, wrong: Wrong::Formula(judged(formula)) }
}

const fn of(of: fn(&Case) -> bool, name: &'static str, formula: whole::Formula) -> Mutant {
    Mutant { of, ..mutant(name, Fill::Normal, formula) }
}

/// How a kernel goes about it: what mutants change.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub sees: Sees,
    /// The head of keys that a head of queries looks at.
    pub head: fn(Groups, usize) -> usize,
    pub score: for<'a> fn(&All<'a>, Number<'a>) -> Number<'a>,
    pub masked: bool,
    pub pivot: for<'a> fn(&All<'a>, Number<'a>) -> Number<'a>,
    /// What probabilities are divided by: of powers, and the power of a sink where there is one.
    pub over: for<'a> fn(&All<'a>, &[Number<'a>], Option<Number<'a>>) -> Number<'a>,
}

pub(super) const RIGHT: How = How {
    sees,
    head: |groups, head| head / (groups.heads / groups.kv_heads),
    score: |all, product| {
        let score = product * scale(all.case());
        if all.variant() != "soft-cap" {
            return score;
        }
        let cap = all.case().param("cap");
        (score / cap).tanh() * cap
    },
    masked: true,
    pivot: |_, most| most,
    over: |all, powers, sink| all.sum(powers.iter().copied().chain(sink)),
};

/// The wanted elements, a head of a query at a time.
pub(super) fn attended<'a>(all: &All<'a>, wanted: &[usize], how: How) -> Vec<Number<'a>> {
    let layout = Layout::of(all.case());
    let mut attended = Vec::with_capacity(wanted.len());
    for of_query in wanted.chunk_by(|one, next| one / layout.dim == next / layout.dim) {
        let [batch, i, head] = layout.place(layout.seq, layout.heads, of_query[0]);
        let kv_head = (how.head)(layout.groups(), head);
        let mask = |j: usize| all.x(3, i * layout.kv + j);
        let is_masked = all.variant() == "masked" && how.masked;
        let is_open = |j: &usize| !is_masked || mask(*j).value != f64::NEG_INFINITY;
        let seen: Vec<usize> = (how.sees)(all.case(), i).filter(is_open).collect();
        let seen = Seen {
            keys: seen.iter().map(|j| layout.key([batch, *j, kv_head])).collect(),
            mask: is_masked.then(|| seen.iter().map(|j| mask(*j)).collect()),
            sink: (all.variant() == "sinks").then(|| all.x(3, head)),
        };
        attended.extend(mean_of(all, layout.query([batch, i, head]), seen, of_query, how));
    }
    attended
}

/// What a head of a query sees: where its keys and values begin, what is added to the products with them, and what counts
/// beside them.
#[derive(Default)]
pub(super) struct Seen<'a> {
    pub keys: Vec<usize>,
    pub mask: Option<Vec<Number<'a>>>,
    pub sink: Option<Number<'a>>,
}

/// The wanted elements of one head of one query, which begins at `query`: zeros where it sees nothing.
pub(super) fn mean_of<'a>(
    all: &All<'a>,
    query: usize,
    Seen { keys, mask, sink }: Seen<'a>,
    wanted: &[usize],
    how: How,
) -> Vec<Number<'a>> {
    let dim = all.axis("dim");
    if keys.is_empty() {
        return wanted.iter().map(|_| all.number(0.0)).collect();
    }
    let products = all.dots((0, query..query + dim), (1, keys.iter().copied(), 1));
    let mut scores: Vec<Number> = products.into_iter().map(|product| (how.score)(all, product)).collect();
    if let Some(mask) = mask {
        scores.iter_mut().zip(mask).for_each(|(score, mask)| *score = *score + mask);
    }
    let pivot = (how.pivot)(all, all.max(scores.iter().copied().chain(sink)));
    let powers: Vec<Number> = scores.into_iter().map(|score| (score - pivot).exp()).collect();
    let over = (how.over)(all, &powers, sink.map(|sink| (sink - pivot).exp()));
    let powers: Vec<Number> = match all.case().precision.halfway {
        Some(dtype) => powers.into_iter().map(|power| power.rounded_to(dtype)).collect(),
        None => powers,
    };
    let mean = |element: &usize| {
        let values: Vec<Number> = keys.iter().map(|first| all.x(2, first + element % dim)).collect();
        all.dot(&powers, &values) / over
    };
    wanted.iter().map(mean).collect()
}

/// A query reaches its own head, a key those of its group that see it, a value the same at its place.
pub(super) fn reach(problem: &Problem, tensor: usize, element: usize, sees: Sees) -> Vec<Reach> {
    let layout = Layout::of(problem.case);
    let whole = |at| Reach { output: 0, first: layout.query(at), step: 1, count: layout.dim };
    let all = |queries: Range<usize>, heads: Range<usize>, batches: Range<usize>| {
        let heads = move |i| heads.clone().map(move |head| (i, head));
        let places = queries.flat_map(heads).collect::<Vec<_>>();
        batches.flat_map(move |batch| places.clone().into_iter().map(move |(i, head)| [batch, i, head]))
    };
    let is_open = |i: usize, j: usize| {
        sees(problem.case, i).contains(&j)
            && (problem.case.variant != "masked"
                || problem.inputs[3].get(i * layout.kv + j) != f64::NEG_INFINITY)
    };
    match (tensor, problem.case.variant) {
        (0, _) => vec![whole(layout.place(layout.seq, layout.heads, element))],
        (1 | 2, _) => {
            let [batch, j, head] = layout.place(layout.kv, layout.kv_heads, element);
            let heads = head * layout.group()..(head + 1) * layout.group();
            let reached = all(0..layout.seq, heads, batch..batch + 1).filter(|[_, i, _]| is_open(*i, j));
            let of_value =
                |at| Reach { first: layout.query(at) + element % layout.dim, count: 1, ..whole(at) };
            reached.map(|at| if tensor == 1 { whole(at) } else { of_value(at) }).collect()
        }
        (_, "masked") => {
            let i = element / layout.kv;
            all(i..i + 1, 0..layout.heads, 0..layout.batch).map(whole).collect()
        }
        _ => all(0..layout.seq, element..element + 1, 0..layout.batch).map(whole).collect(),
    }
}
