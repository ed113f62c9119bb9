//! `matmul`: C = A B for row-major matrices, accumulated in f32. Rungs for learning: neither uses the
//! tensor cores.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::shape::{Product, blocks, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

pub(crate) const PLAIN: Source =
    Source { file: "matmul/plain.cu", text: include_str!("plain.cu"), entry: "matmul_plain" };
pub(crate) const TILED: Source =
    Source { file: "matmul/tiled.cu", text: include_str!("tiled.cu"), entry: "matmul_tiled" };

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::new("matmul.nn", "plain", "one element of C a thread", PLAIN, by_row),
    Implementation::new(
        "matmul.nn",
        "tiled",
        "tiles in shared memory, 8 × 8 elements a thread",
        TILED,
        by_row,
    )
    .fast(|_, _| of_each(&[])),
];

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let (a, b, c) = (args.take::<T>("a")?, args.take::<T>("b")?, args.take_out::<T>("c")?);
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    if row.fast { tiled(stream, a, b, c, shape) } else { plain(stream, a, b, c, shape) }
}

/// One element of C a thread.
pub fn plain<T: Element>(
    stream: &Stream,
    a: DeviceSlice<'_, T>,
    b: DeviceSlice<'_, T>,
    c: DeviceSliceMut<'_, T>,
    shape: Product,
) -> Result<()> {
    launch(stream, &PLAIN, [32, 8], [32, 8], a, b, c, shape)
}

/// Tiles of 128 × 128 in shared memory, 8 × 8 elements a thread.
pub fn tiled<T: Element>(
    stream: &Stream,
    a: DeviceSlice<'_, T>,
    b: DeviceSlice<'_, T>,
    c: DeviceSliceMut<'_, T>,
    shape: Product,
) -> Result<()> {
    launch(stream, &TILED, [128, 128], [256, 1], a, b, c, shape)
}

#[expect(clippy::too_many_arguments, reason = "two sizes of a tile beside the operation's own arguments")]
fn launch<T: Element>(
    stream: &Stream,
    source: &Source,
    tile: [usize; 2],
    block: [u32; 2],
    a: DeviceSlice<'_, T>,
    b: DeviceSlice<'_, T>,
    c: DeviceSliceMut<'_, T>,
    shape: Product,
) -> Result<()> {
    let Product { m, n, k } = shape;
    shape.check(a.len(), Some(b.len()), c.len())?;
    if c.is_empty() {
        return Ok(());
    }
    let grid = grid(shape, tile)?;
    let geometry = Geometry { grid, block: [block[0], block[1], 1], shared_bytes: 0, cluster: 1 };
    let addresses = [a.address(), b.address(), c.address()].map(Argument::Address);
    let sizes = [m, n, k].map(|size| Argument::I64(size as i64));
    let kernel = stream.device().kernel(source, &Variant::of::<T>(&[]))?;
    kernel.launch(stream, &geometry, &[addresses, sizes].concat())
}

/// A block for each tile, in the first direction of the grid, row by row of tiles: the others hold too few for a long C.
fn grid(shape: Product, tile: [usize; 2]) -> Result<[u32; 3]> {
    let tiles = product("tiles of C", shape.n.div_ceil(tile[0]), shape.m.div_ceil(tile[1]))?;
    Ok([blocks("tiles of C", tiles)?, 1, 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tiles_cover_c_and_none_is_idle(m in 1usize..1 << 40, n in 1usize..100_000, tile in 1usize..200) {
            let Ok([tiles, ..]) = grid(Product { m, n, k: 1 }, [tile, tile]) else {
                prop_assert!(m.div_ceil(tile) * n.div_ceil(tile) >= 1 << 31);
                return Ok(());
            };
            // As the kernels find theirs.
            let across = n.div_ceil(tile);
            let last = (tiles as usize - 1) / across * tile;
            prop_assert!((tiles as usize).is_multiple_of(across) && last < m && last + tile >= m);
        }
    }

    #[test]
    fn a_long_c_has_its_tiles() {
        assert_eq!(grid(Product { m: 100_000_000, n: 1, k: 1 }, [32, 8]).unwrap(), [12_500_000, 1, 1]);
        assert!(grid(Product { m: 1 << 40, n: 1 << 20, k: 0 }, [128, 128]).is_err());
    }
}
