//! `paged-attention`: one query a sequence to all its keys and values, which lie in pages of a pool.
//!
//! The pages of sequence i are those that `pages` names from offsets[i] up to offsets[i + 1], all full but the last, whose
//! last key stands at last[i]. A sequence without pages has zeros.

use super::attention::{
    DIM, Groups, HEADS, How, KV_HEADS, PRECISIONS, RIGHT, SCALE, Seen, mean_of, queries_keys_values,
};
use crate::case::Case;
use crate::dtype::Dtype::I32;
use crate::fill::Fill;
use crate::number::{Counts, Number};
use crate::operation::family::product;
use crate::operation::family::whole::{self, All, Whole, mutant};
use crate::operation::{Axis, Judged, Operation, Problem, RateUnit, Reach, Variant, Work};
use crate::tensor::{Content, Tensor};

pub const OPERATION: Operation = Operation {
    name: "paged-attention",
    also: &[],
    about: "attention of one query a sequence, whose keys and values lie in pages of a pool",
    variants: &[Variant {
        name: "",
        about: "q[batch,heads,dim], k and v[pages,page,kv-heads,dim]; pages[pages], offsets[batch + 1], last[batch]",
    }],
    axes: &[
        Axis::new("batch", "sequences, each with a query"),
        Axis::new("pages", "pages of all sequences together"),
        Axis::new("page", "keys of a page"),
        HEADS,
        KV_HEADS,
        DIM,
    ],
    params: &[SCALE],
    precisions: PRECISIONS,
    fills: Fill::FINITE,
    rate: RateUnit::Bytes,
    legal: "heads % kv-heads == 0, pages <= 2147483647, page <= 2147483647",
    tensors: |case| {
        let Layout { batch, pages, page, heads, kv_heads, dim } = Layout::of(case);
        let read = (fewest_keys(case) as usize).saturating_mul(kv_heads).saturating_mul(dim);
        let seen = pages.saturating_mul(page) / batch.max(1);
        let [q, k, v] = queries_keys_values(case, &[batch, heads, dim], &[pages, page, kv_heads, dim], seen);
        vec![
            q,
            k.read_in_part(read),
            v.read_in_part(read),
            Tensor::input("pages", I32, &[pages]).holding(Content::Order { below: pages as u64 }),
            Tensor::input("offsets", I32, &[batch.saturating_add(1)])
                .holding(Content::Offsets { total: pages as u64 }),
            Tensor::input("last", I32, &[batch]).holding(Content::Indices { below: page as u64, none: None }),
            Tensor::output("y", case.precision.output, &[batch, heads, dim]),
        ]
    },
    work: |case| {
        let Layout { batch, heads, dim, .. } = Layout::of(case);
        let pair = Counts { multiply_adds: 2 * dim as u64, simple: 4, special: 1 };
        let work = whole::work(case, pair, fewest_keys(case).saturating_mul(heads as u64));
        Work { simple: work.simple.saturating_add(product(&[batch, heads, dim + 1])), ..work }
    },
    judged: Judged::Whole(Whole { formula: |all, _, wanted| attended(all, wanted, RIGHT, keys_of), reach }),
    mutants: &[
        mutant("pages in the order of the pool", |all, _, wanted| {
            attended(all, wanted, RIGHT, |all, i| {
                let right = keys_of(all, i);
                let first = all.raw(4, i) as usize * all.axis("page");
                (first..first + right.len()).collect()
            })
        }),
        mutant("the last page taken for a full one", |all, _, wanted| {
            attended(all, wanted, RIGHT, |all, i| keys_up_to(all, i, all.axis("page")))
        }),
        mutant("the last key left out", |all, _, wanted| {
            attended(all, wanted, RIGHT, |all, i| {
                let mut keys = keys_of(all, i);
                keys.truncate(keys.len().saturating_sub(1).max(1));
                keys
            })
        }),
        mutant("heads of keys in turn", |all, _, wanted| {
            attended(all, wanted, How { head: |groups, head| head % groups.kv_heads, ..RIGHT }, keys_of)
        }),
        mutant("scale forgotten", |all, _, wanted| {
            attended(all, wanted, How { score: |_, product| product, ..RIGHT }, keys_of)
        }),
    ],
};

/// Sizes.
struct Layout {
    batch: usize,
    pages: usize,
    page: usize,
    heads: usize,
    kv_heads: usize,
    dim: usize,
}

impl Layout {
    fn of(case: &Case) -> Layout {
        let [batch, pages, page, heads, kv_heads, dim] =
            ["batch", "pages", "page", "heads", "kv-heads", "dim"].map(|axis| case.axis(axis));
        Layout { batch, pages, page, heads, kv_heads, dim }
    }
}

/// Keys that there are however pages and last keys lie: full pages, and one key of each sequence's last.
fn fewest_keys(case: &Case) -> u64 {
    let Layout { batch, pages, page, .. } = Layout::of(case);
    let last = batch.min(pages) as u64;
    (pages as u64 - last).saturating_mul(page as u64).saturating_add(last)
}

/// The places in the pool of the keys of sequence `i`.
fn keys_of(all: &All, i: usize) -> Vec<usize> {
    keys_up_to(all, i, all.raw(5, i) as usize + 1)
}

/// The same with so many keys in the last page.
fn keys_up_to(all: &All, i: usize, in_last: usize) -> Vec<usize> {
    let page = all.axis("page");
    let [first, end] = [i, i + 1].map(|at| all.raw(4, at) as usize);
    let of_page = |at: usize| {
        let (place, count) = (all.raw(3, at) as usize, if at + 1 == end { in_last } else { page });
        (0..count).map(move |key| place * page + key)
    };
    (first..end).flat_map(of_page).collect()
}

fn attended<'a>(
    all: &All<'a>,
    wanted: &[usize],
    how: How,
    keys_of: fn(&All, usize) -> Vec<usize>,
) -> Vec<Number<'a>> {
    let Layout { heads, kv_heads, dim, .. } = Layout::of(all.case());
    let of_sequence = |wanted: &[usize]| -> Vec<Number<'a>> {
        let keys = keys_of(all, wanted[0] / (heads * dim));
        let of_head = |wanted: &[usize]| {
            let row = wanted[0] / dim;
            let head = (how.head)(Groups { heads, kv_heads }, row % heads);
            let keys = keys.iter().map(|key| (key * kv_heads + head) * dim).collect();
            mean_of(all, row * dim, Seen { keys, ..Seen::default() }, wanted, how)
        };
        wanted.chunk_by(|one, next| one / dim == next / dim).flat_map(of_head).collect()
    };
    let same = |one: &usize, next: &usize| one / (heads * dim) == next / (heads * dim);
    wanted.chunk_by(same).flat_map(of_sequence).collect()
}

fn reach(problem: &Problem, tensor: usize, element: usize) -> Vec<Reach> {
    let Layout { batch, pages, page, heads, kv_heads, dim } = Layout::of(problem.case);
    let raw = |tensor: usize, at: usize| problem.inputs[tensor].get(at) as usize;
    let all =
        |first: usize, count: usize| Reach { output: 0, first: first * dim, step: 1, count: count * dim };
    // The sequence that a place in the list of pages belongs to.
    let sequence = |at: usize| (0..batch).find(|i| (raw(4, *i)..raw(4, *i + 1)).contains(&at));
    // The softmax of one product is 1, whatever that is.
    let has_choice = |i: usize| {
        let pages = raw(4, i + 1) - raw(4, i);
        pages > 0 && (pages - 1) * page + raw(5, i) > 0
    };
    match tensor {
        0 => {
            Some(all(element / dim, 1)).filter(|_| has_choice(element / (heads * dim))).into_iter().collect()
        }
        1 | 2 => {
            let (key, head) = (element / (kv_heads * dim), element / dim % kv_heads);
            let Some(at) = (0..pages).find(|at| raw(3, *at) == key / page) else { return Vec::new() };
            let seen = sequence(at).filter(|i| at + 1 < raw(4, *i + 1) || key % page <= raw(5, *i));
            let Some(i) = seen else { return Vec::new() };
            let group = heads / kv_heads;
            let first = i * heads + head * group;
            match tensor {
                1 => Some(all(first, group)).filter(|_| has_choice(i)).into_iter().collect(),
                _ => vec![Reach { output: 0, first: first * dim + element % dim, step: dim, count: group }],
            }
        }
        3 => sequence(element).map(|i| all(i * heads, heads)).into_iter().collect(),
        4 => vec![all(0, batch * heads)],
        _ if raw(4, element) == raw(4, element + 1) => Vec::new(),
        _ => vec![all(element * heads, heads)],
    }
}
