//! Products of a few rows of A: every element of B is read once, as it lies, and packed nowhere.
//!
//! Over the packed kernel: with a handful of rows an element of B meets a handful of products, so reading B is
//! the limit and a packed copy would cost more than the product. A is small: it is widened once and stays in
//! the nearest caches while B passes by. Eight rows share a pass over B; more take another.

mod dots;
mod sums;

use std::ops::Range;

use dots::Dots;
use sums::Sums;

use super::block::Block;
use super::factor::Number;
use super::packing::load_end;
use super::{Factor, Form};
use crate::lanes::{Lanes, MAX_LANES};
use crate::scratch::Scratch;
use crate::{Cpu, Isa, Pool, Product, Vectorize};

/// C = A·Bᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::few_rows::matmul};
///
/// let mut c = [0.0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul(&Cpu::serial(), &[1.0, 2.0, 3.0], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &mut c, shape);
/// assert_eq!(c, [1.0, 6.0]);
/// ```
pub fn matmul<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    multiply(cpu.isa, Pool::alone(), Form::Transposed, a, b, c, shape);
}

/// C = A·B.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::few_rows::matmul_nn};
///
/// let mut c = [0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul_nn(&Cpu::serial(), &[1i8, 2, 3], &[1, 1, 0, 1, 0, 1], &mut c, shape);
/// assert_eq!(c, [1, 6]);
/// ```
pub fn matmul_nn<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    multiply(cpu.isa, Pool::alone(), Form::Straight, a, b, c, shape);
}

/// Rows of A that share one pass over B: their sums fill the vector registers.
const GROUP: usize = 8;
/// Columns of C in a cache line of its smallest type: two threads write no line together.
const UNIT: usize = 32;
/// Elements of B that are worth handing to another thread.
const PIECE: usize = 1 << 14;

pub(super) fn multiply<T: Factor>(
    isa: Isa,
    pool: &Pool,
    form: Form,
    a: &[T],
    b: &[T],
    c: &mut [T::Output],
    shape: Product,
) {
    match form {
        Form::Transposed => dots(isa, pool, a, b, c, shape),
        Form::Straight => in_groups(isa, pool, a, b.len(), c, shape, false, |x, cols, c| {
            isa.run(Sums { x, b, shape: Product { m: c.rows(), ..shape }, cols, c });
        }),
    }
}

/// C = A·Bᵀ with weights of the same type as A, or of another that is packed alike.
pub(super) fn dots<T: Factor, W: Factor<Total = T::Total>>(
    isa: Isa,
    pool: &Pool,
    a: &[T],
    b: &[W],
    c: &mut [T::Output],
    shape: Product,
) {
    in_groups(isa, pool, a, b.len(), c, shape, true, |x, cols, c| {
        isa.run(Dots::<T, W> { x, b, k: shape.k, cols, c });
    });
}

/// Calls `work` on a group of rows of A as packed numbers, on columns of C and on these columns of the group's rows of C.
/// Columns are shared out in parts that stay with their thread, and so do the parts of B.
#[expect(clippy::too_many_arguments, reason = "the arguments of a product, and how the group is laid out")]
fn in_groups<T: Factor>(
    isa: Isa,
    pool: &Pool,
    a: &[T],
    length_of_b: usize,
    c: &mut [T::Output],
    shape: Product,
    interleaved: bool,
    work: impl Fn(&[T::Total], Range<usize>, Block<'_, T::Output>) + Sync,
) {
    shape.check(a.len(), length_of_b, c.len());
    let Product { n, k, .. } = shape;
    if k == 0 || n == 0 {
        return c.fill(T::Output::default());
    }
    for (a, c) in a.chunks(GROUP * k).zip(c.chunks_mut(GROUP * n)) {
        let m = a.len() / k;
        let mut x = Scratch::take(m * k.div_ceil(T::DEPTH).next_multiple_of(MAX_LANES));
        isa.run(Widen { a, m, x: &mut x, interleaved });
        let (x, c) = (&*x, Block::new(c, m, n));
        pool.run_parts(n, UNIT, (PIECE / k).max(1), |cols| {
            // SAFETY: parts do not overlap.
            let c = unsafe { c.part(0..m, cols.clone()) };
            work(x, cols, c);
        });
    }
}

/// Rows of A as packed numbers, each filled up with zeros to whole vectors: one row after the other, or
/// `interleaved`, a vector of each in turn.
struct Widen<'a, T: Factor> {
    a: &'a [T],
    m: usize,
    x: &'a mut [T::Total],
    interleaved: bool,
}

impl<T: Factor> Vectorize for Widen<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Widen { a, m, x, interleaved } = self;
        let k = a.len() / m;
        let width = L::LANES * T::DEPTH;
        let vectors = k.div_ceil(width);
        for (row, a) in a.chunks_exact(k).enumerate() {
            for (step, a) in a.chunks(width).enumerate() {
                let v = if a.len() == width { T::load(lanes, a) } else { load_end(lanes, a) };
                let place = if interleaved { step * m + row } else { row * vectors + step };
                T::Total::put(lanes, v, false, &mut x[place * L::LANES..][..L::LANES]);
            }
        }
    }
}
