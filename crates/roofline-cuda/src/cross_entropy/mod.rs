//! `cross-entropy` of logits with one target a row: log Σ exp x − x[target] of each row, or the mean over rows that count.
//!
//! One read of the logits, and hardly a write. A row whose target is [`NO_TARGET`] does not count: its loss is 0. Any other
//! target that names no column makes its row NaN.

use crate::args::Args;
use crate::catalog::{Implementation, by_type};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::rows::check_cols;
use crate::shape::{Rows, blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::{SCRATCH_BLOCKS, Stream};
use crate::{bf16, f16};

const PLAIN: Source =
    Source { file: "cross_entropy/plain.cu", text: include_str!("plain.cu"), entry: "cross_entropy_plain" };
const ONLINE: Source = Source {
    file: "cross_entropy/online.cu",
    text: include_str!("online.cu"),
    entry: "cross_entropy_online",
};

/// The target of a row that does not count.
pub const NO_TARGET: i32 = -100;

/// What is written of the losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Each.
    Each,
    /// Their mean over the rows that count, NaN of none.
    Mean,
}

const PLAIN_THREADS: u32 = 128;
/// Blocks a multiprocessor that share the rows of a mean.
const RESIDENT: usize = 8;

/// The rungs of both forms, from the plain one up.
pub const LADDER: &[Implementation] =
    &[BY_THREAD, ONE_WALK, BY_THREAD.form("cross-entropy.none"), ONE_WALK.form("cross-entropy.none")];

const BY_THREAD: Implementation =
    Implementation::new("cross-entropy", "plain", "one thread a row, two walks", PLAIN, by_row)
        .slow(|row, _| forms(row, |_| vec![("THREADS", PLAIN_THREADS)]));
const ONE_WALK: Implementation =
    Implementation::new("cross-entropy", "online", "a block a row of any length, one walk", ONLINE, by_row)
        .fast(|row, _| {
            [1000, 32_000].into_iter().flat_map(|cols| forms(row, |half| cut(cols, half))).collect()
        });

fn forms(row: &Implementation, cut: impl Fn(bool) -> Vec<(&'static str, u32)>) -> Vec<Variant> {
    let wanted = wanted(row);
    vec![
        variant::<f32>(wanted, cut(false)),
        variant::<bf16>(wanted, cut(true)),
        variant::<f16>(wanted, cut(true)),
    ]
}

fn wanted(row: &Implementation) -> Wanted {
    if row.operation.ends_with(".none") { Wanted::Each } else { Wanted::Mean }
}

fn variant<T: Element>(wanted: Wanted, cut: Vec<(&'static str, u32)>) -> Variant {
    let all = [cut, vec![("MEAN", u32::from(wanted == Wanted::Mean))]].concat();
    Variant::of::<T>(&all).with("NO_TARGET", "(-100)")
}

/// More in flight a thread where a pack has more elements, and two warps where a row is over before more of them have
/// begun.
fn cut(cols: usize, half: bool) -> Vec<(&'static str, u32)> {
    let (threads, packs) = match cols {
        ..=4096 => (64, if half { 2 } else { 4 }),
        _ if half => (256, 8),
        _ => (128, 4),
    };
    vec![("THREADS", threads), ("PACKS", packs)]
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let (x, t, y) = (args.take::<T>("x")?, args.take("t")?, args.take_out::<T>("y")?);
    let (shape, wanted) = (args.rows()?, wanted(row));
    match row.fast {
        true => cross_entropy(stream, x, t, y, shape, wanted),
        false => plain(stream, x, t, y, shape, wanted),
    }
}

/// One thread a row.
pub fn plain<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    target: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
    wanted: Wanted,
) -> Result<()> {
    let grid = blocks("rows", share(shape.rows.div_ceil(PLAIN_THREADS as usize), wanted, 1))?;
    let variant = variant::<T>(wanted, vec![("THREADS", PLAIN_THREADS)]);
    launch(stream, &PLAIN, &variant, Geometry::line(grid, PLAIN_THREADS), x, target, y, shape, wanted)
}

/// A block a row, one walk: the fastest.
pub fn cross_entropy<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    target: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
    wanted: Wanted,
) -> Result<()> {
    let cut = cut(shape.cols, T::PER_PACK > 4);
    let most = (RESIDENT * stream.device().info().multiprocessors).clamp(1, SCRATCH_BLOCKS);
    let geometry = Geometry::line(blocks("rows", share(shape.rows, wanted, most))?, cut[0].1);
    launch(stream, &ONLINE, &variant::<T>(wanted, cut), geometry, x, target, y, shape, wanted)
}

/// Blocks for rows that `blocks` of them would have one each. A mean has one number to write even of no row.
fn share(blocks: usize, wanted: Wanted, most: usize) -> usize {
    if wanted == Wanted::Mean { blocks.clamp(1, most) } else { blocks }
}

#[expect(
    clippy::too_many_arguments,
    reason = "kernel, variant and geometry beside the operation's own arguments"
)]
fn launch<T: Element>(
    stream: &Stream,
    source: &Source,
    variant: &Variant,
    geometry: Geometry,
    x: DeviceSlice<'_, T>,
    target: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
    wanted: Wanted,
) -> Result<()> {
    length("x", x.len(), shape.elements()?)?;
    length("target", target.len(), shape.rows)?;
    length("y", y.len(), if wanted == Wanted::Mean { 1 } else { shape.rows })?;
    check_cols(shape.cols)?;
    if y.is_empty() {
        return Ok(());
    }
    let addresses = [x.address(), target.address(), y.address(), stream.scratch()?].map(Argument::Address);
    let sizes = [shape.rows, shape.cols].map(|size| Argument::I64(size as i64));
    stream.device().kernel(source, variant)?.launch(
        stream,
        &geometry,
        &[addresses.as_slice(), &sizes].concat(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_written_has_a_block() {
        for most in [1, 100] {
            assert_eq!(share(0, Wanted::Mean, most), 1, "the mean of no row is NaN, and written");
            assert_eq!(share(1000, Wanted::Mean, most), most);
        }
        assert_eq!(share(0, Wanted::Each, 100), 0);
        assert_eq!(share(1000, Wanted::Each, 100), 1000);
    }
}
