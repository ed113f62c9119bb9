//! Row by row, a vector at a time: a row of y meets one row of x, or one number of it. f64 has no lanes here: it is
//! computed by the definition.

use super::plain;
use crate::add::vector::Add;
use crate::elementwise::{Formula, Over};
use crate::lanes::Lanes;
use crate::scalar::InLanes;
use crate::{Cpu, Element, Isa, Pool, Scalar};

/// z = x + y with y of `shape` and x of the same but for 1 at axis `along`.
///
/// ```
/// use roofline_cpu::{Cpu, broadcast_add::vector::broadcast_add};
///
/// let mut z = [0.0f32; 4];
/// broadcast_add(&Cpu::serial(), &[10.0, 20.0], &[1.0, 2.0, 3.0, 4.0], &mut z, [2, 1, 2], 0);
/// assert_eq!(z, [11.0, 22.0, 13.0, 24.0]);
/// ```
pub fn broadcast_add<T: Scalar>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: [usize; 3], along: usize) {
    broadcast_on(Pool::alone(), cpu, x, y, z, shape, along);
}

pub(super) fn broadcast_on<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    x: &[T],
    y: &[T],
    z: &mut [T],
    shape: [usize; 3],
    along: usize,
) {
    let lengths = [x.len() * shape[along], y.len(), z.len()];
    assert!(lengths == [shape.iter().product(); 3], "lengths for {shape:?} along {along}");
    // How many rows that follow each other meet the same row of x, and how long a row is.
    let (repeats, row) = match along {
        0 => (shape[0], shape[1] * shape[2]),
        1 => (shape[1], shape[2]),
        _ => (1, shape[2]),
    };
    // Streams end with a fence, which is for rows that are long.
    let streamed = cpu.streams(2 * size_of_val(z)) && row * size_of::<T>() >= LONG;
    let by_number = along == 2;
    if z.is_empty() || T::in_lanes(RowsOn { pool, isa: cpu.isa, x, y, z, repeats, row, by_number, streamed })
    {
        return;
    }
    plain::broadcast_add(cpu, x, y, z, shape, along);
}

/// A row of z is that of y plus a row of x, the same for `repeats` rows that follow each other, or plus a number of x.
struct RowsOn<'a, T> {
    pool: &'a Pool,
    isa: Isa,
    x: &'a [T],
    y: &'a [T],
    z: &'a mut [T],
    repeats: usize,
    row: usize,
    by_number: bool,
    streamed: bool,
}

/// Bytes of a row that is worth a fence.
const LONG: usize = 1 << 13;
/// Elements that are worth handing to another thread.
const PART: usize = 1 << 14;

impl<T: Scalar> InLanes<T> for RowsOn<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let RowsOn { pool, isa, x, y, z, repeats, row, by_number, streamed } = self;
        pool.run_parts_of(z, row, PART, |offset, z| {
            let y = &y[offset..][..z.len()];
            let first = offset / row;
            for (index, (y, z)) in y.chunks(row).zip(z.chunks_mut(row)).enumerate() {
                let place = (first + index) / repeats;
                if by_number {
                    isa.run(Over { x: [y], y: z, formula: AddNumber(x[place].wide()), streamed });
                } else {
                    let x = &x[place * row % x.len()..][..row];
                    isa.run(Over { x: [x, y], y: z, formula: Add, streamed });
                }
            }
        });
    }
}

#[derive(Clone, Copy)]
struct AddNumber(f32);

impl Formula<1> for AddNumber {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, [x]: [L::F; 1]) -> L::F {
        lanes.add(x, lanes.splat(self.0))
    }
}
