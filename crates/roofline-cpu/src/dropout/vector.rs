//! Philox in lanes: a counter in each, the mask of a block written beside, and then the products in a pass of their own.
//!
//! The mask is that of the definition, to the bit.

use super::plain;
use crate::lanes::{Lanes, MAX_LANES};
use crate::philox::philox_lanes;
use crate::rowwise::{Places, at, write};
use crate::scalar::InLanes;
use crate::{Cpu, Element, Isa, Pool, Rows, Scalar, Vectorize};
use std::ops::Range;

/// y = x · m / (1 − p), with the mask of `seed` and offset.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, dropout::vector::dropout};
///
/// let mut y = [0.0_f32; 1000];
/// dropout(&Cpu::serial(), &[1.0; 1000], [7, 0], &mut y, Rows { rows: 1, cols: 1000 }, 0.5);
/// assert!(y.iter().all(|y| [0.0, 2.0].contains(y)));
/// ```
pub fn dropout<T: Scalar>(cpu: &Cpu, x: &[T], seed: [i32; 2], y: &mut [T], shape: Rows, p: f64) {
    on(Pool::alone(), cpu, x, seed, y, shape, p);
}

/// The same, each thread on a part of its own.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, dropout};
///
/// let mut y = [0.0; 1000];
/// dropout(&Cpu::new(2), &[1.0; 1000], [7, 0], &mut y, Rows { rows: 1, cols: 1000 }, 0.5);
/// assert!(y.iter().all(|y| [0.0, 2.0].contains(y)));
/// ```
pub fn dropout_parallel<T: Scalar>(cpu: &Cpu, x: &[T], seed: [i32; 2], y: &mut [T], shape: Rows, p: f64) {
    on(&cpu.pool, cpu, x, seed, y, shape, p);
}

fn on<T: Scalar>(pool: &Pool, cpu: &Cpu, x: &[T], seed: [i32; 2], y: &mut [T], shape: Rows, p: f64) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    let streamed = cpu.streams(2 * size_of_val(y));
    let (least, scale) = (plain::least(p), (1.0 / (1.0 - p)) as f32);
    let mask = Mask { seed, least, scale };
    if !T::in_lanes(OnThreads { pool, isa: cpu.isa, x, y, mask, streamed }) {
        plain::dropout(cpu, x, seed, y, shape, p);
    }
}

/// Elements whose factors are written before their products: whole vectors of counters, in the nearest cache.
const BLOCK: usize = 1024;
/// Elements that are worth handing to another thread.
const PART: usize = 1 << 12;

struct OnThreads<'a, T> {
    pool: &'a Pool,
    isa: Isa,
    x: &'a [T],
    y: &'a mut [T],
    mask: Mask,
    streamed: bool,
}

impl<T: Scalar> InLanes<T> for OnThreads<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let OnThreads { pool, isa, x, y, mask, streamed } = self;
        pool.run_parts_of(y, BLOCK, PART, |first, y| {
            isa.run(Masked { x: &x[first..][..y.len()], y, first, mask, streamed });
        });
    }
}

struct Masked<'a, T> {
    x: &'a [T],
    y: &'a mut [T],
    /// The place of the first of them among all.
    first: usize,
    mask: Mask,
    streamed: bool,
}

impl<T: Element> Vectorize for Masked<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let mut factors = [0.0; BLOCK];
        let blocks = self.x.chunks(BLOCK).zip(self.y.chunks_mut(BLOCK));
        for (index, (x, y)) in blocks.enumerate() {
            let first = self.first + index * BLOCK;
            let needed = x.len().next_multiple_of(4 * MAX_LANES);
            for (at, factors) in factors[..needed].chunks_exact_mut(4 * L::LANES).enumerate() {
                self.mask.factors(lanes, (first / 4 + at * L::LANES) as u64, factors);
            }
            write(lanes, x, y, self.streamed, Times { factors: &factors });
        }
        if self.streamed {
            lanes.fence();
        }
    }
}

#[derive(Clone, Copy)]
struct Mask {
    /// And the offset.
    seed: [i32; 2],
    /// What words are at least that keep an element.
    least: u32,
    scale: f32,
}

impl Mask {
    /// The factors of four elements for each counter from `counter` on, which is a multiple of their number.
    #[inline(always)]
    fn factors<L: Lanes>(self, lanes: L, counter: u64, factors: &mut [f32]) {
        let [seed, offset] = self.seed;
        // The lower word does not overflow within a vector: its counters begin at a multiple of their number.
        let low = lanes.add_i32(lanes.splat_i32(counter as i32), lanes.load_i32(&NUMBERS));
        let words = philox_lanes(lanes, [low, lanes.splat_i32((counter >> 32) as i32)], offset, seed);
        let (zero, scale) = (lanes.splat(0.0), lanes.splat(self.scale));
        let mut of_words = [zero; 4];
        for (factor, word) in of_words.iter_mut().zip(words) {
            let is_dropped = lanes.below(word, lanes.splat_i32(self.least.cast_signed()));
            *factor = lanes.select(is_dropped, zero, scale);
        }
        // Words of a counter side by side.
        let [a, b, c, d] = of_words;
        let (even, odd) = (lanes.interleave(a, c), lanes.interleave(b, d));
        for half in 0..2 {
            let [first, second] = lanes.interleave(even[half], odd[half]);
            lanes.store_f32(first, &mut factors[2 * half * L::LANES..]);
            lanes.store_f32(second, &mut factors[(2 * half + 1) * L::LANES..]);
        }
    }
}

const NUMBERS: [i32; MAX_LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// x times the factor at its place.
#[derive(Clone, Copy)]
struct Times<'a> {
    factors: &'a [f32],
}

impl Places for Times<'_> {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::F, places: Range<usize>) -> L::F {
        lanes.mul(x, at(lanes, self.factors, places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters whose lower word overflows are those of 2³⁴ elements, which no test has in memory.
    #[test]
    fn factors_are_those_of_the_definition_at_any_counter() {
        struct Check {
            isa: Isa,
        }
        impl Vectorize for Check {
            type Output = ();
            #[inline(always)]
            fn run<L: Lanes>(self, lanes: L) {
                let mask = Mask { seed: [-5, 77], least: 1 << 30, scale: 1.5 };
                for counter in [0, 16, (1 << 32) - 16, 1 << 32, (7 << 32) + 160] {
                    let mut factors = [0.0; 4 * MAX_LANES];
                    mask.factors(lanes, counter, &mut factors);
                    for (i, factor) in factors[..4 * L::LANES].iter().enumerate() {
                        let block = counter + i as u64 / 4;
                        let word = crate::philox::philox(
                            [block as u32, (block >> 32) as u32, 77, 0],
                            [(-5i32).cast_unsigned(), 0],
                        )[i % 4];
                        let expected = if word < 1 << 30 { 0.0 } else { 1.5 };
                        assert_eq!(*factor, expected, "{:?}, element {i} from counter {counter}", self.isa);
                    }
                }
            }
        }
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            isa.run(Check { isa });
        }
    }
}
