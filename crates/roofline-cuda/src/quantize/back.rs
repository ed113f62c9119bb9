//! Back from codes: `dequantize`, y = q · s, with the scale of each row, of each block of a row or of all, or (q − z) · s; and
//! `mx-dequantize`, with short blocks and scales of eight bits.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::elementwise::Tile;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::shape::{Rows, blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
use crate::{bf16, f16};

const SOURCE: Source =
    Source { file: "quantize/back.cu", text: include_str!("back.cu"), entry: "dequantize" };
const THREADS: u32 = 256;
const TILE: Tile = Tile { threads: THREADS, packs: 1 };

/// What codes of an operation stand for.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    pub operation: &'static str,
    /// The type of codes, and what one stands for, of `code` and of `zero`, the code of zero of a row.
    code: &'static str,
    value: &'static str,
    has_zero: bool,
    /// Two codes share a byte.
    paired: bool,
    /// The type of scales, and what a code is multiplied by, of `scale` and of `all`, the scale of the tensor.
    of_scale: &'static str,
    scale: &'static str,
    has_tensor: bool,
    shared: Shared,
}

/// What shares a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared {
    Row,
    Tensor,
    /// So many elements as the parameter `block` says.
    Block,
    Of(usize),
}

const BY_ROW: Meaning = Meaning {
    operation: "dequantize",
    code: "signed char",
    value: "(float)code",
    has_zero: false,
    paired: false,
    of_scale: "float",
    scale: "scale",
    has_tensor: false,
    shared: Shared::Row,
};
const FP8: Meaning = Meaning { code: "unsigned char", value: "e4m3_value(code)", ..BY_ROW };
const MX: Meaning = Meaning {
    operation: "mx-dequantize",
    of_scale: "unsigned char",
    scale: "power_value(scale)",
    shared: Shared::Of(32),
    ..FP8
};
const FP4: Meaning = Meaning { value: "fp4_value(code)", paired: true, ..MX };

/// Every operation that the machinery has.
pub const MEANINGS: &[Meaning] = &[
    BY_ROW,
    Meaning { operation: "dequantize.tensor", shared: Shared::Tensor, ..BY_ROW },
    Meaning { operation: "dequantize.block", shared: Shared::Block, ..BY_ROW },
    Meaning {
        operation: "dequantize.u8",
        code: "unsigned char",
        value: "(float)((int)code-(int)zero)",
        has_zero: true,
        ..BY_ROW
    },
    Meaning { operation: "dequantize.fp8", ..FP8 },
    MX,
    Meaning { operation: "mx-dequantize.fp4", ..FP4 },
    Meaning {
        operation: "mx-dequantize.nvfp4",
        scale: "e4m3_value(scale)*all",
        has_tensor: true,
        shared: Shared::Of(16),
        ..FP4
    },
];

/// Of which types results are that have the exponents of all scales.
const WIDE: &[&str] = &["f32", "bf16"];

/// Two rungs of every form, of one source.
pub const LADDER: [Implementation; 2 * MEANINGS.len()] = {
    let one = Implementation::new("", "plain", "one code a thread", SOURCE, by_row).slow(variants);
    let pack = Implementation::new("", "stream", "sixteen bytes of results a thread", SOURCE, by_row);
    let pack = pack.fast(variants);
    ladder!(MEANINGS, of => of.row(one), of.row(pack))
};

fn variants(row: &Implementation, _: u32) -> Vec<Variant> {
    let Ok(of) = meaning_of(row) else { return Vec::new() };
    let all = [of.variant::<f32>(row.fast), of.variant::<bf16>(row.fast), of.variant::<f16>(row.fast)];
    all.into_iter().take(row.precisions.len()).collect()
}

fn meaning_of(row: &Implementation) -> Result<&'static Meaning> {
    Meaning::find(row.operation)
        .ok_or_else(|| CudaError::Missing { kind: "meaning of codes", name: row.operation.to_owned() })
}

impl Meaning {
    /// That of an operation.
    pub fn find(operation: &str) -> Option<&'static Meaning> {
        MEANINGS.iter().find(|meaning| meaning.operation == operation)
    }

    /// A rung of it.
    const fn row(&self, rung: Implementation) -> Implementation {
        let params: &[&str] = if matches!(self.shared, Shared::Block) { &["block"] } else { &[] };
        let precisions = if matches!(self.shared, Shared::Of(_)) { WIDE } else { rung.precisions };
        rung.form(self.operation).params(params).precisions(precisions)
    }

    fn variant<T: Element>(&self, fast: bool) -> Variant {
        let own = [
            ("ONE_BY_ONE", u32::from(!fast)),
            ("PAIRED", u32::from(self.paired)),
            ("HAS_ZERO", u32::from(self.has_zero)),
            ("HAS_TENSOR", u32::from(self.has_tensor)),
        ];
        let variant = Variant::of::<T>(&[own.as_slice(), &TILE.constants()].concat());
        let variant = variant.with("Code", self.code).with("VALUE", self.value);
        variant.with("Scale", self.of_scale).with("SCALE", self.scale)
    }
}

/// Codes and what is needed to understand them, all in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Coded<'a> {
    pub q: DeviceSlice<'a, u8>,
    pub s: DeviceSlice<'a, u8>,
    /// Codes of zero of every row.
    pub z: Option<DeviceSlice<'a, u8>>,
    /// The scale of the tensor.
    pub t: Option<DeviceSlice<'a, f32>>,
    /// Elements that share a scale in the forms of blocks of any size.
    pub block: usize,
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let of = meaning_of(row)?;
    let coded = Coded {
        q: args.take("q")?,
        s: args.take("s")?,
        z: if of.has_zero { Some(args.take("z")?) } else { None },
        t: if of.has_tensor { Some(args.take("t")?) } else { None },
        block: if of.shared == Shared::Block { args.value("block")? as usize } else { 0 },
    };
    launch::<T>(stream, of, row.fast, coded, args.take_out("y")?, args.rows()?)
}

/// The numbers that codes stand for, by the fastest rung.
pub fn dequantize<T: Element>(
    stream: &Stream,
    meaning: &Meaning,
    coded: Coded<'_>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    launch(stream, meaning, true, coded, y, shape)
}

fn launch<T: Element>(
    stream: &Stream,
    meaning: &Meaning,
    fast: bool,
    Coded { q, s, z, t, block }: Coded<'_>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    let of_row = if meaning.paired { shape.cols.div_ceil(2) } else { shape.cols };
    length("q", q.len(), product("codes", shape.rows, of_row)?)?;
    length("y", y.len(), shape.elements()?)?;
    let (cols, shared) = match meaning.shared {
        // One row, of one group.
        Shared::Tensor => (y.len(), y.len()),
        Shared::Row => (shape.cols, shape.cols),
        Shared::Block => (shape.cols, block.clamp(1, shape.cols.max(1))),
        Shared::Of(block) => (shape.cols, block),
    };
    let of_row = cols.div_ceil(shared.max(1));
    let groups = if meaning.shared == Shared::Tensor { 1 } else { product("scales", shape.rows, of_row)? };
    let of_scale = if meaning.of_scale == "float" { size_of::<f32>() } else { 1 };
    length("s in bytes", s.len(), product("bytes of scales", groups, of_scale)?)?;
    length("z", z.map_or(0, |z| z.len()), if meaning.has_zero { shape.rows } else { 0 })?;
    length("t", t.map_or(0, |t| t.len()), usize::from(meaning.has_tensor))?;
    if !s.address().is_multiple_of(of_scale as u64) {
        return Err(CudaError::Unsupported("scales at an address that none has".to_owned()));
    }
    if y.is_empty() {
        return Ok(());
    }
    let geometry = match fast {
        true => TILE.geometry::<T>(y.len())?,
        false => Geometry::line(blocks("codes", y.len().div_ceil(THREADS as usize))?, THREADS),
    };
    let (z, t) = (z.map_or(q.address(), |z| z.address()), t.map_or(q.address(), |t| t.address()));
    let addresses = [q.address(), s.address(), z, t, y.address()].map(Argument::Address);
    let sizes = [y.len(), cols, shared, of_row].map(|size| Argument::I64(size as i64));
    let kernel = stream.device().kernel(&SOURCE, &meaning.variant::<T>(fast))?;
    kernel.launch(stream, &geometry, &[addresses.as_slice(), &sizes].concat())
}
