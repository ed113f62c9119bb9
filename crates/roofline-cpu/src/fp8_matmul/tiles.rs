//! Tiles of Y, one block along k at a time: both sides decoded, a plain loop that the compiler vectorises, and the scales
//! of the block on its sums.
//!
//! Over the definition: a code is decoded once for a tile and not once for every product, and all threads work. What is
//! fetched when, is left to compiler and processor.

use super::Blocks;
use super::activations::{Activations, DECODED};
use crate::lanes::Lanes;
use crate::matmul::block::Block;
use crate::scratch::Scratch;
use crate::{Cpu, Product, Scalar, Vectorize, bf16};

/// Rows and columns of a tile.
const SIDE: usize = 64;

/// Y = X·Wᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Fp8E4m3, Product, fp8_matmul::{Blocks, tiles::fp8_matmul}};
///
/// let x = [1.0, 2.0, 3.0].map(Fp8E4m3::from_f32);
/// let x = Blocks { codes: &x, scales: &[1.0, 0.5], rows: 1, block: 2 };
/// let mut y = [0.0f32];
/// fp8_matmul(&Cpu::serial(), x, x, &mut y, Product { m: 1, n: 1, k: 3 });
/// assert_eq!(y, [5.0 + 0.25 * 9.0]);
/// ```
pub fn fp8_matmul<O: Scalar<Wide = f32>>(cpu: &Cpu, x: Blocks, w: Blocks, y: &mut [O], shape: Product) {
    multiply(cpu, Activations::Codes(x), w, y, shape);
}

/// The same of an X in bf16, which has no scales.
pub fn fp8_matmul_bf16(cpu: &Cpu, x: &[bf16], w: Blocks, y: &mut [bf16], shape: Product) {
    multiply(cpu, Activations::Bf16(x), w, y, shape);
}

fn multiply<O: Scalar<Wide = f32>>(cpu: &Cpu, x: Activations, w: Blocks, y: &mut [O], shape: Product) {
    let Product { m, n, k } = shape;
    x.check(m, k, w.block);
    w.check(n, k);
    let across = n.div_ceil(SIDE);
    let y = Block::new(y, m, n);
    cpu.pool.run(m.div_ceil(SIDE) * across, |task| {
        let (row, col) = (task / across * SIDE, task % across * SIDE);
        // SAFETY: every task is run once, and the tiles of two tasks do not overlap.
        let y = unsafe { y.part(row..m.min(row + SIDE), col..n.min(col + SIDE)) };
        cpu.isa.run(Tile { x, w, k, row, col, y });
    });
}

/// One tile of Y, which begins at this row and column.
struct Tile<'a, O> {
    x: Activations<'a>,
    w: Blocks<'a>,
    k: usize,
    row: usize,
    col: usize,
    y: Block<'a, O>,
}

impl<O: Scalar<Wide = f32>> Vectorize for Tile<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, _lanes: L) {
        let Tile { x, w, k, row, col, .. } = self;
        let (rows, cols, blocks) = (self.y.rows(), self.y.cols(), k.div_ceil(w.block));
        let mut sums = Scratch::<f32>::take(rows * SIDE);
        sums.fill(0.0);
        let mut decoded = Scratch::<f32>::take(w.block.min(k) * SIDE);
        for block in 0..blocks {
            let (first, last) = (block * w.block, k.min((block + 1) * w.block));
            // Columns beyond the last are zeros, so that every loop is as long as a tile is wide.
            for (step, line) in decoded.chunks_exact_mut(SIDE).take(last - first).enumerate() {
                line.fill(0.0);
                for (j, w) in line.iter_mut().take(cols).zip(&mut w_column(w, col, k, first + step)) {
                    *j = w;
                }
            }
            for (i, sums) in sums.chunks_exact_mut(SIDE).enumerate() {
                let mut of_block = [0.0_f32; SIDE];
                for (step, w) in decoded.chunks_exact(SIDE).take(last - first).enumerate() {
                    let x = x.get((row + i) * k + first + step);
                    of_block.iter_mut().zip(w).for_each(|(sum, w)| *sum += x * w);
                }
                let of_x = x.scale(row + i, block, blocks);
                for (j, (sum, of_block)) in sums.iter_mut().zip(of_block).take(cols).enumerate() {
                    *sum += of_x * w.scales[(col + j) / w.rows * blocks + block] * of_block;
                }
            }
        }
        for (i, sums) in sums.chunks_exact(SIDE).enumerate() {
            self.y.row(i).iter_mut().zip(sums).for_each(|(y, sum)| *y = O::narrow(*sum));
        }
    }
}

/// One element of each row of W from this row on.
#[inline(always)]
fn w_column<'a>(w: Blocks<'a>, first: usize, k: usize, at: usize) -> impl Iterator<Item = f32> + 'a {
    let rows = w.codes[first * k..].iter().skip(at).step_by(k);
    rows.map(|code| DECODED[usize::from(code.0)])
}
