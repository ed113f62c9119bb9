//! The same with weights in codes: `q8-matmul` and `q4-matmul`, in blocks of 32 with a scale in f16 (GGML's Q8_0 and Q4_0),
//! and `w4-matmul`, four bits in groups with a scale and a code of zero.
//!
//! Blocks lie as files have them, each scale before its codes, or scales and codes apart.

use super::MOST_ROWS;
use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::rows::check_cols;
use crate::shape::{Product, blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
use crate::{bf16, f16};

const PLAIN: Source =
    Source { file: "thin/coded_plain.cu", text: include_str!("coded_plain.cu"), entry: "thin_coded_plain" };
const BLOCKS: Source = Source { file: "thin/coded.cu", text: include_str!("coded.cu"), entry: "thin_coded" };
const GROUPS: Source =
    Source { file: "thin/grouped.cu", text: include_str!("grouped.cu"), entry: "thin_grouped" };

const PLAIN_THREADS: u32 = 128;
/// Codes of a block.
const BLOCK: usize = 32;
/// Codes that the fast rung of groups takes at once, all of one group.
const STEP: usize = 128;

const SIMPLE: Implementation =
    Implementation::new("q8-matmul", "plain", "one element of Y a thread", PLAIN, by_row)
        .slow(plain_variants)
        .precisions(&["f32"]);
const OF_BLOCKS: Implementation = Implementation::new(
    "q8-matmul",
    "thin",
    "eight rows of W a warp, sixteen bytes of codes an access",
    BLOCKS,
    by_row,
)
.fast(thin_variants)
.precisions(&["f32"])
.requires("m <= 8");
const HALVES: &[&str] = &["w4a16", "w4a16-f16"];
const OF_GROUPS: Implementation = Implementation::new(
    "w4-matmul",
    "thin",
    "eight rows of W a warp, codes as numbers of half precision on the matrix unit",
    GROUPS,
    by_row,
)
.fast(thin_variants)
.precisions(HALVES)
.requires("m <= 8, group % 128 == 0");

const FORMS: &[&str] =
    &["q8-matmul", "q8-matmul.raw", "q8-matmul.fixed", "q4-matmul", "q4-matmul.raw", "q4-matmul.fixed"];
const GROUP_FORMS: &[&str] = &["w4-matmul", "w4-matmul.fixed"];

/// Two rungs of every form of blocks.
pub const LADDER: [Implementation; 2 * FORMS.len()] =
    ladder!(FORMS, of => SIMPLE.form(of), OF_BLOCKS.form(of));

/// Two rungs of every form of groups.
pub const GROUPED: [Implementation; 2 * GROUP_FORMS.len()] =
    ladder!(GROUP_FORMS, of => SIMPLE.form(of).precisions(HALVES), OF_GROUPS.form(of));

/// Weights in codes: rows of W, each beginning with a whole block or group.
#[derive(Clone, Copy, Debug)]
pub enum Weights<'a, T> {
    /// Blocks of 32 codes of eight bits, with scales in f16.
    Q8 {
        codes: DeviceSlice<'a, u8>,
        scales: DeviceSlice<'a, f16>,
    },
    /// Of four bits: the codes of elements i and i + 16 in byte i, and 8 in the middle.
    Q4 {
        codes: DeviceSlice<'a, u8>,
        scales: DeviceSlice<'a, f16>,
    },
    /// As files have them: the two bytes of each scale before its codes.
    Q8Raw(DeviceSlice<'a, u8>),
    Q4Raw(DeviceSlice<'a, u8>),
    /// Codes of four bits, two neighbours in a byte, and for each `group` of them a scale and a code of zero below 16.
    Groups {
        codes: DeviceSlice<'a, u8>,
        scales: DeviceSlice<'a, T>,
        zeros: DeviceSlice<'a, u8>,
        group: usize,
    },
}

impl<'a, T: Element> Weights<'a, T> {
    fn take(row: &Implementation, args: &Args<'a>) -> Result<Weights<'a, T>> {
        let (name, form) = row.operation.split_once('.').unwrap_or((row.operation, ""));
        Ok(match (name, form) {
            ("w4-matmul", _) => Weights::Groups {
                codes: args.take("q")?,
                scales: args.take("s")?,
                zeros: args.take("z")?,
                group: args.axis("group")?,
            },
            ("q8-matmul", "raw") => Weights::Q8Raw(args.take("w")?),
            ("q8-matmul", _) => Weights::Q8 { codes: args.take("q")?, scales: args.take("s")? },
            (_, "raw") => Weights::Q4Raw(args.take("w")?),
            _ => Weights::Q4 { codes: args.take("q")?, scales: args.take("s")? },
        })
    }

    fn kind(&self) -> Kind {
        match self {
            Weights::Q8 { .. } => Kind { bits: 8, raw: false },
            Weights::Q4 { .. } => Kind { bits: 4, raw: false },
            Weights::Q8Raw(_) => Kind { bits: 8, raw: true },
            Weights::Q4Raw(_) => Kind { bits: 4, raw: true },
            Weights::Groups { .. } => Kind { bits: 0, raw: false },
        }
    }

    /// Addresses of codes, scales and codes of zero; what there is none of is codes, and not looked at.
    fn addresses(&self) -> [u64; 3] {
        match self {
            Weights::Q8 { codes, scales } | Weights::Q4 { codes, scales } => {
                [codes.address(), scales.address(), codes.address()]
            }
            Weights::Q8Raw(codes) | Weights::Q4Raw(codes) => [codes.address(); 3],
            Weights::Groups { codes, scales, zeros, .. } => {
                [codes.address(), scales.address(), zeros.address()]
            }
        }
    }

    /// That tensors have the elements of so many rows of so many.
    fn check(&self, n: usize, k: usize) -> Result<()> {
        let parts = product("blocks of W", n, k.div_ceil(BLOCK))?;
        let bytes = |each| product("bytes of W", parts, each);
        match self {
            Weights::Q8 { codes, scales } => {
                length("codes", codes.len(), bytes(BLOCK)?)?;
                length("scales", scales.len(), parts)
            }
            Weights::Q4 { codes, scales } => {
                length("codes", codes.len(), bytes(BLOCK / 2)?)?;
                length("scales", scales.len(), parts)
            }
            Weights::Q8Raw(codes) => length("blocks in bytes", codes.len(), bytes(BLOCK + 2)?),
            Weights::Q4Raw(codes) => length("blocks in bytes", codes.len(), bytes(BLOCK / 2 + 2)?),
            Weights::Groups { group: 0, .. } => Err(CudaError::Unsupported("groups of no codes".to_owned())),
            Weights::Groups { codes, scales, zeros, group } => {
                let groups = product("groups of W", n, k.div_ceil(*group))?;
                length("codes", codes.len(), product("bytes of W", n, k.div_ceil(2))?)?;
                length("scales", scales.len(), groups)?;
                length("codes of zero", zeros.len(), groups)
            }
        }
    }
}

/// How codes lie, as kernels are compiled: those in groups have no bits of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    bits: u32,
    raw: bool,
}

impl Kind {
    fn constants(self) -> Vec<(&'static str, u32)> {
        vec![("BITS", self.bits), ("RAW", u32::from(self.raw))]
    }

    fn of_row(row: &Implementation) -> Kind {
        let bits = match row.operation.as_bytes() {
            [b'w', ..] => 0,
            [_, b'8', ..] => 8,
            _ => 4,
        };
        Kind { bits, raw: row.operation.ends_with(".raw") }
    }
}

fn variants(row: &Implementation, constants: &[(&'static str, u32)]) -> Vec<Variant> {
    match Kind::of_row(row).bits {
        0 => vec![Variant::of::<bf16>(constants), Variant::of::<f16>(constants)],
        _ => vec![Variant::of::<f32>(constants)],
    }
}

fn plain_variants(row: &Implementation, _: u32) -> Vec<Variant> {
    variants(row, &Kind::of_row(row).constants())
}

/// Few columns and many, one row and eight, tensors that lie well and that do not.
fn thin_variants(row: &Implementation, _: u32) -> Vec<Variant> {
    let kind = Kind::of_row(row);
    let shapes = [(1, 4096), (3, 4096), (8, 4096), (8, 14_336)];
    // A scale before its codes leaves these at no multiple of sixteen bytes.
    let of = |(m, n)| {
        [[!kind.raw, true], [false; 2]].map(|aligned| Cut::new(kind, Product { m, n, k: 4096 }, aligned, 132))
    };
    shapes.into_iter().flat_map(of).flat_map(|cut| variants(row, &cut.constants(kind))).collect()
}

/// How threads share a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// Rows of X that are computed: all that the matrix unit has, or a power of two.
    rows: u32,
    /// Eights of rows of W a warp.
    tiles: u32,
    warps: u32,
    /// Blocks or packs of each row that a lane has in flight.
    unroll: u32,
    /// Blocks that find registers beside each other.
    resident: u32,
    /// Codes lie at multiples of sixteen bytes, and rows of X do.
    aligned: [bool; 2],
}

impl Cut {
    fn new(kind: Kind, shape: Product, aligned: [bool; 2], multiprocessors: usize) -> Cut {
        let eights = shape.n.div_ceil(8);
        let rows = shape.m.clamp(1, MOST_ROWS).next_power_of_two();
        // Of many rows each lane has sums of its own, but for the matrix unit's.
        let wanted = match (kind.bits, rows) {
            (0, _) => 4,
            (_, 8) => 1,
            (_, 4) if !aligned[0] => 1,
            _ => 2,
        };
        // Every multiprocessor has a block before any has few.
        let fits = |tiles: &usize| *tiles == 1 || eights.div_ceil(*tiles) >= multiprocessors;
        let tiles = [wanted, 2, 1].into_iter().filter(|tiles| *tiles <= wanted).find(fits).unwrap_or(1);
        // A pack that lies across two others takes the registers of both.
        let unroll = if tiles > 1 && aligned[0] { 2 } else { 1 };
        let turns = shape.k.div_ceil(STEP * unroll);
        let warps = if turns >= 8 { 8 } else { 4 };
        let resident = if rows >= 4 || !aligned[0] || !aligned[1] { 1 } else { 2 };
        let [rows, tiles, unroll] = [rows, tiles, unroll].map(|number| number as u32);
        Cut { rows, tiles, warps, unroll, resident, aligned }
    }

    fn constants(&self, kind: Kind) -> Vec<(&'static str, u32)> {
        let own = [
            ("ROWS", self.rows),
            ("TILES", self.tiles),
            ("WARPS", self.warps),
            ("UNROLL", self.unroll),
            ("RESIDENT", self.resident),
            ("ALIGNED", u32::from(self.aligned[0])),
            ("ALIGNED_X", u32::from(self.aligned[1])),
        ];
        // The matrix unit has all rows, and one kind of codes.
        if kind.bits == 0 { own[1..].to_vec() } else { [kind.constants().as_slice(), &own].concat() }
    }

    fn geometry(&self, n: usize) -> Result<Geometry> {
        let grid = blocks("columns of Y", n.div_ceil(8 * self.tiles as usize))?;
        Ok(Geometry::line(grid, 32 * self.warps))
    }
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    match args.precision() {
        "w4a16" => typed::<bf16>(row, stream, args),
        "w4a16-f16" => typed::<f16>(row, stream, args),
        _ => by_type!(args, typed(row, stream, args)),
    }
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    let weights = Weights::take(row, &args)?;
    launch(stream, row.fast, args.take::<T>("x")?, weights, args.take_out("y")?, shape)
}

/// Y = X Wᵀ of at most eight rows, with the weights of W in codes: in f32 those of blocks, in half precision those of groups
/// of a multiple of 128.
///
/// ```no_run
/// use roofline_cuda::thin::{Weights, matmul_coded};
/// use roofline_cuda::{Device, DeviceVec, Product, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[1.0f32; 32])?;
/// // A row of W: 0.5 in f16, and 32 codes of 3.
/// let blocks: Vec<u8> = [0x00, 0x38].into_iter().chain([3; 32]).collect();
/// let blocks = DeviceVec::from_host(&stream, &blocks)?;
/// let mut y = DeviceVec::new(stream.device(), 1)?;
/// let (weights, shape) = (Weights::Q8Raw(blocks.as_slice()), Product { m: 1, n: 1, k: 32 });
/// matmul_coded(&stream, x.as_slice(), weights, y.as_slice_mut()?, shape)?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [48.0]);
/// # Ok(())
/// # }
/// ```
pub fn matmul_coded<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    weights: Weights<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Product,
) -> Result<()> {
    launch(stream, true, x, weights, y, shape)
}

fn launch<T: Element>(
    stream: &Stream,
    fast: bool,
    x: DeviceSlice<'_, T>,
    weights: Weights<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Product,
) -> Result<()> {
    let (Product { m, n, k }, kind) = (shape, weights.kind());
    let unsupported = |why: String| Err(CudaError::Unsupported(why));
    shape.check(x.len(), None, y.len())?;
    weights.check(n, k)?;
    if (kind.bits == 0) == (T::PER_PACK == 4) {
        return unsupported(format!("these codes are not multiplied in {}", T::NAME));
    }
    if y.is_empty() {
        return Ok(());
    }
    let group = if let Weights::Groups { group, .. } = weights { group } else { BLOCK };
    let [codes, scales, zeros] = weights.addresses();
    let addresses = [x.address(), codes, scales, zeros, y.address()].map(Argument::Address);
    let sizes = [m, n, k, group].map(|size| Argument::I64(size as i64));
    let arguments = [addresses.as_slice(), &sizes].concat();
    if !fast {
        let grid = blocks("elements of Y", y.len().div_ceil(PLAIN_THREADS as usize))?;
        let kernel = stream.device().kernel(&PLAIN, &Variant::of::<T>(&kind.constants()))?;
        return kernel.launch(stream, &Geometry::line(grid, PLAIN_THREADS), &arguments);
    }
    if m > MOST_ROWS {
        return unsupported(format!("{m} rows: this kernel takes {MOST_ROWS}"));
    }
    if kind.bits == 0 && !group.is_multiple_of(STEP) {
        return unsupported(format!("groups of {group}: this kernel takes multiples of {STEP}"));
    }
    check_cols(k)?;
    let lies_well = |address: u64| address.is_multiple_of(16);
    let whole = kind.bits != 0 || k.is_multiple_of(BLOCK);
    let aligned =
        [lies_well(codes) && whole && !kind.raw, lies_well(x.address()) && k.is_multiple_of(T::PER_PACK)];
    let cut = Cut::new(kind, shape, aligned, stream.device().info().multiprocessors);
    let source = if kind.bits == 0 { &GROUPS } else { &BLOCKS };
    let kernel = stream.device().kernel(source, &Variant::of::<T>(&cut.constants(kind)))?;
    kernel.launch(stream, &cut.geometry(n)?, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cut_is_one_that_devices_take_and_covers_y(
            m in 1usize..=8,
            n in 1usize..1 << 20,
            k in 0usize..1 << 24,
            bits in prop_oneof![Just(0u32), Just(4), Just(8)],
            aligned in any::<[bool; 2]>(),
        ) {
            let cut = Cut::new(Kind { bits, raw: false }, Product { m, n, k }, aligned, 132);
            prop_assert!((m..=8).contains(&(cut.rows as usize)) && cut.unroll >= 1, "{cut:?}");
            let geometry = cut.geometry(n).unwrap();
            let (grid, columns) = (geometry.grid[0] as usize, 8 * cut.tiles as usize);
            prop_assert!(grid * columns >= n && (grid - 1) * columns < n, "{cut:?}");
            // What warps leave for each other fits beside nothing else into 48 KiB.
            prop_assert!(cut.warps * cut.tiles * 64 * 4 <= 48 << 10, "{cut:?}");
        }
    }
}
