//! `dequantize`: y = q · s, with the scale of each row, of each block of a row or of all; or (q − z) · s, codes in u8.

use crate::args::Args;
use crate::catalog::{Implementation, by_type};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::elementwise::Tile;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length, product};
use crate::slice::DeviceSlice;
use crate::stream::Stream;
use crate::{bf16, f16};

const SOURCE: Source =
    Source { file: "quantize/back.cu", text: include_str!("back.cu"), entry: "dequantize" };
const THREADS: u32 = 256;
const TILE: Tile = Tile { threads: THREADS, packs: 1 };

/// Two rungs of every form, of one source.
pub const LADDER: &[Implementation] = &[
    ONE,
    PACK,
    ONE.form("dequantize.tensor"),
    PACK.form("dequantize.tensor"),
    ONE.form("dequantize.block").params(&["block"]),
    PACK.form("dequantize.block").params(&["block"]),
    ONE.form("dequantize.u8"),
    PACK.form("dequantize.u8"),
];

const ONE: Implementation =
    Implementation::new("dequantize", "plain", "one code a thread", SOURCE, by_row).slow(|row, _| forms(row));
const PACK: Implementation =
    Implementation::new("dequantize", "stream", "sixteen bytes of results a thread", SOURCE, by_row)
        .fast(|row, _| forms(row));

fn forms(row: &Implementation) -> Vec<Variant> {
    vec![variant::<f32>(row), variant::<bf16>(row), variant::<f16>(row)]
}

fn has_zero(row: &Implementation) -> bool {
    row.operation.ends_with(".u8")
}

fn variant<T: Element>(row: &Implementation) -> Variant {
    let own = [("ONE_BY_ONE", u32::from(!row.fast)), ("HAS_ZERO", u32::from(has_zero(row)))];
    let code = if has_zero(row) { "unsigned char" } else { "signed char" };
    Variant::of::<T>(&[own, TILE.constants()].concat()).with("Code", code)
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let (q, s, y) = (args.take::<u8>("q")?, args.take::<f32>("s")?, args.take_out::<T>("y")?);
    let shape = args.rows()?;
    length("q", q.len(), shape.elements()?)?;
    length("y", y.len(), shape.elements()?)?;
    let (cols, shared) = match row.operation {
        "dequantize.tensor" => (0, 1),
        "dequantize.block" => (shape.cols, (args.value("block")? as usize).clamp(1, shape.cols.max(1))),
        _ => (shape.cols, shape.cols),
    };
    let of_row = cols.div_ceil(shared.max(1));
    length("s", s.len(), if cols == 0 { 1 } else { product("scales", shape.rows, of_row)? })?;
    let z: Option<DeviceSlice<'_, u8>> = if has_zero(row) { Some(args.take("z")?) } else { None };
    z.map_or(Ok(()), |z| length("z", z.len(), shape.rows))?;
    if y.is_empty() {
        return Ok(());
    }
    let geometry = match row.fast {
        true => TILE.geometry::<T>(y.len())?,
        false => Geometry::line(blocks("codes", y.len().div_ceil(THREADS as usize))?, THREADS),
    };
    let z = z.map_or(q.address(), |z| z.address());
    let addresses = [q.address(), s.address(), z, y.address()].map(Argument::Address);
    let sizes = [y.len(), cols, shared, of_row].map(|size| Argument::I64(size as i64));
    let kernel = stream.device().kernel(&SOURCE, &variant::<T>(row))?;
    kernel.launch(stream, &geometry, &[addresses, sizes].concat())
}
