//! Packed panels and a register tile, on one thread.
//!
//! Over the definition: every number fetched from a cache is used a dozen
//! times or more, sums stay in registers, and memory is read in order. B is
//! packed once per call, in groups of columns where it is very large, A once
//! per tile of C. Packing costs (m + n)·k copies against m·n·k multiply-adds.
//! The loop is written for any number of threads; here it gets one.

use std::ops::Range;

use super::block::Block;
use super::packing::PackPanels;
use super::tile::{COLS, MultiplyTile, ROWS, RegisterTile};
use super::{Factor, Form};
use crate::scratch::Scratch;
use crate::{Cpu, Isa, Pool, Product, Rows};

/// C = A·Bᵀ.
///
/// ```
/// use roofline_cpu::{Cpu, Product, matmul::packed::matmul};
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
/// use roofline_cpu::{Cpu, Product, matmul::packed::matmul_nn};
///
/// let mut c = [0; 2];
/// let shape = Product { m: 1, n: 2, k: 3 };
/// matmul_nn(&Cpu::serial(), &[1i8, 2, 3], &[1, 1, 0, 1, 0, 1], &mut c, shape);
/// assert_eq!(c, [1, 6]);
/// ```
pub fn matmul_nn<T: Factor>(cpu: &Cpu, a: &[T], b: &[T], c: &mut [T::Output], shape: Product) {
    multiply(cpu.isa, Pool::alone(), Form::Straight, a, b, c, shape);
}

/// Threads first pack the panels of B together, then take tiles of C from a
/// counter; each packs the rows of A that its tile needs.
pub(super) fn multiply<T: Factor>(
    isa: Isa,
    pool: &Pool,
    form: Form,
    a: &[T],
    b: &[T],
    c: &mut [T::Output],
    shape: Product,
) {
    shape.check(a.len(), b.len(), c.len());
    let Product { m, n, k } = shape;
    if k == 0 {
        return c.fill(T::Output::default());
    }
    let c = Block::new(c, m, n);
    let (strip, width) = isa.run(RegisterTile);
    let panel_length = k.div_ceil(T::DEPTH) * width;
    let tile = tile_size(m, n, pool.threads(), strip);
    for group in pieces(0..n, (PACKED / panel_length * width / COLS).max(1) * COLS) {
        let mut panels = Scratch::take(group.len().div_ceil(width) * panel_length);
        pool.run_pieces(&mut panels, panel_length, PIECE, |offset, panels| {
            let cols = group.start + offset / panel_length * width..group.end;
            isa.run(PackPanels { b, form, shape, cols, panels });
        });
        let panels = &*panels;
        let across = group.len().div_ceil(tile.cols);
        pool.run(across * m.div_ceil(tile.rows), |task| {
            let (row, col) = (task / across * tile.rows, task % across * tile.cols);
            let rows = row..m.min(row + tile.rows);
            let cols = group.start + col..group.end.min(group.start + col + tile.cols);
            let panels = &panels[col / width * panel_length..];
            let panels = &panels[..cols.len().div_ceil(width) * panel_length];
            // SAFETY: every task is run once, and the tiles of two tasks do not overlap.
            let c = unsafe { c.part(rows.clone(), cols) };
            isa.run(MultiplyTile { a, k, rows, panels, c });
        });
    }
}

/// Numbers in the packed panels of B at a time: 64 MiB.
const PACKED: usize = 16 << 20;
/// Packed numbers that are worth handing to another thread.
const PIECE: usize = 1 << 13;

/// The size of a tile of C: `COLS` by `ROWS` at most, and smaller until there
/// are four for every thread, where C is large enough. Rows are shared out
/// evenly, in whole strips of A; columns stay a multiple of every panel width.
fn tile_size(m: usize, n: usize, threads: usize, strip: usize) -> Rows {
    let (mut rows, mut cols) = (ROWS, COLS);
    let tiles = |rows, cols| m.div_ceil(rows) * n.div_ceil(cols);
    while threads > 1 && tiles(rows, cols) < 4 * threads && cols > 128 {
        cols /= 2;
    }
    while threads > 1 && tiles(rows, cols) < 4 * threads && rows > 56 {
        rows /= 2;
    }
    let rows = m.div_ceil(m.div_ceil(rows).max(1)).next_multiple_of(strip).max(strip);
    Rows { rows, cols }
}

/// `whole` cut into pieces of `length`, the last one shorter.
pub(super) fn pieces(whole: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let end = whole.end;
    whole.step_by(length).map(move |start| start..end.min(start + length))
}
