//! A channel of an image after the other, a vector at a time: the mean off, times one number, and the shift.

use super::{Images, Statistics, plain};
use crate::elementwise::{Formula, Over};
use crate::lanes::Lanes;
use crate::scalar::InLanes;
use crate::{Cpu, Element, Isa, Pool, Scalar};

/// Normalises every channel of every image.
///
/// ```
/// use roofline_cpu::{Cpu, batch_norm::{Images, Statistics, vector::batch_norm}};
///
/// let (mut y, shape) = ([0.0_f32; 2], Images { batch: 1, channels: 1, pixels: 2 });
/// let statistics = Statistics { mean: &[1.0], var: &[4.0], w: &[2.0], b: &[3.0] };
/// batch_norm(&Cpu::serial(), &[1.0, 3.0], statistics, &mut y, shape, 0.0);
/// assert_eq!(y, [3.0, 5.0]);
/// ```
pub fn batch_norm<T: Scalar>(
    cpu: &Cpu,
    x: &[T],
    statistics: Statistics<'_, T>,
    y: &mut [T],
    shape: Images,
    eps: f64,
) {
    on(Pool::alone(), cpu, x, statistics, y, shape, eps);
}

/// The same, channels on all threads.
///
/// ```
/// use roofline_cpu::{Cpu, batch_norm, batch_norm::{Images, Statistics}};
///
/// let (mut y, shape) = ([0.0; 2], Images { batch: 1, channels: 1, pixels: 2 });
/// let statistics = Statistics { mean: &[1.0], var: &[4.0], w: &[2.0], b: &[3.0] };
/// batch_norm(&Cpu::serial(), &[1.0, 3.0], statistics, &mut y, shape, 0.0);
/// assert_eq!(y, [3.0, 5.0]);
/// ```
pub fn batch_norm_parallel<T: Scalar>(
    cpu: &Cpu,
    x: &[T],
    statistics: Statistics<'_, T>,
    y: &mut [T],
    shape: Images,
    eps: f64,
) {
    on(&cpu.pool, cpu, x, statistics, y, shape, eps);
}

fn on<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    statistics: Statistics<'_, T>,
    y: &mut [T],
    shape: Images,
    eps: f64,
) {
    super::check(x, statistics, y, shape);
    // Streams end with a fence, which is for channels that are long.
    let streamed = cpu.streams(2 * size_of_val(y)) && shape.pixels * size_of::<T>() >= LONG;
    if !T::in_lanes(Channels { pool, isa: cpu.isa, x, statistics, y, shape, eps, streamed }) {
        plain::batch_norm(cpu, x, statistics, y, shape, eps);
    }
}

struct Channels<'a, T> {
    pool: &'a Pool,
    isa: Isa,
    x: &'a [T],
    statistics: Statistics<'a, T>,
    y: &'a mut [T],
    shape: Images,
    eps: f64,
    streamed: bool,
}

/// Bytes of a channel that is worth a fence.
const LONG: usize = 1 << 13;
/// Elements that are worth handing to another thread.
const PART: usize = 1 << 14;

impl<T: Scalar> InLanes<T> for Channels<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let Channels { pool, isa, x, statistics: Statistics { mean, var, w, b }, y, shape, .. } = self;
        let pixels = shape.pixels.max(1);
        pool.run_parts_of(y, pixels, PART, |offset, y| {
            let x = &x[offset..][..y.len()];
            for (index, (x, y)) in x.chunks(pixels).zip(y.chunks_mut(pixels)).enumerate() {
                let c = (offset / pixels + index) % shape.channels;
                let factor = w[c].wide() / (var[c].wide() + self.eps as f32).sqrt();
                let formula = Normed { mean: mean[c].wide(), factor, shift: b[c].wide() };
                isa.run(Over { x: [x], y, formula, streamed: self.streamed });
            }
        });
    }
}

/// (x − mean) · factor + shift.
#[derive(Clone, Copy)]
struct Normed {
    mean: f32,
    factor: f32,
    shift: f32,
}

impl Formula<1> for Normed {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        let off = lanes.sub(x, lanes.splat(self.mean));
        lanes.mul_add(off, lanes.splat(self.factor), lanes.splat(self.shift))
    }
}
