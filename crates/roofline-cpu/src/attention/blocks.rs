//! Blocks of queries times blocks of keys: what kernels of many queries have in common.
//!
//! Queries are taken in panels of two vectors, a query in each lane, so that a panel's products with a block of keys stay in
//! the nearest cache until they have become powers and met the values. Some hundreds of queries share a block of keys,
//! which is packed for them when its turn comes: nothing is packed that no cache would keep. Keys that a panel does
//! not see are left out by whole pieces, and the rest by their lanes.

use super::Rule;
use super::columns::{Scores, State, cap, powers, turn_mask};
use super::problem::{Part, Problem};
use super::tile::place;
use crate::lanes::{Lanes, MAX_LANES};
use crate::scratch::Scratch;
use crate::{Cpu, Element, Pieces};
use std::ops::Range;

/// Keys in a block, less what is no whole unit.
pub(super) const KEYS: usize = 224;
/// Rows that share a block of keys, at most, and at least where that leaves threads without work.
const ROWS: usize = 512;
const FEWEST_ROWS: usize = 64;

/// How products are made. Numbers lie as [`place`] says.
pub(super) trait Products<L: Lanes, T> {
    /// The piece in which products with so many keys lie.
    fn piece(&self, keys: usize) -> usize;
    /// That of means.
    fn mean_piece(&self) -> usize;
    /// Numbers of a mean, with those that fill up its last tile.
    fn mean_rows(&self) -> usize;
    /// What powers are multiplied with when they meet values.
    fn lift(&self) -> f32 {
        1.0
    }
    /// Whether nothing was packed that comes out wrong.
    fn is_right(&self) -> bool {
        true
    }
    /// Keys come in whole units.
    fn unit(&self) -> usize;
    /// Packs the queries of a panel, those that there are.
    fn pack_queries(&mut self, lanes: L, panel: usize, queries: &[&[T]]);
    /// Packs so many keys and values, the first of which begin at `first` and the others `step` further each.
    fn pack_keys(&mut self, lanes: L, kv: [&[T]; 2], first: usize, step: usize, count: usize);
    /// Products of a panel with packed keys, whole units.
    fn multiply(&mut self, lanes: L, panel: usize, keys: Range<usize>, products: &mut [f32]);
    /// Means times factors and powers times the values of these keys.
    fn add(&mut self, lanes: L, keys: Range<usize>, powers: &[f32], factors: [L::F; 2], means: &mut [f32]);
}

/// How kernels of this kind are made: what one of them takes for some rows of a head.
pub(super) trait Method<T> {
    fn attend(&self, cpu: &Cpu, problem: &Problem<'_, T>, part: &Part, y: &Pieces<'_, T>);
}

/// Shares the rows of all heads of keys among threads.
pub(super) fn share<T: Element>(
    cpu: &Cpu,
    problem: &Problem<'_, T>,
    y: &mut [T],
    method: &(impl Method<T> + Sync),
) {
    if y.is_empty() {
        return;
    }
    let pool = problem.pool(cpu);
    let heads = problem.key_heads();
    let rows = problem.rows();
    let mut length = ROWS;
    while length > FEWEST_ROWS && heads * rows.div_ceil(length) < 4 * pool.threads() && pool.threads() > 1 {
        length /= 2;
    }
    // Blocks of equal length, and those that see most keys first.
    let blocks = rows.div_ceil(length);
    let length = rows.div_ceil(blocks).next_multiple_of(2 * MAX_LANES);
    let blocks = rows.div_ceil(length);
    let y = Pieces::new(y, 1);
    pool.run(heads * blocks, |task| {
        let (head, block) = (task % heads, blocks - 1 - task / heads);
        let [batch, kv_head] = [head / problem.shape.kv_heads, head % problem.shape.kv_heads];
        let rows = block * length..rows.min((block + 1) * length);
        method.attend(cpu, problem, &Part { batch, kv_head, rows }, &y);
    });
}

/// Some rows of a head of keys; whether it was done.
#[inline(always)]
pub(super) fn attend<L: Lanes, T: Element>(
    lanes: L,
    mut by: impl Products<L, T>,
    problem: &Problem<'_, T>,
    part: &Part,
    y: &Pieces<'_, T>,
) -> bool {
    let width = 2 * L::LANES;
    let mean_piece = by.mean_piece();
    let mean_length = by.mean_rows() * width;
    let panels = part.rows.len().div_ceil(width);
    let panel_rows = |panel: usize| {
        let first = part.rows.start + panel * width;
        first..part.rows.end.min(first + width)
    };
    let mut means = Scratch::<f32>::take(panels * mean_length);
    means.fill(0.0);
    let mut states = Scratch::<f32>::take(panels * 4 * L::LANES);
    for panel in 0..panels {
        let mut queries: [&[T]; 2 * MAX_LANES] = [&[]; 2 * MAX_LANES];
        let rows = panel_rows(panel);
        for (query, row) in queries.iter_mut().zip(rows.clone()) {
            *query = &problem.q[problem.row(part, row)];
        }
        by.pack_queries(lanes, panel, &queries[..rows.len()]);
        start(lanes, problem, part, rows, &mut states[panel * 4 * L::LANES..]);
    }
    let block = KEYS / by.unit() * by.unit();
    let mut products = Scratch::<f32>::take(block * width);
    let mut mask =
        Scratch::<f32>::take(if matches!(problem.rule, Rule::Added(_)) { block * width } else { 0 });
    let (first, step) = problem.keys(part.batch, part.kv_head);
    let all = problem.seen_by(part.rows.clone());
    for from in all.clone().step_by(block) {
        let keys = from..all.end.min(from + block);
        by.pack_keys(lanes, [problem.k, problem.v], first + from * step, step, keys.len());
        if !by.is_right() {
            return false;
        }
        for panel in 0..panels {
            let rows = panel_rows(panel);
            let seen = problem.seen_by(rows.clone());
            let (seen_from, seen_to) =
                (seen.start.max(keys.start) - from, seen.end.min(keys.end).max(from) - from);
            if seen_from >= seen_to {
                continue;
            }
            let units = seen_from / by.unit() * by.unit()..seen_to.next_multiple_of(by.unit());
            let products = &mut products[..units.len() * width];
            let piece = by.piece(units.len());
            by.multiply(lanes, panel, units.clone(), products);
            let absolute = from + units.start..from + units.end;
            let mut scores = Scores { scale: problem.scale, cap: cap(&problem.rule), mask: None, seen: None };
            scores.seen = edges(problem, rows.clone(), absolute.clone(), width);
            if let Rule::Added(added) = problem.rule {
                let place_of = |lane: usize| (rows.start + lane).min(rows.end - 1) / problem.group();
                let mask = &mut mask[..products.len()];
                turn_mask(lanes, added, problem.shape.kv, place_of, absolute, piece, mask);
                scores.mask = Some(mask);
            }
            let state = &mut states[panel * 4 * L::LANES..][..4 * L::LANES];
            let mut held = load::<L>(lanes, state);
            let factors = powers(lanes, products, piece, &scores, &mut held);
            store(lanes, held, state);
            by.add(lanes, units, products, factors, &mut means[panel * mean_length..][..mean_length]);
        }
    }
    for panel in 0..panels {
        let state = load::<L>(lanes, &states[panel * 4 * L::LANES..]);
        let means = &means[panel * mean_length..][..mean_length];
        let rows = panel_rows(panel);
        let lift = lanes.splat(by.lift());
        let sums = [lanes.mul(state.sum[0], lift), lanes.mul(state.sum[1], lift)];
        finish(lanes, problem, part, rows, means, mean_piece, sums, y);
    }
    true
}

/// The state of rows before their first key: a sink counts as one that has no value.
#[inline(always)]
fn start<L: Lanes, T: Element>(
    lanes: L,
    problem: &Problem<'_, T>,
    part: &Part,
    rows: Range<usize>,
    state: &mut [f32],
) {
    let mut largest = [f32::NEG_INFINITY; 2 * MAX_LANES];
    let mut sum = [0.0; 2 * MAX_LANES];
    if let Rule::Sinks(sinks, _) = problem.rule {
        for (lane, row) in rows.enumerate() {
            largest[lane] = sinks[problem.head(part.kv_head, row)].wide();
            sum[lane] = 1.0;
        }
    }
    let half = |of: &[f32], half: usize| lanes.load_f32(&of[half * L::LANES..]);
    let held =
        State::<L> { largest: [half(&largest, 0), half(&largest, 1)], sum: [half(&sum, 0), half(&sum, 1)] };
    store(lanes, held, state);
}

#[inline(always)]
fn load<L: Lanes>(lanes: L, state: &[f32]) -> State<L> {
    let vector = |at: usize| lanes.load_f32(&state[at * L::LANES..]);
    State { largest: [vector(0), vector(1)], sum: [vector(2), vector(3)] }
}

#[inline(always)]
fn store<L: Lanes>(lanes: L, held: State<L>, state: &mut [f32]) {
    let vectors = [held.largest[0], held.largest[1], held.sum[0], held.sum[1]];
    for (vector, state) in vectors.into_iter().zip(state.chunks_exact_mut(L::LANES)) {
        lanes.store_f32(vector, state);
    }
}

/// Where the keys of each row begin and end among these, if some row does not see all of them.
#[inline(always)]
fn edges<T>(
    problem: &Problem<'_, T>,
    rows: Range<usize>,
    keys: Range<usize>,
    width: usize,
) -> Option<[[f32; 2 * MAX_LANES]; 2]> {
    let [first, last] = [problem.seen(rows.start), problem.seen(rows.end - 1)];
    if last.start <= keys.start && first.end >= keys.end {
        return None;
    }
    let mut edges = [[0.0; 2 * MAX_LANES]; 2];
    let [starts, ends] = &mut edges;
    for (lane, (start, end)) in starts.iter_mut().zip(ends).enumerate().take(width) {
        let seen = problem.seen((rows.start + lane).min(rows.end - 1));
        *start = (seen.start.max(keys.start) - keys.start) as f32;
        *end = (seen.end.clamp(keys.start, keys.end) - keys.start) as f32;
    }
    Some(edges)
}

/// Divides means by sums, and writes them row by row.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a panel, and where it goes")]
fn finish<L: Lanes, T: Element>(
    lanes: L,
    problem: &Problem<'_, T>,
    part: &Part,
    rows: Range<usize>,
    means: &[f32],
    piece: usize,
    sums: [L::F; 2],
    y: &Pieces<'_, T>,
) {
    let dim = problem.shape.dim;
    let zero = lanes.splat(0.0);
    for (half, sum) in sums.into_iter().enumerate() {
        let over = lanes.select(lanes.less(zero, sum), sum, lanes.splat(1.0));
        for from in (0..dim).step_by(L::LANES) {
            let to = dim.min(from + L::LANES);
            let mut square = lanes.square(zero);
            for (d, row) in (from..to).zip(square.as_mut()) {
                *row = lanes.div(lanes.load_f32(&means[place::<L>(piece, d, half)..]), over);
            }
            let square = lanes.transpose(square);
            for (row, mean) in rows.clone().skip(half * L::LANES).zip(square.as_ref()) {
                let row = problem.row(part, row);
                // SAFETY: a row belongs to one part, and a part to one task.
                let y = unsafe { y.range(row.start + from..row.start + to) };
                if y.len() == L::LANES {
                    T::store(lanes, *mean, y);
                } else {
                    T::store_partial(lanes, *mean, y);
                }
            }
        }
    }
}

/// Packs rows of numbers as a panel: for each number of a row those of all rows, `width` of them.
#[inline(always)]
pub(super) fn turn<'a, L: Lanes, T: Element>(
    lanes: L,
    rows: impl Iterator<Item = &'a [T]> + Clone,
    width: usize,
    packed: &mut [f32],
) {
    let length = rows.clone().next().map_or(0, <[T]>::len);
    for from in (0..length).step_by(L::LANES) {
        let to = length.min(from + L::LANES);
        let mut square = lanes.square(lanes.splat(0.0));
        for (row, packed) in rows.clone().zip(square.as_mut()) {
            let row = &row[from..to];
            *packed = if row.len() == L::LANES {
                T::load(lanes, row)
            } else {
                T::load_partial(lanes, row, T::default())
            };
        }
        let square = lanes.transpose(square);
        // Where a vector is wider than the panel, the next one overwrites what is too much.
        for (number, column) in (from..to).zip(square.as_ref()) {
            lanes.store_f32(*column, &mut packed[number * width..]);
        }
    }
}

/// Asks for a row of numbers, which may be anywhere.
#[inline(always)]
pub(super) fn ask<L: Lanes, T>(lanes: L, row: *const T, length: usize) {
    const LINE: usize = 64;
    for line in (0..length * size_of::<T>()).step_by(LINE) {
        lanes.prefetch(row.cast::<u8>().wrapping_add(line));
    }
}
