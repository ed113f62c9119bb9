//! A vector of probabilities and of classes at a time. Powers of whole numbers are products; of others, scalar code.

use super::plain;
use crate::lanes::{Lanes, MAX_LANES};
use crate::math::log;
use crate::rowwise::{Places, write};
use crate::scalar::InLanes;
use crate::{Cpu, Element, Isa, Pool, Rows, Scalar, Vectorize, stream};
use std::ops::Range;

/// The focal loss of probabilities `p` of class 1, where the class is `t`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, focal::vector::focal};
///
/// let mut y = [0.0_f32; 2];
/// focal(&Cpu::serial(), &[0.5, 0.5], &[1, 0], &mut y, Rows { rows: 1, cols: 2 }, 0.25, 2.0);
/// assert!((y[0] - 0.0625 * 2f32.ln()).abs() < 1e-8 && y[1] == y[0]);
/// ```
pub fn focal<T: Scalar>(cpu: &Cpu, p: &[T], t: &[i32], y: &mut [T], shape: Rows, alpha: f64, gamma: f64) {
    on(Pool::alone(), cpu, p, t, y, shape, alpha, gamma);
}

/// The same, each thread on a part of its own.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, focal};
///
/// let mut y = [0.0; 2];
/// focal(&Cpu::serial(), &[0.5, 0.5], &[1, 0], &mut y, Rows { rows: 1, cols: 2 }, 0.25, 2.0);
/// assert!((y[0] - 0.0625 * 2f64.ln()).abs() < 1e-12 && (y[1] - y[0]).abs() < 1e-12);
/// ```
pub fn focal_parallel<T: Scalar>(
    cpu: &Cpu,
    p: &[T],
    t: &[i32],
    y: &mut [T],
    shape: Rows,
    alpha: f64,
    gamma: f64,
) {
    on(&cpu.pool, cpu, p, t, y, shape, alpha, gamma);
}

#[expect(clippy::too_many_arguments, reason = "those of the kernel, and who runs it")]
fn on<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    p: &[T],
    t: &[i32],
    y: &mut [T],
    shape: Rows,
    alpha: f64,
    gamma: f64,
) {
    assert!([p.len(), t.len(), y.len()] == [shape.len(); 3], "lengths for {shape:?}");
    let streamed = cpu.streams(2 * size_of_val(y) + size_of_val(t));
    let loss = Loss { alpha: alpha as f32, gamma: gamma as f32, t };
    if !T::in_lanes(OnThreads { pool, isa: cpu.isa, p, y, loss, streamed }) {
        plain::focal(cpu, p, t, y, shape, alpha, gamma);
    }
}

struct OnThreads<'a, T> {
    pool: &'a Pool,
    isa: Isa,
    p: &'a [T],
    y: &'a mut [T],
    loss: Loss<'a>,
    streamed: bool,
}

/// Elements that are worth handing to another thread.
const PART: usize = 1 << 12;

impl<T: Scalar> InLanes<T> for OnThreads<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let OnThreads { pool, isa, p, y, loss, streamed } = self;
        pool.run_parts_of(y, stream::line::<T>(), PART, |offset, y| {
            let (p, t) = (&p[offset..][..y.len()], &loss.t[offset..][..y.len()]);
            isa.run(Losses { p, y, loss: Loss { t, ..loss }, streamed });
        });
    }
}

struct Losses<'a, T> {
    p: &'a [T],
    y: &'a mut [T],
    loss: Loss<'a>,
    streamed: bool,
}

impl<T: Element> Vectorize for Losses<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        write(lanes, self.p, self.y, self.streamed, self.loss);
        if self.streamed {
            lanes.fence();
        }
    }
}

#[derive(Clone, Copy)]
struct Loss<'a> {
    alpha: f32,
    gamma: f32,
    t: &'a [i32],
}

impl Places for Loss<'_> {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, p: L::F, places: Range<usize>) -> L::F {
        let t = &self.t[places];
        let t = if t.len() == L::LANES { lanes.load_i32(t) } else { lanes.load_partial_i32(t) };
        let [zero, one] = [lanes.splat(0.0), lanes.splat(1.0)];
        let is_one = lanes.less(zero, lanes.of_i32(t));
        let other = lanes.sub(one, p);
        let q = lanes.select(is_one, p, other);
        let power = power(lanes, lanes.sub(one, q), self.gamma);
        lanes.mul(lanes.mul(lanes.sub(zero, lanes.splat(self.alpha)), power), log(lanes, q))
    }
}

/// The highest power that is a chain of products.
const MOST: f32 = 8.0;

#[inline(always)]
fn power<L: Lanes>(lanes: L, x: L::F, exponent: f32) -> L::F {
    if exponent.fract() == 0.0 && (0.0..=MOST).contains(&exponent) {
        let mut power = lanes.splat(1.0);
        for _ in 0..exponent as usize {
            power = lanes.mul(power, x);
        }
        return power;
    }
    let mut each = [0.0; MAX_LANES];
    lanes.store_f32(x, &mut each);
    powers(&mut each, exponent);
    lanes.load_f32(&each)
}

#[inline(never)]
fn powers(x: &mut [f32; MAX_LANES], exponent: f32) {
    x.iter_mut().for_each(|x| *x = x.powf(exponent));
}
