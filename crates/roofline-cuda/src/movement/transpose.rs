//! Batches of transposes: what exchanges the last dimension with another.

use super::forms::{cube, three};
use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

const PLAIN: Source =
    Source { file: "movement/across.cu", text: include_str!("across.cu"), entry: "transpose_plain" };
const TILES: Source =
    Source { file: "movement/transpose.cu", text: include_str!("transpose.cu"), entry: "transpose_tiles" };
const TILE: usize = 64;
const THREADS: u32 = 256;

/// y[batch, j, i] = x[batch, i, j], where rows and batches may lie apart: distances are in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transpose {
    pub batches: usize,
    /// Of x, and how long those of y are.
    pub rows: usize,
    pub cols: usize,
    pub x_batch: usize,
    pub x_row: usize,
    pub y_batch: usize,
    pub y_row: usize,
}

impl Transpose {
    /// Matrices one behind the other.
    pub fn dense(batches: usize, rows: usize, cols: usize) -> Transpose {
        let all = rows * cols;
        Transpose { batches, rows, cols, x_batch: all, x_row: cols, y_batch: all, y_row: rows }
    }

    /// What an order of three dimensions is: those that stay neighbours count as one.
    fn of_order(operation: &str, [a, b, c]: [usize; 3]) -> Option<Transpose> {
        match operation {
            "permute.021" => Some(Transpose::dense(a, b, c)),
            "permute.120" => Some(Transpose::dense(1, a, b * c)),
            "permute.201" => Some(Transpose::dense(1, a * b, c)),
            // y[c, b, a] is for each b a transpose whose rows lie apart.
            "permute" => {
                let (x_batch, x_row, y_batch, y_row) = (c, b * c, a, b * a);
                Some(Transpose { batches: b, rows: a, cols: c, x_batch, x_row, y_batch, y_row })
            }
            _ => None,
        }
    }

    /// Whether packs of sixteen bytes are whole on both sides.
    fn is_whole(&self, per_pack: usize, addresses: [u64; 2]) -> bool {
        let sizes = [self.rows, self.cols, self.x_row, self.y_row, self.x_batch, self.y_batch];
        let whole = |size: &usize| size.is_multiple_of(per_pack);
        sizes.iter().all(whole) && addresses.iter().all(|address| address.is_multiple_of(16))
    }
}

/// The rungs of every form, from the plain one up.
pub const LADDER: &[Implementation] = &[
    BY_ELEMENT,
    BY_TILE,
    BY_ELEMENT.form("permute"),
    BY_TILE.form("permute"),
    BY_ELEMENT.form("permute.021"),
    BY_TILE.form("permute.021"),
    BY_ELEMENT.form("permute.120"),
    BY_TILE.form("permute.120"),
    BY_ELEMENT.form("permute.201"),
    BY_TILE.form("permute.201"),
];

const BY_ELEMENT: Implementation =
    Implementation::new("transpose", "plain", "one element a thread", PLAIN, by_row);
const BY_TILE: Implementation = Implementation::new(
    "transpose",
    "tiles",
    "tiles in shared memory, sixteen bytes an access",
    TILES,
    by_row,
)
.fast(|_, _| [0, 1].into_iter().flat_map(|whole| of_each(&[("WHOLE", whole)])).collect());

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let shape = if row.operation == "transpose" {
        let shape = args.rows()?;
        shape.elements()?;
        Transpose::dense(1, shape.rows, shape.cols)
    } else {
        let sizes = three(&args, ["a", "b", "c"])?;
        cube(sizes[0], sizes[1], sizes[2])?;
        let missing = || CudaError::Missing { kind: "order of dimensions", name: row.operation.to_owned() };
        Transpose::of_order(row.operation, sizes).ok_or_else(missing)?
    };
    let (x, y) = (args.take::<T>("x")?, args.take_out::<T>("y")?);
    if row.fast { transpose(stream, x, y, shape) } else { plain(stream, x, y, shape) }
}

/// One element a thread.
pub fn plain<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Transpose,
) -> Result<()> {
    let all = check(&x, &y, shape)?;
    if all == 0 {
        return Ok(());
    }
    let geometry = Geometry::line(blocks("blocks of 256 elements", all.div_ceil(256))?, 256);
    let sizes =
        [shape.rows, shape.cols, shape.batches, shape.x_batch, shape.x_row, shape.y_batch, shape.y_row];
    launch(stream, &PLAIN, &Variant::of::<T>(&[]), geometry, [x.address(), y.address()], &sizes)
}

/// The fastest rung.
pub fn transpose<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Transpose,
) -> Result<()> {
    if check(&x, &y, shape)? == 0 {
        return Ok(());
    }
    let addresses = [x.address(), y.address()];
    let whole = u32::from(shape.is_whole(T::PER_PACK, addresses));
    let sizes = [shape.rows, shape.cols, shape.x_batch, shape.x_row, shape.y_batch, shape.y_row];
    launch(stream, &TILES, &Variant::of::<T>(&[("WHOLE", whole)]), tiles(shape)?, addresses, &sizes)
}

fn tiles(shape: Transpose) -> Result<Geometry> {
    let tiles = cube(shape.rows.div_ceil(TILE), shape.cols.div_ceil(TILE), shape.batches)?;
    Ok(Geometry::line(blocks("tiles of all matrices", tiles)?, THREADS))
}

/// The elements in all; refused where the tensors do not have the last one, or something lies over something else.
fn check<T: Element>(x: &DeviceSlice<'_, T>, y: &DeviceSliceMut<'_, T>, shape: Transpose) -> Result<usize> {
    let Transpose { batches, rows, cols, x_batch, x_row, y_batch, y_row } = shape;
    let all = cube(batches, rows, cols)?;
    length("x", x.len(), all)?;
    length("y", y.len(), all)?;
    let last = |batch: usize, row: usize, rows: usize, cols: usize| {
        batch
            .checked_mul(batches.saturating_sub(1))?
            .checked_add(row.checked_mul(rows.saturating_sub(1))?)?
            .checked_add(cols)
    };
    let inside = |last: Option<usize>| last.is_some_and(|last| last <= all);
    if all > 0 && !(inside(last(x_batch, x_row, rows, cols)) && inside(last(y_batch, y_row, cols, rows))) {
        return Err(CudaError::Length {
            what: "a batch of matrices that lie apart",
            got: all,
            wanted: usize::MAX,
        });
    }
    Ok(all)
}

fn launch(
    stream: &Stream,
    source: &Source,
    variant: &Variant,
    geometry: Geometry,
    addresses: [u64; 2],
    sizes: &[usize],
) -> Result<()> {
    let addresses = addresses.into_iter().map(Argument::Address);
    let arguments: Vec<Argument> =
        addresses.chain(sizes.iter().map(|size| Argument::I64(*size as i64))).collect();
    stream.device().kernel(source, variant)?.launch(stream, &geometry, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_order_moves_every_element_once(a in 1usize..9, b in 1usize..9, c in 1usize..9) {
            for (operation, order) in
                [("permute", [2, 1, 0]), ("permute.021", [0, 2, 1]), ("permute.120", [1, 2, 0]), ("permute.201", [2, 0, 1])]
            {
                let (shape, at) = ([a, b, c], Transpose::of_order(operation, [a, b, c]).unwrap());
                let mut y = vec![usize::MAX; a * b * c];
                for batch in 0..at.batches {
                    for (i, j) in (0..at.rows).flat_map(|i| (0..at.cols).map(move |j| (i, j))) {
                        y[batch * at.y_batch + j * at.y_row + i] = batch * at.x_batch + i * at.x_row + j;
                    }
                }
                let out = order.map(|dimension| shape[dimension]);
                for (index, from) in y.into_iter().enumerate() {
                    let place = [index / (out[1] * out[2]), index / out[2] % out[1], index % out[2]];
                    let mut own = [0; 3];
                    order.into_iter().zip(place).for_each(|(dimension, place)| own[dimension] = place);
                    prop_assert_eq!(from, (own[0] * b + own[1]) * c + own[2], "{} {:?}", operation, shape);
                }
            }
        }

        #[test]
        fn tiles_cover_every_matrix(batches in 1usize..50, rows in 1usize..1000, cols in 1usize..1000) {
            let grid = tiles(Transpose::dense(batches, rows, cols)).unwrap().grid[0] as usize;
            prop_assert_eq!(grid, rows.div_ceil(TILE) * cols.div_ceil(TILE) * batches);
        }
    }
}
