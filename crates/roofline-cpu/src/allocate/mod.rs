//! `allocate`: blocks of memory that are held at once, marked, read again and given back.

pub mod plain;
pub mod pool;

use crate::catalog::{Implementation, Kernel, Launch};
use crate::{Args, Mismatch};
pub use plain::System;
pub use pool::Pool;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("allocate", &[Kernel::new("i32", |_, args| prepare(args, System, None))]),
    Implementation::plain("allocate.aligned", &[Kernel::new("i32", |_, args| prepare(args, System, None))]),
    Implementation::plain(
        "allocate.touch",
        &[Kernel::new("i32", |_, args| prepare(args, System, Some(PAGE)))],
    ),
    Implementation::new("allocate", "pool", POOL, &[Kernel::new("i32", |_, args| pooled(args, None))]),
    Implementation::new(
        "allocate.aligned",
        "pool",
        POOL,
        &[Kernel::new("i32", |_, args| pooled(args, None))],
    ),
    Implementation::new(
        "allocate.touch",
        "pool",
        POOL,
        &[Kernel::new("i32", |_, args| pooled(args, Some(PAGE)))],
    ),
];

const POOL: &str = "blocks of powers of two that are kept for the next launch";

/// A page of the machine, or a part of one.
const PAGE: usize = 4096;
/// Where every block begins: a cache line.
pub const LINE: usize = 64;

/// Gives memory and takes it back.
pub trait Allocator {
    /// What is held: as many bytes as were asked for, at a cache line, given back by [`Allocator::give`].
    fn take(&mut self, bytes: usize) -> Block;
    /// Takes a block back.
    fn give(&mut self, block: Block);
}

pub use plain::Block;

/// The addresses of blocks of `bytes` bytes that are held at once, and the sums of the marks that stand in each: in its first
/// byte, in one of every `step` after it and in its last.
///
/// ```
/// use roofline_cpu::allocate::{System, allocate};
///
/// let (mut at, mut y) = ([0.0; 2], [0; 2]);
/// allocate(&mut System, &[3, 4], 100, None, &mut at, &mut y);
/// assert_eq!(y, [6, 8]);
/// assert!((at[1] - at[0]).abs() >= 100.0);
/// ```
///
/// # Panics
/// If lengths do not fit, a block has no bytes or memory has no room for one.
pub fn allocate(
    allocator: &mut impl Allocator,
    marks: &[i32],
    bytes: usize,
    step: Option<usize>,
    at: &mut [f64],
    y: &mut [i32],
) {
    assert!([at.len(), y.len()] == [marks.len(); 2] && bytes > 0, "lengths for {} blocks", marks.len());
    let last = bytes - 1;
    let step = step.unwrap_or(bytes);
    let places = || (0..bytes).step_by(step).chain(Some(last).filter(|last| last % step != 0));
    let mut blocks = Vec::with_capacity(marks.len());
    for (mark, at) in marks.iter().zip(at) {
        let mut block = allocator.take(bytes);
        *at = block.address() as f64;
        places().for_each(|place| block.set(place, *mark as u8));
        blocks.push(block);
    }
    for (block, y) in blocks.into_iter().zip(y) {
        *y = places().map(|place| i32::from(block.get(place))).sum();
        allocator.give(block);
    }
}

fn prepare<'a>(
    mut args: Args<'a>,
    mut allocator: impl Allocator + 'a,
    step: Option<usize>,
) -> Result<Launch<'a>, Mismatch> {
    let (marks, bytes) = (args.take("marks")?, args.axis("bytes")?);
    let (mut at, mut y) = (args.take_out("at")?, args.take_out("y")?);
    Ok(Launch::new(move |_| allocate(&mut allocator, &marks, bytes, step, &mut at, &mut y)))
}

/// With a pool that is warm after the first launch.
fn pooled(args: Args<'_>, step: Option<usize>) -> Result<Launch<'_>, Mismatch> {
    let kept = args.axis("count")? * pool::class(args.axis("bytes")?);
    Ok(prepare(args, Pool::default(), step)?.keeping(kept))
}
