//! A pass in lanes over each row, which adds up differences of elements to themselves: 0, or NaN where there is a NaN or an
//! infinity, and then the definition decides.

use super::plain::largest as largest_of;
use crate::lanes::Lanes;
use crate::reduce::Line;
use crate::rowwise::{Number, Terms, largest, reduce, sums};
use crate::{Cpu, Element, Pool, Rows};

/// The largest element of each row; NaN where there is one.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, max::vector::max};
///
/// let mut y = [0.0_f32; 2];
/// max(&Cpu::serial(), &[1.0, 2.0, f32::NAN, 3.0], &mut y, Rows { rows: 2, cols: 2 });
/// assert!(y[0] == 2.0 && y[1].is_nan());
/// ```
pub fn max<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(Pool::alone(), cpu, x, y, shape, Max);
}

/// The same, rows on all threads.
pub fn max_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    reduce(&cpu.pool, cpu, x, y, shape, Max);
}

#[derive(Clone, Copy)]
pub(super) struct Max;

impl Number<1> for Max {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, [row]: [&[T]; 1]) -> f32 {
        let [odd] = sums(lanes, [row], Nothing);
        if odd == 0.0 { largest(lanes, row) } else { largest_of(Line::row(row)) }
    }
}

/// x − x.
#[derive(Clone, Copy)]
struct Nothing;

impl Terms<1, 1> for Nothing {
    #[inline(always)]
    fn add<L: Lanes>(self, lanes: L, [sum]: [L::F; 1], [x]: [L::F; 1]) -> [L::F; 1] {
        [lanes.add(sum, lanes.sub(x, x))]
    }
}
