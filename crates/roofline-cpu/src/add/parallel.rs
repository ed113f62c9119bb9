//! The vector loop on all threads, each on contiguous pieces of its own.
//!
//! One core cannot fill the memory system; several can. Pieces are a few
//! pages at least, so that a small call stays on one thread.

use super::vector::Add;
use crate::{Cpu, Element, Rows};

/// A piece that is worth handing to another thread, and a whole number of
/// cache lines, in elements.
const PIECE: usize = 1 << 14;

/// z = x + y.
///
/// ```
/// use roofline_cpu::{Cpu, Rows, add::parallel::add};
///
/// let mut z = [0.0; 3];
/// add(&Cpu::new(2), &[1.0, 2.0, 3.0], &[0.5; 3], &mut z, Rows { rows: 1, cols: 3 });
/// assert_eq!(z, [1.5, 2.5, 3.5]);
/// ```
pub fn add<T: Element>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T], shape: Rows) {
    super::check(x.len(), y.len(), z.len(), shape);
    let streamed = cpu.streams(3 * size_of_val(x));
    cpu.pool.run_pieces(z, PIECE, PIECE, |offset, z| {
        let x = &x[offset..][..z.len()];
        let y = &y[offset..][..z.len()];
        cpu.isa.run(Add { x, y, z, streamed });
    });
}
