//! Packed panels and a register tile, on one thread.
//!
//! Over the definition: every number fetched from a cache is used a dozen
//! times or more, sums stay in registers, and memory is read in order. B is
//! packed once per call, in groups of columns where it is very large, A once
//! per tile of C. Packing costs (m + n)·k copies against m·n·k multiply-adds.

use std::ops::Range;

use super::block::Block;
use super::packing::PackPanels;
use super::tile::{COLS, MultiplyTile, PanelWidth, ROWS};
use super::{Factor, Form};
use crate::scratch::Scratch;
use crate::{Cpu, Product};

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
    multiply(cpu, Form::Transposed, a, b, c, shape);
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
    for group in column_groups(n, panel_length, width) {
        let mut panels = Scratch::take(group.len().div_ceil(width) * panel_length);
        let (cols, packed) = (group.clone(), &mut *panels);
        cpu.isa.run(PackPanels { b, form, shape, cols, panels: packed });
        for cols in pieces(group.clone(), COLS) {
            let first_panel = (cols.start - group.start) / width;
            let panels = &panels[first_panel * panel_length..];
            let panels = &panels[..cols.len().div_ceil(width) * panel_length];
            for rows in pieces(0..m, ROWS) {
                // SAFETY: the tiles of this loop do not overlap.
                let c = unsafe { c.part(rows.clone(), cols.clone()) };
                cpu.isa.run(MultiplyTile { a, k, rows, panels, c });
            }
        }
    }
}

/// Ranges of columns whose packed panels take 64 MiB at most, whole tiles each.
pub(super) fn column_groups(
    n: usize,
    panel_length: usize,
    width: usize,
) -> impl Iterator<Item = Range<usize>> {
    const NUMBERS: usize = 16 << 20;
    let cols = (NUMBERS / panel_length * width) / COLS * COLS;
    pieces(0..n, cols.max(COLS))
}

/// `whole` cut into pieces of `length`, the last one shorter.
pub(super) fn pieces(whole: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let end = whole.end;
    whole.step_by(length).map(move |start| start..end.min(start + length))
}
