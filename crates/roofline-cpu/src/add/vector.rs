//! One vector at a time, streamed past the caches when nothing would keep it.
//!
//! Over the plain loop: explicit lanes for the 16-bit types, and no read of
//! the lines that are about to be overwritten. A few elements in front bring
//! the output to the start of a line, which streaming stores need. Four parts
//! are walked together: a processor fetches ahead within a page, and more
//! pages at once keep more of memory busy.

use crate::lanes::Lanes;
use crate::{Cpu, Element, Rows, Vectorize, stream};

/// z = x + y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add::vector::add};
///
/// let mut z = [0.0; 3];
/// add(&Cpu::serial(), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [1.5, 2.5, 3.5]);
/// ```
pub fn add<T: Element>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    super::check(x.len(), y.len(), z.len(), shape);
    let streamed = cpu.streams(3 * size_of_val(x));
    cpu.isa.run(Add { x, y, z, streamed });
}

/// z = x + y over slices of one length.
pub(super) struct Add<'a, T> {
    pub(super) x: &'a [T],
    pub(super) y: &'a [T],
    pub(super) z: &'a mut [T],
    pub(super) streamed: bool,
}

impl<T: Element> Vectorize for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Add { x, y, z, streamed } = self;
        if !streamed {
            return add_with(lanes, x, y, z);
        }
        let head = stream::unaligned_head(z);
        let (x_head, x) = x.split_at(head);
        let (y_head, y) = y.split_at(head);
        let (z_head, z) = z.split_at_mut(head);
        add_with(lanes, x_head, y_head, z_head);
        let part = z.len() / STREAMS / stream::line::<T>() * stream::line::<T>();
        let (x, x_tail) = x.split_at(STREAMS * part);
        let (y, y_tail) = y.split_at(STREAMS * part);
        let (z, z_tail) = z.split_at_mut(STREAMS * part);
        add_streams(lanes, x, y, z, part);
        add_with(lanes, x_tail, y_tail, z_tail);
        lanes.fence();
    }
}

/// Parts that are walked together.
const STREAMS: usize = 4;

/// Vectors of a line: of 2-byte elements, with eight lanes.
const MOST_VECTORS: usize = 4;

/// z = x + y over `STREAMS` parts of whole lines, a line of each in turn.
#[inline(always)]
fn add_streams<L: Lanes, T: Element>(lanes: L, x: &[T], y: &[T], z: &mut [T], part: usize) {
    let line = stream::line::<T>();
    for at in (0..part).step_by(line) {
        // All are read before any is written: memory turns from one to the other less often.
        let mut sums = [[lanes.splat(0.0); MOST_VECTORS]; STREAMS];
        for (stream, sums) in sums.iter_mut().enumerate() {
            for (vector, sum) in sums.iter_mut().enumerate().take(line / L::LANES) {
                let from = stream * part + at + vector * L::LANES;
                *sum = lanes.add(T::load(lanes, &x[from..]), T::load(lanes, &y[from..]));
            }
        }
        for (stream, sums) in sums.into_iter().enumerate() {
            for (vector, sum) in sums.into_iter().enumerate().take(line / L::LANES) {
                T::stream(lanes, sum, &mut z[stream * part + at + vector * L::LANES..]);
            }
        }
    }
}

#[inline(always)]
fn add_with<L: Lanes, T: Element>(lanes: L, x: &[T], y: &[T], z: &mut [T]) {
    let mut x = x.chunks_exact(L::LANES);
    let mut y = y.chunks_exact(L::LANES);
    let mut z = z.chunks_exact_mut(L::LANES);
    for ((x, y), z) in (&mut x).zip(&mut y).zip(&mut z) {
        T::store(lanes, lanes.add(T::load(lanes, x), T::load(lanes, y)), z);
    }
    let zero = T::default();
    let x = T::load_partial(lanes, x.remainder(), zero);
    let y = T::load_partial(lanes, y.remainder(), zero);
    T::store_partial(lanes, lanes.add(x, y), z.into_remainder());
}
