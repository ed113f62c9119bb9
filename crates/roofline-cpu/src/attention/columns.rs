//! The softmax of a block of products, a query in each lane: no number has to cross lanes.
//!
//! Queries of a panel are two vectors, and products lie as the register tile leaves them. Of every query the largest
//! product so far and the sum of powers are kept; where a larger product comes, what was summed before counts for less.

use super::Rule;
use crate::Element;
use crate::lanes::{Lanes, MAX_LANES};
use crate::math::{exp_within, tanh};
use std::ops::Range;

/// e to the power of less rounds to zero.
const LOWEST: f32 = -104.0;

/// Of the queries of a panel.
#[derive(Clone, Copy)]
pub(super) struct State<L: Lanes> {
    pub(super) largest: [L::F; 2],
    pub(super) sum: [L::F; 2],
}

/// What becomes of products before their softmax.
pub(super) struct Scores<'a> {
    pub(super) scale: f32,
    /// The most that a product counts for.
    pub(super) cap: Option<f32>,
    /// What is added, as the products lie.
    pub(super) mask: Option<&'a [f32]>,
    /// Where the keys of each query begin and end, if some query does not see all of them; counted from the first one.
    pub(super) seen: Option<[[f32; 2 * MAX_LANES]; 2]>,
}

/// Products become powers of e; gives what earlier powers now count for.
#[inline(always)]
pub(super) fn powers<L: Lanes>(
    lanes: L,
    products: &mut [f32],
    piece: usize,
    scores: &Scores<'_>,
    state: &mut State<L>,
) -> [L::F; 2] {
    let lowest = lanes.splat(f32::NEG_INFINITY);
    let is_plain = scores.cap.is_none() && scores.mask.is_none() && scores.seen.is_none();
    let (most, scale) = if is_plain {
        (largest(lanes, products, piece, scores.scale), lanes.splat(scores.scale))
    } else {
        (changed(lanes, products, piece, scores), lanes.splat(1.0))
    };
    let mut factors = [lanes.splat(1.0); 2];
    let mut less = [lowest; 2];
    for half in 0..2 {
        let largest = lanes.max(state.largest[half], most[half]);
        // A query that has seen no key yet: all its powers are zero.
        let is_some = lanes.less(lowest, largest);
        let pivot = lanes.select(is_some, largest, lanes.splat(0.0));
        factors[half] = power(lanes, lanes.sub(state.largest[half], pivot));
        less[half] = lanes.sub(lanes.splat(0.0), pivot);
        state.largest[half] = largest;
    }
    let mut sums = [[lanes.splat(0.0); 2]; 2];
    for both in products.chunks_exact_mut(2 * piece * L::LANES) {
        for key in (0..piece).step_by(2) {
            for (next, sum) in sums.iter_mut().enumerate() {
                for half in 0..2 {
                    let product = &mut both[(half * piece + key + next) * L::LANES..];
                    let e = power(lanes, lanes.mul_add(lanes.load_f32(product), scale, less[half]));
                    lanes.store_f32(e, product);
                    sum[half] = lanes.add(sum[half], e);
                }
            }
        }
    }
    for half in 0..2 {
        let sum = lanes.add(sums[0][half], sums[1][half]);
        state.sum[half] = lanes.mul_add(state.sum[half], factors[half], sum);
    }
    factors
}

/// eˣ for x that is hardly above zero.
#[inline(always)]
fn power<L: Lanes>(lanes: L, x: L::F) -> L::F {
    exp_within(lanes, lanes.max(lanes.splat(LOWEST), x))
}

/// The largest products.
#[inline(always)]
fn largest<L: Lanes>(lanes: L, products: &[f32], piece: usize, scale: f32) -> [L::F; 2] {
    let scale = lanes.splat(scale);
    let mut most = [[lanes.splat(f32::NEG_INFINITY); 2]; 2];
    for both in products.chunks_exact(2 * piece * L::LANES) {
        for key in (0..piece).step_by(2) {
            for (next, most) in most.iter_mut().enumerate() {
                for half in 0..2 {
                    let product = lanes.load_f32(&both[(half * piece + key + next) * L::LANES..]);
                    most[half] = lanes.max(most[half], lanes.mul(product, scale));
                }
            }
        }
    }
    [lanes.max(most[0][0], most[1][0]), lanes.max(most[0][1], most[1][1])]
}

/// Products scaled, capped, with what is added and without what is not seen; gives the largest.
#[inline(always)]
fn changed<L: Lanes>(lanes: L, products: &mut [f32], piece: usize, scores: &Scores<'_>) -> [L::F; 2] {
    let lowest = lanes.splat(f32::NEG_INFINITY);
    let scale = lanes.splat(scores.scale);
    let mut most = [lowest; 2];
    for (index, both) in products.chunks_exact_mut(2 * piece * L::LANES).enumerate() {
        for (half, products) in both.chunks_exact_mut(piece * L::LANES).enumerate() {
            let mask = scores.mask.map(|mask| &mask[(2 * index + half) * piece * L::LANES..]);
            let seen = scores.seen.as_ref().map(|seen| {
                let bound = |at: usize| lanes.load_f32(&seen[at][half * L::LANES..]);
                [bound(0), bound(1)]
            });
            for (key, product) in products.chunks_exact_mut(L::LANES).enumerate() {
                let mut score = lanes.mul(lanes.load_f32(product), scale);
                if let Some(cap) = scores.cap {
                    let cap = lanes.splat(cap);
                    score = lanes.mul(tanh(lanes, lanes.div(score, cap)), cap);
                }
                if let Some(mask) = mask {
                    score = lanes.add(score, lanes.load_f32(&mask[key * L::LANES..]));
                }
                if let Some([first, end]) = seen {
                    let key = lanes.splat((index * piece + key) as f32);
                    score = lanes.select(lanes.less(key, end), score, lowest);
                    score = lanes.select(lanes.less(key, first), lowest, score);
                }
                lanes.store_f32(score, product);
                most[half] = lanes.max(most[half], score);
            }
        }
    }
    most
}

/// What a mask \[seq, kv\] adds to products of the rows `places` with `keys`, as the products lie.
#[inline(always)]
pub(super) fn turn_mask<L: Lanes, T: Element>(
    lanes: L,
    mask: &[T],
    kv: usize,
    places: impl Fn(usize) -> usize,
    keys: Range<usize>,
    piece: usize,
    turned: &mut [f32],
) {
    let all = turned.len() / (2 * L::LANES);
    for half in 0..2 {
        for first in (0..all).step_by(L::LANES) {
            let mut square = lanes.square(lanes.splat(0.0));
            for (lane, row) in square.as_mut().iter_mut().enumerate() {
                let row_of_mask = &mask[places(half * L::LANES + lane) * kv..][..kv];
                let from = kv.min(keys.start + first);
                let row_of_mask = &row_of_mask[from..kv.min(from + L::LANES)];
                *row = T::load_partial(lanes, row_of_mask, T::default());
            }
            let square = lanes.transpose(square);
            for (key, row) in (first..all.min(first + L::LANES)).zip(square.as_ref()) {
                lanes.store_f32(*row, &mut turned[super::tile::place::<L>(piece, key, half)..]);
            }
        }
    }
}

/// The cap of a rule.
pub(super) fn cap<T>(rule: &Rule<'_, T>) -> Option<f32> {
    match rule {
        Rule::SoftCap(cap, _) => Some(*cap as f32),
        _ => None,
    }
}
