//! One launch as kernels in lanes see it: the queries that share a head of keys are rows, those of one place together.
//!
//! A row's keys are a range, and both of its ends rise with the number of the row.

use super::plain::seen;
use super::{Heads, Rule};
use crate::{Cpu, Pool};
use std::ops::Range;

/// Multiplications up to which threads are called for longer than they work.
const SERIAL: usize = 1 << 14;

/// Tensors, sizes and the rule of one launch.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a, T> {
    pub(crate) q: &'a [T],
    pub(crate) k: &'a [T],
    pub(crate) v: &'a [T],
    pub(crate) shape: Heads,
    pub(crate) rule: Rule<'a, T>,
    pub(crate) scale: f32,
}

/// Some rows of a head of keys.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) batch: usize,
    pub(crate) kv_head: usize,
    pub(crate) rows: Range<usize>,
}

impl<'a, T> Problem<'a, T> {
    pub(crate) fn new(
        [q, k, v]: [&'a [T]; 3],
        shape: Heads,
        rule: Rule<'a, T>,
        scale: Option<f64>,
    ) -> Problem<'a, T> {
        let scale = scale.unwrap_or_else(|| 1.0 / (shape.dim as f64).sqrt()) as f32;
        Problem { q, k, v, shape, rule, scale }
    }

    /// The threads that are worth calling.
    pub(crate) fn pool<'c>(&self, cpu: &'c Cpu) -> &'c Pool {
        let Heads { seq, kv, heads, dim, batch, .. } = self.shape;
        if batch * seq * kv * heads * dim < SERIAL { Pool::alone() } else { &cpu.pool }
    }

    /// Heads of queries that share a head of keys.
    pub(crate) fn group(&self) -> usize {
        self.shape.heads / self.shape.kv_heads
    }

    /// Rows of a head of keys.
    pub(crate) fn rows(&self) -> usize {
        self.shape.seq * self.group()
    }

    /// Heads of keys in all sequences.
    pub(crate) fn key_heads(&self) -> usize {
        self.shape.batch * self.shape.kv_heads
    }

    /// The head of queries of a row.
    pub(crate) fn head(&self, kv_head: usize, row: usize) -> usize {
        kv_head * self.group() + row % self.group()
    }

    /// Where a row is in the queries and in the output.
    pub(crate) fn row(&self, part: &Part, row: usize) -> Range<usize> {
        let Heads { seq, heads, dim, heads_first, .. } = self.shape;
        let (i, head) = (row / self.group(), self.head(part.kv_head, row));
        let place = if heads_first { head * seq + i } else { i * heads + head };
        let first = (part.batch * seq * heads + place) * dim;
        first..first + dim
    }

    /// The keys that a row sees.
    pub(crate) fn seen(&self, row: usize) -> Range<usize> {
        seen(self.shape, &self.rule, row / self.group())
    }

    /// The keys that one or the other of some rows sees.
    pub(crate) fn seen_by(&self, rows: Range<usize>) -> Range<usize> {
        self.seen(rows.start).start..self.seen(rows.end - 1).end
    }

    /// Where the first key of a head is, and how far one is from the next.
    pub(crate) fn keys(&self, batch: usize, kv_head: usize) -> (usize, usize) {
        let Heads { kv, kv_heads, dim, heads_first, .. } = self.shape;
        let (place, step) = if heads_first { (kv_head * kv, 1) } else { (kv_head, kv_heads) };
        ((batch * kv * kv_heads + place) * dim, step * dim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_where_the_definition_has_them() {
        for heads_first in [false, true] {
            let shape = Heads { batch: 2, seq: 3, kv: 5, heads: 4, kv_heads: 2, dim: 7, heads_first };
            let problem = Problem::<f32>::new([&[]; 3], shape, Rule::Window(2), None);
            let mut met = vec![false; 2 * 3 * 4];
            for (batch, kv_head) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let part = Part { batch, kv_head, rows: 0..problem.rows() };
                for row in part.rows.clone() {
                    let place = problem.row(&part, row);
                    let [of_batch, i, head] = shape.place(place.start / 7);
                    assert_eq!((of_batch, i, head), (batch, row / 2, problem.head(kv_head, row)));
                    assert_eq!(problem.seen(row), i + 1..i + 3);
                    let (first, step) = problem.keys(batch, kv_head);
                    assert_eq!(shape.key(batch, head, 3).start, first + 3 * step);
                    met[place.start / 7] = true;
                }
            }
            assert!(met.into_iter().all(|met| met), "heads first: {heads_first}");
        }
    }
}
