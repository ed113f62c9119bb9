//! Few queries, whose keys are split among threads.
//!
//! Over the definition: keys and values are read once, in order, for all queries that share a head of them, and reading
//! them is what takes the time. Each thread keeps of its keys a partial result for every query; these are put together in
//! the end. Nothing is packed: products are those of whole vectors of a key as it lies, up to four queries at once, and
//! the next keys are asked for meanwhile.

use super::columns::cap;
use super::partial::{HEAD, Merge, Partial};
use super::problem::{Part, Problem};
use super::{Heads, Rule};
use crate::lanes::{Lanes, MAX_LANES};
use crate::math::{exp, tanh};
use crate::scratch::Scratch;
use crate::{Cpu, Element, Pieces, Vectorize};
use std::ops::Range;

/// The values of `v` weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given.
///
/// ```
/// use roofline_cpu::{Cpu, attention::{Heads, Rule, split_keys::attention}};
///
/// // The first query sees the first key alone; the second is as near to both.
/// let (q, k, v) = ([5.0f32, 1.0], [1.0, 1.0], [3.0, 4.0]);
/// let mut y = [0.0; 2];
/// attention(&Cpu::new(2), [&q, &k, &v], &mut y, Heads::new(2, 1, 1), Rule::Causal, None);
/// assert_eq!(y, [3.0, 3.5]);
/// ```
pub fn attention<T: Element>(
    cpu: &Cpu,
    qkv: [&[T]; 3],
    y: &mut [T],
    shape: Heads,
    rule: Rule<'_, T>,
    scale: Option<f64>,
) {
    shape.check(qkv, y, &rule);
    if !y.is_empty() {
        split(cpu, &Problem::new(qkv, shape, rule, scale), y);
    }
}

/// Keys that are worth a task of their own.
const FEWEST_KEYS: usize = 256;
/// Numbers of keys in a block, whose products are kept until their softmax: they and the values stay in the nearest cache.
const BLOCK: usize = 1 << 12;
/// Keys by which keys and values are asked for ahead, a head being too short for the processor to see where it goes.
const AHEAD: usize = 32;
/// Bytes in a cache line.
const LINE: usize = 64;

fn split<T: Element>(cpu: &Cpu, problem: &Problem<'_, T>, y: &mut [T]) {
    let (heads, rows) = (problem.key_heads(), problem.rows());
    let seen = problem.seen_by(0..rows);
    let pool = problem.pool(cpu);
    let threads = pool.threads();
    // As many parts as threads have use for, so that none is left with one more than the others.
    let wanted = if heads.is_multiple_of(threads) { 1 } else { (4 * threads).div_ceil(heads) };
    let parts = wanted.min(seen.len().div_ceil(FEWEST_KEYS)).max(1);
    let keys = seen.len().div_ceil(parts);
    let length = HEAD + problem.shape.dim.next_multiple_of(MAX_LANES);
    // Of a head the rows, and of a row the parts: what is put together lies together.
    let mut partials = Scratch::<f32>::take(heads * rows * parts * length);
    let numbers = Pieces::new(&mut partials, 1);
    pool.run(heads * parts, |task| {
        let (head, part) = (task / parts, task % parts);
        let from = seen.start + part * keys;
        let keys = from..seen.end.min(from + keys).max(from);
        let [batch, kv_head] = [head / problem.shape.kv_heads, head % problem.shape.kv_heads];
        let of = Part { batch, kv_head, rows: 0..rows };
        let first = head * rows * parts + part;
        let place = move |row: usize| (first + row * parts) * length..(first + row * parts + 1) * length;
        cpu.isa.run(SomeKeys { problem, part: &of, keys, numbers: &numbers, place });
    });
    let y = Pieces::new(y, 1);
    let partials = Pieces::new(&mut partials, 1);
    let merge = |index: usize| {
        let (head, row) = (index / rows, index % rows);
        let [batch, kv_head] = [head / problem.shape.kv_heads, head % problem.shape.kv_heads];
        let sink = match problem.rule {
            Rule::Sinks(sinks, _) => Some(sinks[problem.head(kv_head, row)].wide()),
            _ => None,
        };
        // SAFETY: every row is put together once, from parts of its own.
        let (partials, y) = unsafe {
            let place = problem.row(&Part { batch, kv_head, rows: row..row + 1 }, row);
            (partials.range(index * parts * length..(index + 1) * parts * length), y.range(place))
        };
        cpu.isa.run(Merge { partials, length, sink, y });
    };
    (0..heads * rows).for_each(merge);
}

/// All rows of a head with some of its keys.
struct SomeKeys<'a, 'n, T, P> {
    problem: &'a Problem<'a, T>,
    part: &'a Part,
    keys: Range<usize>,
    numbers: &'a Pieces<'n, f32>,
    /// Where a row's partial result is.
    place: P,
}

/// Rows that share what is read of keys and values.
const TOGETHER: usize = 4;

impl<T: Element, P: Fn(usize) -> Range<usize>> Vectorize for SomeKeys<'_, '_, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let SomeKeys { problem, part, keys, numbers, place } = self;
        let dim = problem.shape.dim;
        let width = dim.next_multiple_of(L::LANES);
        let all = part.rows.len();
        // SAFETY: a task has these partial results for itself.
        let partial = |row: usize| Partial::of(unsafe { numbers.range(place(row)) });
        let mut queries = Scratch::<f32>::take(all * width);
        for (row, query) in queries.chunks_exact_mut(width).enumerate() {
            partial(row).clear();
            let row = &problem.q[problem.row(part, row)];
            for (row, query) in row.chunks(L::LANES).zip(query.chunks_exact_mut(L::LANES)) {
                lanes.store_f32(load(lanes, row), query);
            }
        }
        let block = (BLOCK / width).clamp(1, 16) * MAX_LANES;
        let mut products = Scratch::<f32>::take(all * block);
        let (first, step) = problem.keys(part.batch, part.kv_head);
        for from in keys.clone().step_by(block) {
            let keys = from..keys.end.min(from + block);
            let rows = Keys { first: first + from * step, step, count: keys.len(), dim };
            for row in (0..all).step_by(TOGETHER) {
                let queries = &queries[row * width..];
                let products = &mut products[row * block..];
                match all - row {
                    1 => {
                        multiply::<L, T, 1, 16>(
                            lanes,
                            queries,
                            [problem.k, problem.v],
                            rows,
                            products,
                            block,
                        );
                    }
                    2 => {
                        multiply::<L, T, 2, 8>(lanes, queries, [problem.k, problem.v], rows, products, block);
                    }
                    3 => {
                        multiply::<L, T, 3, 4>(lanes, queries, [problem.k, problem.v], rows, products, block);
                    }
                    _ => {
                        multiply::<L, T, 4, 4>(lanes, queries, [problem.k, problem.v], rows, products, block);
                    }
                }
            }
            for (row, products) in products.chunks_exact_mut(block).take(all).enumerate() {
                let Partial { largest, sum, values } = partial(row);
                let factor = powers(lanes, problem, row, keys.clone(), products, largest, sum);
                if factor != 1.0 {
                    for values in values.chunks_exact_mut(L::LANES) {
                        lanes.store_f32(lanes.mul(lanes.load_f32(values), lanes.splat(factor)), values);
                    }
                }
            }
            for row in (0..all).step_by(TOGETHER) {
                let products = &products[row * block..];
                match all - row {
                    1 => add::<L, T, 1>(lanes, products, block, problem.v, rows, [partial(row).values]),
                    2 => add::<L, T, 2>(
                        lanes,
                        products,
                        block,
                        problem.v,
                        rows,
                        [0, 1].map(|next| partial(row + next).values),
                    ),
                    3 => add::<L, T, 3>(
                        lanes,
                        products,
                        block,
                        problem.v,
                        rows,
                        [0, 1, 2].map(|next| partial(row + next).values),
                    ),
                    _ => add::<L, T, 4>(
                        lanes,
                        products,
                        block,
                        problem.v,
                        rows,
                        [0, 1, 2, 3].map(|next| partial(row + next).values),
                    ),
                }
            }
        }
    }
}

/// Where some keys of a head are.
#[derive(Clone, Copy)]
struct Keys {
    first: usize,
    step: usize,
    count: usize,
    dim: usize,
}

impl Keys {
    #[inline(always)]
    fn row<T>(self, of: &[T], key: usize) -> &[T] {
        &of[self.first + key * self.step..][..self.dim]
    }
}

/// A vector, whole or what there is of it.
#[inline(always)]
fn load<L: Lanes, T: Element>(lanes: L, x: &[T]) -> L::F {
    if x.len() >= L::LANES { T::load(lanes, x) } else { T::load_partial(lanes, x, T::default()) }
}

/// Products of `R` queries with all keys, `K` of these at once; asks for later keys and values.
#[inline(always)]
fn multiply<L: Lanes, T: Element, const R: usize, const K: usize>(
    lanes: L,
    queries: &[f32],
    [k, v]: [&[T]; 2],
    keys: Keys,
    products: &mut [f32],
    block: usize,
) {
    let width = keys.dim.next_multiple_of(L::LANES);
    for from in (0..keys.count).step_by(K) {
        for key in from..from + K {
            for of in [k, v] {
                let row = of.as_ptr().wrapping_add(keys.first + (key + AHEAD) * keys.step);
                for line in (0..keys.dim * size_of::<T>()).step_by(LINE) {
                    lanes.prefetch_second(row.cast::<u8>().wrapping_add(line));
                }
            }
        }
        // Beyond the last key, that one again.
        let mut rows: [&[T]; K] = [&[]; K];
        for (next, row) in rows.iter_mut().enumerate() {
            *row = keys.row(k, (from + next).min(keys.count - 1));
        }
        let mut sums = [[lanes.splat(0.0); K]; R];
        let whole = keys.dim / L::LANES * L::LANES;
        for place in (0..whole).step_by(L::LANES) {
            let mut numbers = [lanes.splat(0.0); K];
            for (number, row) in numbers.iter_mut().zip(&rows) {
                *number = T::load(lanes, &row[place..]);
            }
            for (row, sums) in sums.iter_mut().enumerate() {
                let query = lanes.load_f32(&queries[row * width + place..]);
                for (sum, number) in sums.iter_mut().zip(&numbers) {
                    *sum = lanes.mul_add(query, *number, *sum);
                }
            }
        }
        if whole < keys.dim {
            for (row, sums) in sums.iter_mut().enumerate() {
                let query = lanes.load_f32(&queries[row * width + whole..]);
                for (sum, key) in sums.iter_mut().zip(&rows) {
                    let number = T::load_partial(lanes, &key[whole..], T::default());
                    *sum = lanes.mul_add(query, number, *sum);
                }
            }
        }
        let mut all = [lanes.splat(0.0); MAX_LANES];
        for (all, sums) in all.chunks_exact_mut(K).zip(&sums) {
            all.copy_from_slice(sums);
        }
        let all = sum_each(lanes, all);
        for (row, sums) in all.chunks_exact(K).take(R).enumerate() {
            products[row * block + from..][..K].copy_from_slice(sums);
        }
    }
}

/// The sum of each of some vectors.
#[inline(always)]
fn sum_each<L: Lanes>(lanes: L, mut vectors: [L::F; MAX_LANES]) -> [f32; MAX_LANES] {
    // Two by two they are put together, lanes of one and of the other by turns, and both halves of that added: so each
    // keeps half its lanes, until it has one.
    let mut count = MAX_LANES;
    while count > MAX_LANES / L::LANES {
        count /= 2;
        for index in 0..count {
            let [low, high] = lanes.interleave(vectors[index], vectors[index + count]);
            vectors[index] = lanes.add(low, high);
        }
    }
    let mut sums = [0.0; MAX_LANES];
    let mut numbers = [0.0; MAX_LANES];
    for (index, vector) in vectors[..count].iter().enumerate() {
        lanes.store_f32(*vector, &mut numbers);
        for (place, number) in numbers[..L::LANES].iter().enumerate() {
            sums[place * count + index] = *number;
        }
    }
    sums
}

/// Products of a row with these keys become powers; gives what earlier ones now count for.
#[inline(always)]
fn powers<L: Lanes, T: Element>(
    lanes: L,
    problem: &Problem<'_, T>,
    row: usize,
    keys: Range<usize>,
    products: &mut [f32],
    largest: &mut f32,
    sum: &mut f32,
) -> f32 {
    let seen = problem.seen(row);
    let [from, to] = [seen.start, seen.end].map(|end| end.clamp(keys.start, keys.end) - keys.start);
    products[..from].fill(0.0);
    products[to.max(from)..].fill(0.0);
    if from >= to {
        return 1.0;
    }
    let products = &mut products[from..to];
    let (scale, lowest) = (lanes.splat(problem.scale), lanes.splat(f32::NEG_INFINITY));
    let mask = match problem.rule {
        Rule::Added(mask) => {
            &mask[row / problem.group() * problem.shape.kv..][keys.start + from..keys.start + to]
        }
        _ => &[],
    };
    let cap = cap(&problem.rule).map(|cap| lanes.splat(cap));
    let mut most = lowest;
    for (index, products) in products.chunks_mut(L::LANES).enumerate() {
        let mut score = lanes.mul(lanes.load_partial_f32(products, 0.0), scale);
        if let Some(cap) = cap {
            score = lanes.mul(tanh(lanes, lanes.div(score, cap)), cap);
        }
        if !mask.is_empty() {
            let mask = &mask[index * L::LANES..][..products.len()];
            score = lanes.add(score, load(lanes, mask));
        }
        lanes.store_partial_f32(score, products);
        most = lanes.max(most, lanes.load_partial_f32(products, f32::NEG_INFINITY));
    }
    let most = largest.max(lanes.largest(most));
    if most == f32::NEG_INFINITY {
        products.fill(0.0);
        return 1.0;
    }
    let pivot = lanes.splat(most);
    let mut all = lanes.splat(0.0);
    for products in products.chunks_mut(L::LANES) {
        let score = lanes.load_partial_f32(products, f32::NEG_INFINITY);
        let power = exp(lanes, lanes.sub(score, pivot));
        lanes.store_partial_f32(power, products);
        all = lanes.add(all, power);
    }
    let factor = if most > *largest { lanes.largest(exp(lanes, lanes.splat(*largest - most))) } else { 1.0 };
    *sum = *sum * factor + lanes.sum(all);
    *largest = most;
    factor
}

/// Adds values times powers to those of `R` rows.
#[inline(always)]
fn add<L: Lanes, T: Element, const R: usize>(
    lanes: L,
    powers: &[f32],
    block: usize,
    v: &[T],
    keys: Keys,
    mut sums: [&mut [f32]; R],
) {
    /// Vectors of a value at once.
    const VECTORS: usize = 4;
    let mut of_row: [&[f32]; R] = [&[]; R];
    for (row, of_row) in of_row.iter_mut().enumerate() {
        *of_row = &powers[row * block..][..keys.count];
    }
    let mut place = 0;
    while place + VECTORS * L::LANES <= keys.dim {
        let mut held = [[lanes.splat(0.0); VECTORS]; R];
        for (held, sums) in held.iter_mut().zip(&sums) {
            for (vector, held) in held.iter_mut().enumerate() {
                *held = lanes.load_f32(&sums[place + vector * L::LANES..]);
            }
        }
        for key in 0..keys.count {
            let value = &keys.row(v, key)[place..];
            let mut vectors = [lanes.splat(0.0); VECTORS];
            for (vector, held) in vectors.iter_mut().enumerate() {
                *held = T::load(lanes, &value[vector * L::LANES..]);
            }
            for (held, powers) in held.iter_mut().zip(&of_row) {
                let power = lanes.splat(powers[key]);
                for (held, value) in held.iter_mut().zip(&vectors) {
                    *held = lanes.mul_add(power, *value, *held);
                }
            }
        }
        for (held, sums) in held.iter().zip(&mut sums) {
            for (vector, held) in held.iter().enumerate() {
                lanes.store_f32(*held, &mut sums[place + vector * L::LANES..]);
            }
        }
        place += VECTORS * L::LANES;
    }
    while place < keys.dim {
        let end = keys.dim.min(place + L::LANES);
        let mut held = [lanes.splat(0.0); R];
        for (held, sums) in held.iter_mut().zip(&sums) {
            *held = lanes.load_f32(&sums[place..]);
        }
        for key in 0..keys.count {
            let value = load(lanes, &keys.row(v, key)[place..end]);
            for (held, powers) in held.iter_mut().zip(&of_row) {
                *held = lanes.mul_add(lanes.splat(powers[key]), value, *held);
            }
        }
        for (held, sums) in held.iter().zip(&mut sums) {
            lanes.store_f32(*held, &mut sums[place..]);
        }
        place = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;

    struct Sums<'a>(&'a [f32], &'a mut [f32; MAX_LANES]);

    impl Vectorize for Sums<'_> {
        type Output = ();
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) {
            let vectors = std::array::from_fn(|at| lanes.load_f32(&self.0[at * MAX_LANES..]));
            *self.1 = sum_each(lanes, vectors);
        }
    }

    #[test]
    fn vectors_are_summed_in_their_order() {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            // What is beyond the lanes of a level is zero.
            let lanes = if isa == Isa::Avx512 { 16 } else { 8 };
            let number = |at: usize| if at % MAX_LANES < lanes { (at * at % 97) as f32 } else { 0.0 };
            let numbers: Vec<f32> = (0..MAX_LANES * MAX_LANES).map(number).collect();
            let mut sums = [0.0; MAX_LANES];
            isa.run(Sums(&numbers, &mut sums));
            let right: Vec<f32> = numbers.chunks(MAX_LANES).map(|vector| vector.iter().sum()).collect();
            assert_eq!(sums[..], right, "{isa:?}");
        }
    }
}
