//! Two buffers, and scales where they are had at once: those of W in two registers for a block, those of X in the order of
//! their use.
//!
//! Over [`buffered`](super::buffered): there a scale of W is looked up again for every strip of X, by a division for each
//! column; here once for a block, whatever the number of rows.

use super::Blocks;
use super::activations::Activations;
use super::buffered::multiply;
use crate::{Cpu, Product, Scalar, bf16};

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Product, fp8_matmul::{Blocks, held::fp8_matmul}};
///
/// let x = [1.0, 2.0, 3.0].map(Fp8E4m3::from_f32);
/// let x = Blocks { codes: &x, scales: &[1.0, 0.5], rows: 1, block: 2 };
/// let mut y = [0.0f32];
/// fp8_matmul(&Cpu::serial(), x, x, &mut y, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(y, [5.0 + 0.25 * 9.0]);
/// ```
pub fn fp8_matmul<O: Scalar<Wide = f32>>(cpu: &Cpu, x: Blocks, w: Blocks, y: &mut [O], shape: Product) {
    multiply::<O, true>(cpu, Activations::Codes(x), w, y, shape);
}

/// The same of an X in bf16, which has no scales.
pub fn fp8_matmul_bf16(cpu: &Cpu, x: &[bf16], w: Blocks, y: &mut [bf16], shape: Product) {
    multiply::<bf16, true>(cpu, Activations::Bf16(x), w, y, shape);
}
