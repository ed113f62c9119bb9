//! `rope`: pairs (a, b) of a head become (a cos φ − b sin φ, a sin φ + b cos φ), φ = position · base^(−2i/dim).
//!
//! One read and one write; the angles are those of f64, shared by all heads of a position, or come from tables.

mod tables;

use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
use crate::{bf16, f16};
pub use tables::{LADDER as TABLES, rope_tables};

const PLAIN: Source = Source { file: "rope/plain.cu", text: include_str!("plain.cu"), entry: "rope_plain" };
const SHARED: Source =
    Source { file: "rope/shared.cu", text: include_str!("shared.cu"), entry: "rope_shared" };

/// Positions a block, whose heads share frequencies.
const POSITIONS: usize = 4;
const THREADS: u32 = 256;
/// What a block has without asking for more.
const SHARED_BYTES: usize = 48 << 10;

/// Heads of positions, one behind the other: x[seq, heads, dim].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    pub seq: usize,
    pub heads: usize,
    pub dim: usize,
}

/// What turns them.
#[derive(Clone, Copy, Debug)]
pub struct Turns<'a> {
    pub positions: DeviceSlice<'a, i32>,
    /// Cosines and sines of the first positions, a row of dim / 2 each; of others they are computed.
    pub tables: Option<[DeviceSlice<'a, f32>; 2]>,
    pub base: f64,
    /// Pair i is 2i and 2i + 1, not i and i + dim / 2.
    pub interleaved: bool,
}

const FORMS: &[&str] = &[
    "rope",
    "rope.interleaved",
    "rope.cached",
    "rope.interleaved-cached",
    "rope.cached-beyond",
    "rope.in-place",
    "rope.interleaved-in-place",
    "rope.cached-in-place",
    "rope.interleaved-cached-in-place",
];

/// The rungs of every form, from the plain one up.
pub const LADDER: [Implementation; 2 * FORMS.len()] =
    ladder!(FORMS, of => BY_PAIR.form(of), BY_POSITION.form(of));

const BY_PAIR: Implementation = Implementation::new("rope", "plain", "one pair a thread", PLAIN, by_row)
    .slow(|row, _| forms(row, &[]))
    .params(&["base", "angle-bits"]);
const BY_POSITION: Implementation = Implementation::new(
    "rope",
    "shared",
    "angles in shared memory, for all heads of a position",
    SHARED,
    by_row,
)
.fast(|row, _| [0, 1].into_iter().flat_map(|whole| forms(row, &cut(whole))).collect())
.params(&["base", "angle-bits"]);

fn cut(whole: u32) -> [(&'static str, u32); 3] {
    [("THREADS", THREADS), ("POSITIONS", POSITIONS as u32), ("WHOLE", whole)]
}

fn is_interleaved(row: &Implementation) -> bool {
    row.operation.contains("interleaved")
}

fn variant<T: Element>(interleaved: bool, constants: &[(&'static str, u32)]) -> Variant {
    Variant::of::<T>(&[&[("INTERLEAVED", u32::from(interleaved))], constants].concat())
}

fn forms(row: &Implementation, constants: &[(&'static str, u32)]) -> Vec<Variant> {
    let interleaved = is_interleaved(row);
    vec![
        variant::<f32>(interleaved, constants),
        variant::<bf16>(interleaved, constants),
        variant::<f16>(interleaved, constants),
    ]
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let shape = Heads { seq: args.axis("seq")?, heads: args.axis("heads")?, dim: args.axis("dim")? };
    let tables = match row.operation.contains("cached") {
        true => Some([args.take("cos")?, args.take("sin")?]),
        false => None,
    };
    let (positions, base, interleaved) = (args.take("positions")?, args.value("base")?, is_interleaved(row));
    let turns = Turns { positions, tables, base, interleaved };
    let y = args.take_out::<T>("y")?;
    let x = if row.operation.ends_with("in-place") { y.before() } else { args.take("x")? };
    if row.fast { rope(stream, x, turns, y, shape) } else { plain(stream, x, turns, y, shape) }
}

/// One pair a thread.
pub fn plain<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    turns: Turns<'_>,
    y: DeviceSliceMut<'_, T>,
    shape: Heads,
) -> Result<()> {
    let geometry = Geometry::line(blocks("pairs", (y.len() / 2).div_ceil(128))?, 128);
    launch(stream, &PLAIN, &variant::<T>(turns.interleaved, &[]), geometry, x, turns, y, shape)
}

/// The fastest rung.
pub fn rope<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    turns: Turns<'_>,
    y: DeviceSliceMut<'_, T>,
    shape: Heads,
) -> Result<()> {
    let geometry = geometry(shape)?;
    let packed = if turns.interleaved { shape.dim } else { shape.dim / 2 };
    let lies_well = [x.address(), y.address()].iter().all(|address| address.is_multiple_of(16));
    let whole = packed.is_multiple_of(T::PER_PACK) && lies_well;
    let variant = variant::<T>(turns.interleaved, &cut(u32::from(whole)));
    launch(stream, &SHARED, &variant, geometry, x, turns, y, shape)
}

fn geometry(shape: Heads) -> Result<Geometry> {
    let shared = product("angles of a block", shape.dim, POSITIONS * size_of::<f32>())?;
    if shared > SHARED_BYTES {
        return Err(CudaError::Unsupported(format!(
            "the angles of heads of {} do not fit a block",
            shape.dim
        )));
    }
    let grid = blocks("positions", shape.seq.div_ceil(POSITIONS))?;
    Ok(Geometry { shared_bytes: shared as u32, ..Geometry::line(grid, THREADS) })
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
    turns: Turns<'_>,
    y: DeviceSliceMut<'_, T>,
    shape: Heads,
) -> Result<()> {
    let Heads { seq, heads, dim } = shape;
    let elements = product("elements of all heads", product("heads", seq, heads)?, dim)?;
    length("x", x.len(), elements)?;
    length("y", y.len(), elements)?;
    length("positions", turns.positions.len(), seq)?;
    length("a head", dim, dim / 2 * 2)?;
    // The kernel looks up positions that the tables have rows for, and no others.
    let cached = turns.tables.map_or(Ok(0), |[cos, sin]| {
        length("the table of sines", sin.len(), cos.len()).map(|()| cos.len() / (dim / 2).max(1))
    })?;
    if y.is_empty() {
        return Ok(());
    }
    let nothing = turns.positions.address();
    let [cos, sin] = turns.tables.map_or([nothing; 2], |tables| tables.map(|table| table.address()));
    let addresses = [x.address(), turns.positions.address(), cos, sin, y.address()].map(Argument::Address);
    let sizes = [seq, heads, dim, cached].map(|size| Argument::I64(size as i64));
    let kernel = stream.device().kernel(source, variant)?;
    let arguments = [addresses.as_slice(), &sizes, &[Argument::F64(turns.base)]].concat();
    kernel.launch(stream, &geometry, &arguments)
}
