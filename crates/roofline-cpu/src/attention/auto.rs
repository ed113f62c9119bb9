//! The rung that suits type, sizes and processor.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::amx;
use super::problem::Problem;
use super::{Heads, Rule, blocked, parallel, split_keys};
use crate::scalar::InLanes;
use crate::{Cpu, Element, Scalar, bf16};

/// Queries of a head of keys up to which reading keys takes the time, and packing them would take more.
const FEW: usize = 8;

/// The values of `v` weighted by the softmax of `scale` · q · k; 1 / √dim where no scale is given.
///
/// ```
/// use roofline_cpu::{Cpu, attention, attention::{Heads, Rule}};
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
    if !T::in_lanes(OnShape { cpu, qkv, y, shape, rule, scale }) {
        parallel::attention(cpu, qkv, y, shape, rule, scale);
    }
}

struct OnShape<'a, T> {
    cpu: &'a Cpu,
    qkv: [&'a [T]; 3],
    y: &'a mut [T],
    shape: Heads,
    rule: Rule<'a, T>,
    scale: Option<f64>,
}

impl<T> InLanes<T> for OnShape<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let OnShape { cpu, qkv, y, shape, rule, scale } = self;
        match Problem::new(qkv, shape, rule, scale).rows() {
            ..=FEW => split_keys::attention(cpu, qkv, y, shape, rule, scale),
            _ if T::attend_by_tiles(cpu, qkv, y, shape, rule, scale) => {}
            _ => blocked::attention(cpu, qkv, y, shape, rule, scale),
        }
    }
}

/// The same of bf16, where powers may be rounded before they meet values.
pub(crate) fn attention_p16(
    cpu: &Cpu,
    qkv: [&[bf16]; 3],
    y: &mut [bf16],
    shape: Heads,
    rule: Rule<'_, bf16>,
    scale: Option<f64>,
) {
    shape.check(qkv, y, &rule);
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    if amx::is_available() && Problem::new(qkv, shape, rule, scale).rows() > FEW {
        return amx::attention_p16(cpu, qkv, y, shape, rule, scale);
    }
    attention(cpu, qkv, y, shape, rule, scale);
}
