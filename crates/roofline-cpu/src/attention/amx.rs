//! Blocks of queries and keys on tile registers: the matrix unit makes both products of bf16.
//!
//! Over the kernel in lanes: a tile multiplies in one instruction what takes lanes hundreds, and the exponentials become
//! what takes longest. Products are made of keys times queries, so that a query has a lane again. Powers are of f32, and
//! the unit takes bf16: three parts of eight bits each are all of a power, and meet the values one after the other. Only
//! where the precision says that powers are rounded is there one part.
//!
//! The unit takes subnormal numbers for zero. Powers are lifted before they meet it, and what could still show is left to
//! [`super::blocked`].

use super::blocked::InLanes;
use super::blocks::{KEYS, Method, Products, share};
use super::problem::{Part, Problem};
use super::tile::place;
use super::{Heads, Rule, blocked, blocks};
use crate::lanes::{Avx512, Lanes};
use crate::scratch::Scratch;
use crate::tiles::{Ahead, Configured, MAX_STEPS, TILE, TILE_ROWS, TileProduct, Tiles};
use crate::{Cpu, Pieces, bf16};
use std::ops::Range;

/// Whether this processor can run the kernels of this file.
pub fn is_available() -> bool {
    Tiles::detect().is_some()
}

/// The values of `v` weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given.
///
/// ```
/// use roofline_cpu::{Cpu, attention::{Heads, Rule, amx::attention}, bf16};
///
/// // The first query sees the first key alone; the second is as near to both.
/// let [q, k, v] = [[5.0, 1.0], [1.0, 1.0], [3.0, 4.0]].map(|x| x.map(bf16::from_f32));
/// let mut y = [bf16::ZERO; 2];
/// attention(&Cpu::new(2), [&q, &k, &v], &mut y, Heads::new(2, 1, 1), Rule::Causal, None);
/// assert_eq!(y.map(bf16::to_f32), [3.0, 3.5]);
/// ```
pub fn attention(
    cpu: &Cpu,
    qkv: [&[bf16]; 3],
    y: &mut [bf16],
    shape: Heads,
    rule: Rule<'_, bf16>,
    scale: Option<f64>,
) {
    in_parts::<3>(cpu, qkv, y, shape, rule, scale);
}

/// The same, powers of e rounded to bf16 before they meet values.
pub fn attention_p16(
    cpu: &Cpu,
    qkv: [&[bf16]; 3],
    y: &mut [bf16],
    shape: Heads,
    rule: Rule<'_, bf16>,
    scale: Option<f64>,
) {
    in_parts::<1>(cpu, qkv, y, shape, rule, scale);
}

/// Beyond it a product that the unit loses may count.
const LARGEST_SCALE: f32 = (1u64 << 40) as f32;

fn in_parts<const PARTS: usize>(
    cpu: &Cpu,
    qkv: [&[bf16]; 3],
    y: &mut [bf16],
    shape: Heads,
    rule: Rule<'_, bf16>,
    scale: Option<f64>,
) {
    shape.check(qkv, y, &rule);
    let problem = Problem::new(qkv, shape, rule, scale);
    let is_small = shape.dim <= MAX_STEPS * DEPTH && problem.scale.abs() <= LARGEST_SCALE;
    if is_available() && is_small {
        share(cpu, &problem, y, &ByTiles::<PARTS>);
    } else {
        blocked::attention(cpu, qkv, y, shape, rule, scale);
    }
}

/// By the matrix unit, powers in so many parts.
struct ByTiles<const PARTS: usize>;

impl<const PARTS: usize> Method<bf16> for ByTiles<PARTS> {
    fn attend(&self, cpu: &Cpu, problem: &Problem<'_, bf16>, part: &Part, y: &Pieces<'_, bf16>) {
        let is_done = Tiles::detect().zip(Avx512::detect()).is_some_and(|(tiles, lanes)| {
            // SAFETY: the token `lanes` proves the features of the function.
            unsafe { on_tiles::<PARTS>(tiles, lanes, problem, part, y) }
        });
        if !is_done {
            InLanes.attend(cpu, problem, part, y);
        }
    }
}

/// A part; whether it was done. For the one level that has tiles.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
fn on_tiles<const PARTS: usize>(
    tiles: Tiles,
    lanes: Avx512,
    problem: &Problem<'_, bf16>,
    part: &Part,
    y: &Pieces<'_, bf16>,
) -> bool {
    let by = Packed::<PARTS>::new(tiles, problem.shape.dim, part.rows.len());
    blocks::attend(lanes, by, problem, part, y)
}

/// Numbers of a sum in a line of a tile.
const DEPTH: usize = 32;
/// Rows of a strip: two tiles.
const STRIP: usize = 2 * TILE_ROWS;
/// Pairs in the two tiles of a step.
const STEP: usize = 2 * TILE;
/// Sums in four tiles.
const SQUARE: usize = 4 * TILE;
/// What powers are multiplied with, so that neither they nor their parts are subnormal.
const LIFT: f32 = (1u64 << 60) as f32;

/// Queries, and a block of keys and values, as tiles: strips of two, step by step.
struct Packed<const PARTS: usize> {
    dim: usize,
    /// Steps of the product of a query and a key, and strips of a value.
    steps: usize,
    queries: Scratch<i32>,
    keys: Scratch<i32>,
    values: Scratch<i32>,
    /// The parts of powers, pairs of keys.
    powers: Scratch<i32>,
    ahead: Ahead,
    /// Keys in the block, whole strips.
    count: usize,
    /// Whether nothing was met that the unit would get wrong.
    is_normal: bool,
    configured: Configured,
}

impl<const PARTS: usize> Packed<PARTS> {
    /// Room for rows of this length.
    fn new(tiles: Tiles, dim: usize, rows: usize) -> Packed<PARTS> {
        let steps = dim.div_ceil(DEPTH);
        let keys = Scratch::take(KEYS.div_ceil(STRIP) * steps * STEP);
        Packed {
            dim,
            steps,
            queries: Scratch::take(rows.div_ceil(STRIP) * steps * STEP),
            values: Scratch::take(keys.len()),
            powers: Scratch::take(PARTS * KEYS.div_ceil(STRIP) * STEP),
            ahead: Ahead { read: keys.as_ptr(), written: [keys.as_ptr().cast(); 2 * MAX_STEPS] },
            keys,
            count: 0,
            is_normal: true,
            configured: tiles.configure(),
        }
    }
}

impl<L: Lanes, const PARTS: usize> Products<L, bf16> for Packed<PARTS> {
    #[inline(always)]
    fn piece(&self, _keys: usize) -> usize {
        TILE_ROWS
    }

    #[inline(always)]
    fn mean_piece(&self) -> usize {
        TILE_ROWS
    }

    #[inline(always)]
    fn mean_rows(&self) -> usize {
        self.steps * STRIP
    }

    #[inline(always)]
    fn unit(&self) -> usize {
        STRIP
    }

    #[inline(always)]
    fn lift(&self) -> f32 {
        LIFT
    }

    #[inline(always)]
    fn is_right(&self) -> bool {
        self.is_normal
    }

    #[inline(always)]
    fn pack_queries(&mut self, lanes: L, panel: usize, queries: &[&[bf16]]) {
        let panel = &mut self.queries[panel * self.steps * STEP..][..self.steps * STEP];
        for (step, tiles) in panel.chunks_exact_mut(STEP).enumerate() {
            for (half, tile) in tiles.chunks_exact_mut(TILE).enumerate() {
                for (row, line) in tile.chunks_exact_mut(TILE_ROWS).enumerate() {
                    let query = queries.get(half * TILE_ROWS + row).copied().unwrap_or_default();
                    copy_pairs(part_of(query, step), line);
                }
                turn(lanes, tile);
            }
        }
        self.is_normal &= queries.iter().all(|query| is_normal(query));
    }

    #[inline(always)]
    fn pack_keys(&mut self, lanes: L, [k, v]: [&[bf16]; 2], first: usize, step: usize, count: usize) {
        self.count = count.next_multiple_of(STRIP);
        for key in 0..self.count {
            let row = if key < count { &k[first + key * step..][..self.dim] } else { &[] };
            // Rows of several heads lie apart, and the processor does not see where they go.
            let next = first + (key + STRIP) * step;
            blocks::ask(lanes, k.as_ptr().wrapping_add(next), self.dim);
            blocks::ask(lanes, v.as_ptr().wrapping_add(first + key * step), self.dim);
            self.is_normal &= is_normal(row);
            let strip = &mut self.keys[key / STRIP * self.steps * STEP..];
            for (depth, tiles) in strip.chunks_exact_mut(STEP).take(self.steps).enumerate() {
                let line = &mut tiles[key % STRIP * TILE_ROWS..][..TILE_ROWS];
                copy_pairs(part_of(row, depth), line);
            }
        }
        let value = |key: usize| if key < count { &v[first + key * step..][..self.dim] } else { &[][..] };
        self.is_normal &= (0..count).all(|key| is_moderate(value(key)));
        let strips = self.values.chunks_exact_mut(self.count / STRIP * STEP).take(self.steps);
        for (strip, values) in strips.enumerate() {
            for (depth, tiles) in values.chunks_exact_mut(STEP).enumerate() {
                for (half, tile) in tiles.chunks_exact_mut(TILE).enumerate() {
                    let from = strip * STRIP + half * TILE_ROWS;
                    for (pair, line) in tile.chunks_exact_mut(TILE_ROWS).enumerate() {
                        let key = depth * DEPTH + 2 * pair;
                        let [low, high] = [key, key + 1].map(value);
                        let (low, high) = (codes(lanes, low, from), codes(lanes, high, from));
                        lanes.store_i32(lanes.or_i32(low, lanes.shift_left(high, 16)), line);
                    }
                    turn(lanes, tile);
                }
            }
        }
    }

    #[inline(always)]
    fn multiply(&mut self, _lanes: L, panel: usize, keys: Range<usize>, products: &mut [f32]) {
        let length = self.steps * STEP;
        let queries = &self.queries[panel * length..][..length];
        let keys = &self.keys[keys.start / STRIP * length..keys.end / STRIP * length];
        for (keys, products) in keys.chunks_exact(length).zip(products.chunks_exact_mut(SQUARE)) {
            self.ahead.read = keys.as_ptr().wrapping_add(length);
            bf16::sum(&self.configured, keys, queries, &self.ahead, false, products);
        }
    }

    #[inline(always)]
    fn add(&mut self, lanes: L, keys: Range<usize>, powers: &[f32], factors: [L::F; 2], means: &mut [f32]) {
        let length = keys.len() / DEPTH * STEP;
        cut::<L, PARTS>(lanes, powers, keys.len(), &mut self.powers, length);
        scale(lanes, factors, means);
        let all = self.count / DEPTH * STEP;
        for (strip, means) in means.chunks_exact_mut(SQUARE).enumerate() {
            let values = &self.values[strip * all + keys.start / DEPTH * STEP..][..length];
            self.ahead.read = values.as_ptr().wrapping_add(all);
            for powers in self.powers.chunks_exact(length).take(PARTS) {
                bf16::sum(&self.configured, values, powers, &self.ahead, true, means);
            }
        }
    }
}

/// Means count for less, where there are such among their queries.
#[inline(always)]
fn scale<L: Lanes>(lanes: L, factors: [L::F; 2], means: &mut [f32]) {
    // The smallest of all factors, of which none is above one.
    let less = lanes.sub(lanes.splat(0.0), lanes.min(factors[0], factors[1]));
    if lanes.largest(less) == -1.0 {
        return;
    }
    for both in means.chunks_exact_mut(2 * TILE) {
        for (half, means) in both.chunks_exact_mut(TILE).enumerate() {
            for mean in means.chunks_exact_mut(L::LANES) {
                lanes.store_f32(lanes.mul(lanes.load_f32(mean), factors[half]), mean);
            }
        }
    }
}

/// The parts of powers: of each the upper half of its code, in pairs of keys.
#[inline(always)]
fn cut<L: Lanes, const PARTS: usize>(
    lanes: L,
    powers: &[f32],
    keys: usize,
    parts: &mut [i32],
    length: usize,
) {
    let upper = lanes.splat_i32(!0xffff);
    let lift = lanes.splat(LIFT);
    // Half a unit of the last part, where it is not all that is left.
    let half_unit = lanes.splat_i32(if PARTS == 3 { 0 } else { 0x8000 });
    for key in (0..keys).step_by(2) {
        for half in 0..2 {
            let mut left = [lanes.splat(0.0); 2];
            for (next, left) in left.iter_mut().enumerate() {
                let power = &powers[place::<L>(TILE_ROWS, key + next, half)..];
                *left = lanes.mul(lanes.load_f32(power), lift);
            }
            let line = (key / DEPTH * 2 + half) * TILE + key % DEPTH / 2 * TILE_ROWS;
            for part in 0..PARTS {
                let mut codes = [lanes.splat_i32(0); 2];
                for (code, left) in codes.iter_mut().zip(&mut left) {
                    let bits = lanes.to_bits(*left);
                    let bits = if part + 1 == PARTS { lanes.add_i32(bits, half_unit) } else { bits };
                    *code = lanes.and_i32(bits, upper);
                    *left = lanes.sub(*left, lanes.of_bits(*code));
                }
                let pair = lanes.or_i32(lanes.shift_right(codes[0], 16), codes[1]);
                lanes.store_i32(pair, &mut parts[part * length + line..]);
            }
        }
    }
}

/// Numbers of a row in a line.
#[inline(always)]
fn part_of(row: &[bf16], step: usize) -> &[bf16] {
    let from = row.len().min(step * DEPTH);
    &row[from..row.len().min(from + DEPTH)]
}

/// The numbers of a line, zeros beyond them.
#[inline(always)]
fn copy_pairs(numbers: &[bf16], line: &mut [i32]) {
    assert!(numbers.len() <= DEPTH && line.len() == DEPTH / 2);
    if numbers.len() < DEPTH {
        line.fill(0);
    }
    // SAFETY: the line has room for as many numbers, every pair of which is an integer; they do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(numbers.as_ptr(), line.as_mut_ptr().cast(), numbers.len()) }
}

/// Codes of a row from a place on, zeros beyond its end.
#[inline(always)]
fn codes<L: Lanes>(lanes: L, row: &[bf16], from: usize) -> L::I {
    use half::slice::HalfFloatSliceExt;
    let row: &[u16] = row.reinterpret_cast();
    let row = &row[row.len().min(from)..];
    if row.len() >= L::LANES { lanes.load_u16(row) } else { lanes.load_u16(&lanes.load_partial_u16(row, 0)) }
}

/// Lines of a tile become columns.
#[inline(always)]
fn turn<L: Lanes>(lanes: L, tile: &mut [i32]) {
    let mut square = lanes.square(lanes.splat_i32(0));
    for (row, line) in square.as_mut().iter_mut().zip(tile.chunks_exact(L::LANES)) {
        *row = lanes.load_i32(line);
    }
    let square = lanes.transpose_i32(square);
    for (row, line) in square.as_ref().iter().zip(tile.chunks_exact_mut(L::LANES)) {
        lanes.store_i32(*row, line);
    }
}

/// The smallest magnitude that is not zero, less one, and the largest, as codes.
#[inline(always)]
fn extremes(row: &[bf16]) -> (u16, u16) {
    row.iter().fold((u16::MAX, 0), |(smallest, largest), number| {
        let code = number.to_bits() & 0x7fff;
        (smallest.min(code.wrapping_sub(1)), largest.max(code))
    })
}

/// The code of a power of two.
const fn code_of(exponent: i32) -> u16 {
    ((127 + exponent) as u16) << 7
}

/// Whether no number is subnormal.
#[inline(always)]
fn is_normal(row: &[bf16]) -> bool {
    extremes(row).0 >= code_of(-126) - 1
}

/// Whether no product with a lifted power is lost, nor too large.
#[inline(always)]
fn is_moderate(row: &[bf16]) -> bool {
    let (smallest, largest) = extremes(row);
    smallest >= code_of(-60) - 1 && largest <= code_of(40)
}
