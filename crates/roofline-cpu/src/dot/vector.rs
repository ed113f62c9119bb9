//! Products in lanes, block by block: as many blocks whatever the threads, so that all give the same bits.

use crate::lanes::Lanes;
use crate::reduce::pairwise;
use crate::rowwise::{BLOCKS, Number, Product, blocks, sums};
use crate::{Cpu, Element, Pool};

/// z = Σ x · y.
///
/// ```
/// use roofline_cpu::{Cpu, dot::vector::dot};
///
/// let mut z = [0.0_f32];
/// dot(&Cpu::serial(), &[1.0, 2.0], &[3.0, 4.0], &mut z);
/// assert_eq!(z, [11.0]);
/// ```
pub fn dot<T: Element>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T]) {
    on(Pool::alone(), cpu, x, y, z);
}

/// The same, blocks on all threads.
pub fn dot_parallel<T: Element>(cpu: &Cpu, x: &[T], y: &[T], z: &mut [T]) {
    on(&cpu.pool, cpu, x, y, z);
}

fn on<T: Element>(pool: &Pool, cpu: &Cpu, x: &[T], y: &[T], z: &mut [T]) {
    assert!(x.len() == y.len() && z.len() == 1, "lengths for {} products", x.len());
    let sums = blocks(pool, cpu, [x, y], Products).unwrap_or([f32::NAN; BLOCKS]);
    z[0] = T::narrow(pairwise(0..BLOCKS, &|block| sums[block]));
}

#[derive(Clone, Copy)]
struct Products;

impl Number<2> for Products {
    #[inline(always)]
    fn of<L: Lanes, T: Element>(self, lanes: L, rows: [&[T]; 2]) -> f32 {
        let [sum] = sums(lanes, rows, Product);
        sum
    }
}
