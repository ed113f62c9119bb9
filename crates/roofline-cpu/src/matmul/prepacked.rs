//! Weights packed once, for products that share them.
//!
//! Over the packed kernel: B is not read again. For a few rows of A, packing
//! is most of the packed kernel's time; here it is part of getting ready.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::amx::{Strips, TileFactor, multiply_strips, pack_columns};
use super::block::Block;
use super::packed::{multiply_group, pack};
use super::{Factor, Form};
use crate::scratch::Scratch;
use crate::{Cpu, Isa, Pool, Product};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use std::marker::PhantomData;

/// The weights B \[n,k\] of products to come.
///
/// ```
/// use roofline_cpu::{Cpu, matmul::prepacked::Weights};
///
/// let cpu = Cpu::new(2);
/// let weights = Weights::new(&cpu, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0f32], 2, 3);
/// let mut c = [0.0; 2];
/// weights.matmul(&cpu, &[1.0, 2.0, 3.0], &mut c, 1);
/// assert_eq!(c, [1.0, 6.0]);
/// ```
pub struct Weights<T: Factor> {
    /// The level that they are packed for.
    isa: Isa,
    n: usize,
    k: usize,
    panels: Scratch<T::Total>,
}

impl<T: Factor> Weights<T> {
    /// Packs B on the threads of `cpu`.
    ///
    /// # Panics
    /// If `b` has not n·k elements.
    pub fn new(cpu: &Cpu, b: &[T], n: usize, k: usize) -> Self {
        assert_eq!(b.len(), n * k, "length of b for n={n}, k={k}");
        let panels = pack(cpu.isa, &cpu.pool, Form::Transposed, b, Product { m: 0, n, k }, 0..n);
        Self { isa: cpu.isa, n, k, panels }
    }

    /// C = A·Bᵀ for `m` rows of A, on one thread.
    pub fn matmul_alone(&self, a: &[T], c: &mut [T::Output], m: usize) {
        self.multiply(Pool::alone(), a, c, m);
    }

    /// C = A·Bᵀ for `m` rows of A, on the threads of `cpu`.
    pub fn matmul(&self, cpu: &Cpu, a: &[T], c: &mut [T::Output], m: usize) {
        self.multiply(&cpu.pool, a, c, m);
    }

    /// Bytes that the packed weights take.
    pub fn bytes(&self) -> usize {
        size_of_val::<[T::Total]>(&self.panels)
    }

    fn multiply(&self, pool: &Pool, a: &[T], c: &mut [T::Output], m: usize) {
        let shape = Product { m, n: self.n, k: self.k };
        shape.check(a.len(), self.n * self.k, c.len());
        if self.k == 0 {
            return c.fill(T::Output::default());
        }
        multiply_group(self.isa, pool, a, &self.panels, &Block::new(c, m, self.n), shape, 0..self.n);
    }
}

/// The same in the order of tile registers, as bf16 or i8, whose processor has them: half the bytes of panels or less.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub struct TileWeights<T> {
    n: usize,
    k: usize,
    strips: Strips,
    factor: PhantomData<T>,
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
impl<T: TileFactor> TileWeights<T> {
    /// Packs B \[n,k\] on the threads of `cpu`; `None` where there are no tile registers.
    ///
    /// # Panics
    /// If `b` has not n·k elements.
    pub fn new(cpu: &Cpu, b: &[T], n: usize, k: usize) -> Option<Self> {
        assert_eq!(b.len(), n * k, "length of b for n={n}, k={k}");
        let strips = pack_columns(cpu, Form::Transposed, b, Product { m: 0, n, k }, 0..n)?;
        Some(Self { n, k, strips, factor: PhantomData })
    }

    /// C = A·Bᵀ for `m` rows of A on the threads of `cpu`; false, and nothing said of C, where a subnormal number could show,
    /// which the unit takes for zero.
    pub fn matmul(&self, cpu: &Cpu, a: &[T], c: &mut [T::Output], m: usize) -> bool {
        let shape = Product { m, n: self.n, k: self.k };
        shape.check(a.len(), self.n * self.k, c.len());
        self.k > 0 && multiply_strips(cpu, a, &self.strips, &Block::new(c, m, self.n), shape, 0..self.n)
    }

    /// Bytes that the packed weights take.
    pub fn bytes(&self) -> usize {
        size_of_val::<[i32]>(&self.strips.numbers)
    }
}
