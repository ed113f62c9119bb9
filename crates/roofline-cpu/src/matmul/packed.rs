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
use crate::{Cpu, Isa, Pool, Product};

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
    for group in pieces(0..n, group_cols::<T>(isa, k)) {
        let panels = pack(isa, pool, form, b, shape, group.clone());
        multiply_group(isa, pool, a, &panels, &c, shape, group);
    }
}

/// Columns of B that are packed at a time.
pub(super) fn group_cols<T: Factor>(isa: Isa, k: usize) -> usize {
    let (_, width) = isa.run(RegisterTile);
    (PACKED / panel_length::<T>(k, width) * width / COLS).max(1) * COLS
}

/// Numbers in a panel.
fn panel_length<T: Factor>(k: usize, width: usize) -> usize {
    k.div_ceil(T::DEPTH) * width
}

/// The panels of some columns of B.
pub(super) fn pack<T: Factor>(
    isa: Isa,
    pool: &Pool,
    form: Form,
    b: &[T],
    shape: Product,
    group: Range<usize>,
) -> Scratch<T::Total> {
    let (_, width) = isa.run(RegisterTile);
    let length = panel_length::<T>(shape.k, width);
    let mut panels = Scratch::take(group.len().div_ceil(width) * length);
    pool.run_pieces(&mut panels, length, PIECE, |offset, panels| {
        let cols = group.start + offset / length * width..group.end;
        isa.run(PackPanels { b, form, shape, cols, panels });
    });
    panels
}

/// The columns of C whose columns of B are packed in `panels`.
pub(super) fn multiply_group<T: Factor>(
    isa: Isa,
    pool: &Pool,
    a: &[T],
    panels: &[T::Total],
    c: &Block<'_, T::Output>,
    shape: Product,
    group: Range<usize>,
) {
    let Product { m, n, k } = shape;
    let (strip, width) = isa.run(RegisterTile);
    let length = panel_length::<T>(k, width);
    let (down, tile_cols) = tiling(m, n, pool.threads(), strip);
    let across = group.len().div_ceil(tile_cols);
    pool.run(across * down, |task| {
        let (rows, col) = (share(m, strip, task / across, down), task % across * tile_cols);
        let cols = group.start + col..group.end.min(group.start + col + tile_cols);
        let panels = &panels[col / width * length..];
        let panels = &panels[..cols.len().div_ceil(width) * length];
        // SAFETY: every task is run once, and the tiles of two tasks do not overlap.
        let c = unsafe { c.part(rows.clone(), cols) };
        isa.run(MultiplyTile { a, k, rows, panels, c });
    });
}

/// Numbers in the packed panels of B at a time: 64 MiB.
const PACKED: usize = 16 << 20;
/// Packed numbers that are worth handing to another thread.
const PIECE: usize = 1 << 13;

/// Tiles of C from top to bottom, and the columns of one: `ROWS` by `COLS` at
/// most, and smaller until there are four for every thread, where C is large
/// enough, and as many for each. Columns stay a multiple of every panel width.
fn tiling(m: usize, n: usize, threads: usize, strip: usize) -> (usize, usize) {
    let (mut rows, mut cols) = (ROWS, COLS);
    let tiles = |rows, cols| m.div_ceil(rows) * n.div_ceil(cols);
    while threads > 1 && tiles(rows, cols) < 4 * threads && cols > 128 {
        cols /= 2;
    }
    while threads > 1 && tiles(rows, cols) < 4 * threads && rows > 56 {
        rows /= 2;
    }
    let down = m.div_ceil(rows).next_multiple_of(threads).min(m.div_ceil(strip));
    (down, cols)
}

/// The rows of tile `index` of `down`: shared out evenly, in whole strips of A.
fn share(m: usize, strip: usize, index: usize, down: usize) -> Range<usize> {
    let strips = m.div_ceil(strip);
    strips * index / down * strip..m.min(strips * (index + 1) / down * strip)
}

/// `whole` cut into pieces of `length`, the last one shorter.
pub(super) fn pieces(whole: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let end = whole.end;
    whole.step_by(length).map(move |start| start..end.min(start + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_all_rows_and_are_alike() {
        for (m, threads, strip) in
            [(1, 1, 14), (1, 4, 14), (15, 2, 14), (112, 1, 14), (113, 2, 14), (1024, 2, 14), (1024, 3, 6)]
        {
            let (down, _) = tiling(m, 1024, threads, strip);
            let tiles: Vec<Range<usize>> = (0..down).map(|index| share(m, strip, index, down)).collect();
            assert_eq!((tiles[0].start, tiles[down - 1].end), (0, m));
            assert!(tiles.windows(2).all(|two| two[0].end == two[1].start), "{tiles:?}");
            assert!(tiles.iter().all(|tile| !tile.is_empty() && tile.len() <= ROWS), "{tiles:?}");
        }
        // Five tiles for each of two threads, none of them a strip longer than another.
        let tiles: Vec<usize> = (0..10).map(|index| share(1024, 14, index, 10).len()).collect();
        assert_eq!(tiling(1024, 1024, 2, 14).0, 10);
        assert!(tiles[..9].iter().all(|rows| [98, 112].contains(rows)), "{tiles:?}");
    }
}
