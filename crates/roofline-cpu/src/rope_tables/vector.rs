//! Frequencies once, and then the angles of each position, whose loop the compiler turns to vectors.

use super::plain;
use crate::lanes::Lanes;
use crate::rope::turns::{turns, write_frequencies};
use crate::scalar::InLanes;
use crate::scratch::Scratch;
use crate::{Cpu, Element, Isa, Pool, Scalar, Vectorize};

/// cos φ and sin φ for pair i of each position, φ = position · base^(-2i/dim).
///
/// ```
/// use roofline_cpu::{Cpu, rope_tables::vector::rope_tables};
///
/// let (mut cos, mut sin) = ([0.0_f32; 4], [0.0_f32; 4]);
/// rope_tables(&Cpu::serial(), &[0, 3], &mut cos, &mut sin, 4, 1e4);
/// assert_eq!((cos[0], sin[1]), (1.0, 0.0));
/// assert_eq!((cos[2], sin[3]), (3f64.cos() as f32, 0.03f64.sin() as f32));
/// ```
pub fn rope_tables<T: Scalar>(
    cpu: &Cpu,
    positions: &[i32],
    cos: &mut [T],
    sin: &mut [T],
    dim: usize,
    base: f64,
) {
    on(Pool::alone(), cpu, positions, cos, sin, dim, base);
}

/// The same, positions on all threads.
///
/// ```
/// use roofline_cpu::{Cpu, rope_tables};
///
/// let (mut cos, mut sin) = ([0.0; 4], [0.0; 4]);
/// rope_tables(&Cpu::serial(), &[0, 3], &mut cos, &mut sin, 4, 1e4);
/// assert_eq!((cos[0], sin[1]), (1.0, 0.0));
/// assert_eq!((cos[2], sin[3]), (3f64.cos(), 0.03f64.sin()));
/// ```
pub fn rope_tables_parallel<T: Scalar>(
    cpu: &Cpu,
    positions: &[i32],
    cos: &mut [T],
    sin: &mut [T],
    dim: usize,
    base: f64,
) {
    on(&cpu.pool, cpu, positions, cos, sin, dim, base);
}

fn on<T: Scalar>(
    pool: &Pool,
    cpu: &Cpu,
    positions: &[i32],
    cos: &mut [T],
    sin: &mut [T],
    dim: usize,
    base: f64,
) {
    assert!([cos.len(), sin.len()] == [positions.len() * (dim / 2); 2], "lengths for {dim}");
    let tables = [&mut *cos, &mut *sin];
    if !T::in_lanes(OnThreads { pool, isa: cpu.isa, positions, tables, pairs: dim / 2, base }) {
        plain::rope_tables(cpu, positions, cos, sin, dim, base);
    }
}

struct OnThreads<'a, T> {
    pool: &'a Pool,
    isa: Isa,
    positions: &'a [i32],
    tables: [&'a mut [T]; 2],
    pairs: usize,
    base: f64,
}

/// Elements that are worth handing to another thread.
const PIECE: usize = 1 << 12;

impl<T: Scalar> InLanes<T> for OnThreads<'_, T> {
    fn run(self)
    where
        T: Element,
    {
        let OnThreads { pool, isa, positions, tables, pairs, base } = self;
        let mut frequencies = Scratch::take(pairs);
        write_frequencies(base, &mut frequencies);
        let frequencies = &*frequencies;
        pool.run_alike(tables, pairs, PIECE, |first, tables| {
            isa.run(Rows { positions: &positions[first / pairs..], tables, frequencies });
        });
    }
}

/// Rows of the tables.
struct Rows<'a, T> {
    positions: &'a [i32],
    tables: [&'a mut [T]; 2],
    frequencies: &'a [f64],
}

impl<T: Element> Vectorize for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Rows { positions, tables: [cos, sin], frequencies } = self;
        let pairs = frequencies.len();
        let (mut of_cos, mut of_sin) = (Scratch::<f32>::take(pairs), Scratch::<f32>::take(pairs));
        let rows = cos.chunks_mut(pairs).zip(sin.chunks_mut(pairs));
        for ((cos, sin), position) in rows.zip(positions) {
            turns(*position, frequencies, [&mut of_cos, &mut of_sin]);
            for (to, from) in [(cos, &of_cos), (sin, &of_sin)] {
                to.iter_mut().zip(&**from).for_each(|(to, from)| *to = T::narrow(*from));
            }
        }
    }
}
