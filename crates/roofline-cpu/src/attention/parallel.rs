//! The definition on all threads, whole heads of queries each.
//!
//! Heads of queries are independent: threads read keys and values together and write what is their own.

use super::plain::attend;
use super::{Heads, Rule};
use crate::{Cpu, Scalar};

/// Products that are worth handing to another thread.
const PIECE: usize = 1 << 13;

/// The values of `v` weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given.
///
/// ```
/// use roofline_cpu::{Cpu, attention::{Heads, Rule, parallel::attention}};
///
/// // A key of each head of queries, that stands out.
/// let (q, k, v) = ([100.0f32, -100.0], [1.0, -1.0], [3.0, 4.0]);
/// let mut y = [0.0; 2];
/// let shape = Heads { kv: 2, kv_heads: 1, ..Heads::new(1, 2, 1) };
/// attention(&Cpu::new(2), [&q, &k, &v], &mut y, shape, Rule::All, None);
/// assert_eq!(y, [3.0, 4.0]);
/// ```
pub fn attention<T: Scalar>(
    cpu: &Cpu,
    qkv: [&[T]; 3],
    y: &mut [T],
    shape: Heads,
    rule: Rule<'_, T>,
    scale: Option<f64>,
) {
    shape.check(qkv, y, &rule);
    let dim = shape.dim.max(1);
    cpu.pool.run_pieces(y, dim, PIECE / shape.kv.max(1), |offset, y| {
        attend(qkv, offset / dim, y, shape, rule, scale);
    });
}
