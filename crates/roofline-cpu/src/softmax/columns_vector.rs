//! Softmax over each column, by strips of them in lanes: the largest elements, the sums of exponentials, the quotients.

use crate::columnwise::{self, Columns, Finish, Strip, StripMut, exponentials, map, one};
use crate::lanes::Lanes;
use crate::math::exp;
use crate::{Cpu, Element, Pool, Rows, Scalar};

/// Softmax of each column of `x`.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, softmax::columns_vector::softmax_columns};
///
/// let mut y = [0.0_f32; 4];
/// softmax_columns(&Cpu::serial(), &[0.0, 7.0, 0.0, f32::NEG_INFINITY], &mut y, Rows { rows: 2, cols: 2 });
/// assert_eq!(y, [0.5, 1.0, 0.5, 0.0]);
/// ```
pub fn softmax_columns<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(Pool::alone(), cpu, x, y, one(shape), SoftmaxColumns);
}

/// The same, columns on all threads.
pub fn softmax_columns_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    map(&cpu.pool, cpu, x, y, one(shape), SoftmaxColumns);
}

/// Softmax over the middle dimension of `x`, whose shape is \[outer, length, inner\].
pub fn softmax_axis<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    map(Pool::alone(), cpu, x, y, shape, SoftmaxColumns);
}

/// The same, columns on all threads.
pub fn softmax_axis_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: [usize; 3]) {
    map(&cpu.pool, cpu, x, y, shape, SoftmaxColumns);
}

#[derive(Clone, Copy)]
pub(crate) struct SoftmaxColumns;

impl<T: Scalar> Columns<T> for SoftmaxColumns {
    const RETURNS: bool = true;

    #[inline(always)]
    fn write<L: Lanes>(self, lanes: L, x: Strip<'_, T>, y: StripMut<'_, T>)
    where
        T: Element,
    {
        let [most, mut sums] = exponentials(lanes, x);
        // A sum is one at least, so its inverse loses nothing.
        sums.iter_mut().for_each(|sum| *sum = 1.0 / *sum);
        columnwise::write(lanes, x, y, Share { most: &most, inverse: &sums });
    }
}

/// exp(x - largest) / sum.
#[derive(Clone, Copy)]
struct Share<'a> {
    most: &'a [f32],
    inverse: &'a [f32],
}

impl Finish for Share<'_> {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, x: L::F, place: usize) -> L::F {
        let [most, inverse] = [lanes.load_f32(&self.most[place..]), lanes.load_f32(&self.inverse[place..])];
        lanes.mul(exp(lanes, lanes.sub(x, most)), inverse)
    }
}
