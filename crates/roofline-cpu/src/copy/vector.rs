//! Vectors, four lines at a time; large outputs go past the caches, which the system's own copy does only for sizes
//! beyond what it takes the last cache to be.

use crate::elementwise::{Formula, Over};
use crate::lanes::Lanes;
use crate::scratch::Plain;
use crate::{Cpu, Datum, Pool, Rows};

/// y = x.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, copy::vector::copy};
///
/// let mut y = [0.0; 3];
/// copy(&Cpu::serial(), &[1.0, 2.0, 3.0], &mut y, Rows { rows: 1, cols: 3 });
/// assert_eq!(y, [1.0, 2.0, 3.0]);
/// ```
pub fn copy<T: Datum + Plain>(cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    copy_on(Pool::alone(), cpu, x, y, shape);
}

/// A part that is worth handing to another thread, in bytes.
const PART: usize = 1 << 16;

pub(super) fn copy_on<T: Datum + Plain>(pool: &Pool, cpu: &Cpu, x: &[T], y: &mut [T], shape: Rows) {
    assert!([x.len(), y.len()] == [shape.len(); 2], "lengths for {shape:?}");
    let streamed = cpu.streams(2 * size_of_val(x));
    pool.run_parts_of(y, 64 / size_of::<T>(), PART / size_of::<T>(), |offset, y| {
        let x = &x[offset..][..y.len()];
        // Whole words of 32 bits: lanes move them and look at none.
        // SAFETY: `T` is plain, every pattern of bits is an f32, and an f32 that is not changed is any `T` again.
        let ((x_head, x_words, x_tail), (y_head, y_words, y_tail)) =
            unsafe { (x.align_to::<f32>(), y.align_to_mut::<f32>()) };
        if x_head.len() == y_head.len() && x_words.len() == y_words.len() {
            y_head.copy_from_slice(x_head);
            cpu.isa.run(Over { x: [x_words], y: y_words, formula: Same, streamed });
            y_tail.copy_from_slice(x_tail);
        } else {
            y.copy_from_slice(x);
        }
    });
}

#[derive(Clone, Copy)]
struct Same;

impl Formula<1> for Same {
    #[inline(always)]
    fn of<L: Lanes>(self, _lanes: L, [x]: [L::F; 1]) -> L::F {
        x
    }
}
