//! Packed panels and a register tile, on all threads.
//!
//! Threads first pack the panels of B together, then take tiles of C from a
//! counter; each packs the rows of A that its tile needs. Tiles are made
//! smaller until there are a few for every thread.

use super::block::Block;
use super::packed::column_groups;
use super::packing::PackPanels;
use super::tile::{COLS, MultiplyTile, PanelWidth, ROWS};
use super::{Factor, Form};
use crate::scratch::Scratch;
use crate::{Cpu, Product};

/// C = A·Bᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::packed_parallel::matmul};
///
/// let mut c = [0.0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul(&Cpu::new(2), &[1.0, 2.0, 3.0], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &mut c, shape);
/// assert_eq!(c, [1.0, 6.0]);
/// ```
pub fn matmul<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    multiply(cpu, Form::Transposed, a, b, c, shape);
}

/// C = A·B.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::packed_parallel::matmul_nn};
///
/// let mut c = [0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul_nn(&Cpu::new(2), &[1i8, 2, 3], &[1, 1, 0, 1, 0, 1], &mut c, shape);
/// assert_eq!(c, [1, 6]);
/// ```
pub fn matmul_nn<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    multiply(cpu, Form::Straight, a, b, c, shape);
}

fn multiply<T: Factor>(cpu: &Cpu, form: Form, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    shape.check(a.len(), b.len(), c.len());
    let Product { m, n, k } = shape;
    if k == 0 {
        return c.fill(T::Output::default());
    }
    let c = Block::new(c, m, n);
    let width = cpu.isa.run(PanelWidth);
    let panel_length = k.div_ceil(T::DEPTH) * width;
    let (tile_rows, tile_cols) = tile_size(m, n, cpu.pool.threads());
    for group in column_groups(n, panel_length, width) {
        let mut panels = Scratch::take(group.len().div_ceil(width) * panel_length);
        cpu.pool.run_pieces(&mut panels, panel_length, PACK, |offset, panels| {
            let cols = group.start + offset / panel_length * width..group.end;
            cpu.isa.run(PackPanels { b, form, shape, cols, panels });
        });
        let panels = &*panels;
        let across = group.len().div_ceil(tile_cols);
        cpu.pool.run(across * m.div_ceil(tile_rows), |task| {
            let (row, col) = (task / across * tile_rows, task % across * tile_cols);
            let rows = row..m.min(row + tile_rows);
            let cols = group.start + col..group.end.min(group.start + col + tile_cols);
            let panels = &panels[col / width * panel_length..];
            let panels = &panels[..cols.len().div_ceil(width) * panel_length];
            // SAFETY: every task is run once, and the tiles of two tasks do not overlap.
            let c = unsafe { c.part(rows.clone(), cols) };
            cpu.isa.run(MultiplyTile { a, k, rows, panels, c });
        });
    }
}

/// Packed numbers that are worth handing to another thread.
const PACK: usize = 1 << 13;

/// Rows and columns of a tile, so that there are four tiles for every thread
/// where C is large enough. Columns come in multiples of every panel width.
fn tile_size(m: usize, n: usize, threads: usize) -> (usize, usize) {
    let (mut rows, mut cols) = (ROWS, COLS);
    let tiles = |rows, cols| m.div_ceil(rows) * n.div_ceil(cols);
    while tiles(rows, cols) < 4 * threads && cols > 128 {
        cols /= 2;
    }
    while tiles(rows, cols) < 4 * threads && rows > 56 {
        rows /= 2;
    }
    (rows, cols)
}
