//! The passes of [`layer_norm`](crate::layer_norm::vector), and the gelu on what the last one writes.

use crate::elementwise::Formula;
use crate::gelu::vector::Gelu;
use crate::gelu_tanh::vector::GeluTanh;
use crate::lanes::Lanes;
use crate::layer_norm::plain::normalize_row;
use crate::layer_norm::vector::{Finished, Spread};
use crate::rowwise::{self, Line, Places, map};
use crate::{Cpu, Element, Pool, Rows, Scalar, gelu, gelu_tanh};
use std::ops::Range;

/// gelu(layer-norm(x)) for each row of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, layer_norm_gelu::vector::layer_norm_gelu};
///
/// let mut y = [1.0_f32; 2];
/// layer_norm_gelu(&Cpu::serial(), &[1.0, 3.0], &[0.0; 2], &[0.0; 2], &mut y, Rows { rows: 1, cols: 2 }, 0.0);
/// assert_eq!(y, [0.0; 2]);
/// ```
pub fn layer_norm_gelu<T: Element>(cpu: &Cpu, x: &[T], w: &[T], b: &[T], y: &mut [T], shape: Rows, eps: f64) {
    on(Pool::alone(), cpu, x, y, shape, WithGelu::by_erf(w, b, eps));
}

/// The same, rows on all threads.
pub fn layer_norm_gelu_parallel<T: Element>(
    cpu: &Cpu,
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
    shape: Rows,
    eps: f64,
) {
    on(&cpu.pool, cpu, x, y, shape, WithGelu::by_erf(w, b, eps));
}

/// The same with the gelu of the hyperbolic tangent.
pub fn layer_norm_gelu_tanh<T: Element>(
    cpu: &Cpu,
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
    shape: Rows,
    eps: f64,
) {
    on(Pool::alone(), cpu, x, y, shape, WithGelu::by_tanh(w, b, eps));
}

/// The same, rows on all threads.
pub fn layer_norm_gelu_tanh_parallel<T: Element>(
    cpu: &Cpu,
    x: &[T],
    w: &[T],
    b: &[T],
    y: &mut [T],
    shape: Rows,
    eps: f64,
) {
    on(&cpu.pool, cpu, x, y, shape, WithGelu::by_tanh(w, b, eps));
}

/// On these threads; false, and nothing done, where the type has no lanes.
#[track_caller]
pub(super) fn on<T: Scalar, G: Formula<1>>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    y: &mut [T],
    shape: Rows,
    line: WithGelu<'_, T, G>,
) -> bool {
    assert!([line.w.len(), line.b.len()] == [shape.cols; 2], "lengths of w and b for {shape:?}");
    map(pool, cpu, x, y, shape, line)
}

/// Weights, biases and the gelu, which rows of unusual numbers have from its definition.
#[derive(Clone, Copy)]
pub(super) struct WithGelu<'a, T, G> {
    w: &'a [T],
    b: &'a [T],
    eps: f64,
    gelu: G,
    definition: fn(f64) -> f64,
}

impl<'a, T> WithGelu<'a, T, Gelu> {
    pub(super) fn by_erf(w: &'a [T], b: &'a [T], eps: f64) -> Self {
        Self { w, b, eps, gelu: Gelu, definition: gelu::plain::formula }
    }
}

impl<'a, T> WithGelu<'a, T, GeluTanh> {
    pub(super) fn by_tanh(w: &'a [T], b: &'a [T], eps: f64) -> Self {
        Self { w, b, eps, gelu: GeluTanh, definition: gelu_tanh::plain::formula }
    }
}

impl<T: Scalar, G: Formula<1>> Line<T> for WithGelu<'_, T, G> {
    #[inline(always)]
    fn write<L: Lanes>(self, lanes: L, x: &[T], y: &mut [T], streamed: bool)
    where
        T: Element,
    {
        let WithGelu { w, b, eps, gelu, definition } = self;
        let Some(spread) = Spread::of(lanes, x, eps) else {
            let normed = |j: usize, x: f64| x * f64::from(w[j].wide()) + f64::from(b[j].wide());
            return normalize_row(x, y, eps, |j, x| definition(normed(j, x)));
        };
        rowwise::write(lanes, x, y, streamed, Then { normed: Finished { spread, w, b }, gelu });
    }
}

/// The gelu of what is normed.
#[derive(Clone, Copy)]
struct Then<P, G> {
    normed: P,
    gelu: G,
}

impl<P: Places, G: Formula<1>> Places for Then<P, G> {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::F, places: Range<usize>) -> L::F {
        self.gelu.of(lanes, [self.normed.of(lanes, x, places)])
    }
}
