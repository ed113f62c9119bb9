//! Products with at most eight rows, where reading B is all there is to do: `matmul` with weights as rows, C = A Bᵀ, of
//! f32, bf16, f16 and codes of i8, and `int8-matmul`, whose codes have scales; and products whose weights alone are codes.

mod coded;

use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::rows::check_cols;
use crate::shape::{Product, blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
use crate::sys::Plain;
use crate::{bf16, f16};
pub use coded::{GROUPED, LADDER as CODED, Weights, matmul_coded};

const PLAIN: Source = Source { file: "thin/plain.cu", text: include_str!("plain.cu"), entry: "thin_plain" };
const THIN: Source = Source { file: "thin/thin.cu", text: include_str!("thin.cu"), entry: "thin_product" };

const PLAIN_THREADS: u32 = 128;
/// Rows of A that the fast rung takes.
const MOST_ROWS: usize = 8;

const NUMBERS: &[&str] = &["f32", "bf16", "f16", "i8"];
const CODES: &[&str] = &["i8-f32", "i8-bf16"];

const SIMPLE: Implementation =
    Implementation::new("matmul", "plain", "one element of C a thread", PLAIN, by_row)
        .slow(plain_variants)
        .precisions(NUMBERS);
const FAST: Implementation = Implementation::new(
    "matmul",
    "thin",
    "eight rows of B a warp, on the matrix unit but for f32",
    THIN,
    by_row,
)
.fast(thin_variants)
.precisions(NUMBERS)
.requires("m <= 8");

const FORMS: &[(&str, &[&str])] = &[
    ("matmul", NUMBERS),
    ("matmul.fixed", NUMBERS),
    ("int8-matmul", CODES),
    ("int8-matmul.row", CODES),
    ("int8-matmul.channel", CODES),
    ("int8-matmul.fixed", CODES),
];

/// Two rungs of every form.
pub const LADDER: [Implementation; 2 * FORMS.len()] =
    ladder!(FORMS, of => SIMPLE.form(of.0).precisions(of.1), FAST.form(of.0).precisions(of.1));

/// The scales of codes, one for the tensor or one for each row of it.
#[derive(Clone, Copy, Debug)]
pub struct Scales<'a> {
    pub a: DeviceSlice<'a, f32>,
    pub b: DeviceSlice<'a, f32>,
}

/// Numbers and results of a product, as its kernels are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Numbers {
        element: &'static str,
        per_pack: usize,
    },
    Codes,
    /// Codes with scales: whether each row of A has one, whether each of B, and whether results are of bf16.
    Scaled {
        a: bool,
        b: bool,
        half: bool,
    },
}

impl Kind {
    fn of<T: Element>() -> Kind {
        Kind::Numbers { element: T::DEFINE, per_pack: T::PER_PACK }
    }

    fn per_pack(self) -> usize {
        if let Kind::Numbers { per_pack, .. } = self { per_pack } else { 16 }
    }

    fn variant(self, cut: &[(&'static str, u32)]) -> Variant {
        let (element, scales) = match self {
            Kind::Numbers { element, .. } => (element, [0; 4]),
            Kind::Codes => ("ELEMENT_I8", [0; 4]),
            Kind::Scaled { a, b, half } => ("ELEMENT_I8", [1, u32::from(a), u32::from(b), u32::from(half)]),
        };
        let names = ["SCALED", "ROW_SCALES", "COLUMN_SCALES", "OUT_BF16"];
        let own: Vec<_> = [(element, 1)].into_iter().chain(names.into_iter().zip(scales)).collect();
        Variant::bare(&[own.as_slice(), cut].concat())
    }

    /// Every one that a form's precisions can ask for.
    fn all(operation: &str) -> Vec<Kind> {
        if operation.starts_with("matmul") {
            return vec![Kind::of::<f32>(), Kind::of::<bf16>(), Kind::of::<f16>(), Kind::Codes];
        }
        let (a, b) = scales(operation);
        [false, true].map(|half| Kind::Scaled { a, b, half }).to_vec()
    }
}

/// Whether each row of A has a scale, and whether each of B.
fn scales(operation: &str) -> (bool, bool) {
    (operation != "int8-matmul", operation.ends_with(".channel") || operation.ends_with(".fixed"))
}

fn plain_variants(row: &Implementation, _: u32) -> Vec<Variant> {
    Kind::all(row.operation).into_iter().map(|kind| kind.variant(&[])).collect()
}

/// Few columns and many, one row and eight, rows that lie well and rows that do not.
fn thin_variants(row: &Implementation, _: u32) -> Vec<Variant> {
    let shapes = [(1, 4096), (3, 4096), (8, 4096), (8, 14_336), (5, 40)];
    let cuts = |kind: Kind| {
        let of = move |aligned| {
            shapes.map(move |(m, n)| Product { m, n, k: 4096 }).map(|shape| match aligned {
                true => Ring::new(shape, kind.per_pack(), 132, 227 << 10).constants(),
                false => Cut::new(shape, kind.per_pack(), 132).constants(),
            })
        };
        let mut all = [true, false].map(|aligned| of(aligned).map(|cut| kind.variant(&cut))).concat();
        all.dedup();
        all
    };
    Kind::all(row.operation).into_iter().flat_map(cuts).collect()
}

/// How threads share a product whose rows lie anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// Rows of A that are computed: all that the matrix unit has, in f32 a power of two.
    rows: u32,
    /// Eights of rows of B a warp: what is fetched of A serves as many.
    tiles: u32,
    /// Warps of a block, which have parts of k.
    warps: u32,
    /// Packs of each row that a lane has in flight; one that lies across two others takes the registers of both.
    unroll: u32,
    /// Sums take few registers.
    is_light: bool,
}

/// Rows of A that kernels compute.
fn rows_of(m: usize, per_pack: usize) -> usize {
    if per_pack == 4 { m.clamp(1, MOST_ROWS).next_power_of_two() } else { MOST_ROWS }
}

impl Cut {
    fn new(shape: Product, per_pack: usize, multiprocessors: usize) -> Cut {
        let eights = shape.n.div_ceil(8);
        let wanted = match shape.m {
            ..=2 => 1,
            3..=4 => 2,
            // In f32 each lane has sums of its own for every row of A: more find no registers.
            _ if per_pack == 4 => 2,
            _ => 4,
        };
        // Every multiprocessor has a block before any has few.
        let fits = |tiles: &usize| *tiles == 1 || eights.div_ceil(*tiles) >= multiprocessors;
        let tiles = [wanted, 2, 1].into_iter().filter(|tiles| *tiles <= wanted).find(fits).unwrap_or(1);
        let rows = rows_of(shape.m, per_pack);
        let is_light = per_pack > 4 || rows <= 2;
        let unroll = if tiles == 4 || !is_light { 1 } else { 2 };
        let turns = shape.k.div_ceil(4 * per_pack * unroll);
        let warps = match eights.div_ceil(tiles) {
            few if few < multiprocessors && turns >= 16 => 16,
            _ if turns >= 8 => 8,
            _ => 4,
        };
        let [rows, tiles, warps, unroll] = [rows, tiles, warps, unroll].map(|number| number as u32);
        Cut { rows, tiles, warps, unroll, is_light }
    }

    fn constants(&self) -> Vec<(&'static str, u32)> {
        // So many warps find registers beside each other.
        let resident = if self.tiles == 1 && self.is_light { 32 } else { 16 };
        vec![
            ("ALIGNED", 0),
            ("ROWS", self.rows),
            ("TILES", self.tiles),
            ("WARPS", self.warps),
            ("UNROLL", self.unroll),
            ("BLOCKS", (resident / self.warps).max(1)),
        ]
    }

    fn geometry(&self, n: usize) -> Result<Geometry> {
        let grid = blocks("columns of C", n.div_ceil(8 * self.tiles as usize))?;
        Ok(Geometry::line(grid, 32 * self.warps))
    }
}

/// How threads share a product whose rows begin at multiples of sixteen bytes: B is on its way to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ring {
    rows: u32,
    tiles: u32,
    warps: u32,
    unroll: u32,
    /// Stages in flight, of tiles times unroll packs a lane.
    depth: u32,
    /// Blocks of the launch.
    grid: u32,
}

/// Warps of a multiprocessor that fetch.
const RING_WARPS: usize = 16;
/// Shared memory that is for what warps found, and to spare.
const BESIDE: usize = 40 << 10;

impl Ring {
    fn new(shape: Product, per_pack: usize, multiprocessors: usize, shared_bytes: usize) -> Ring {
        let rows = rows_of(shape.m, per_pack);
        let is_heavy = per_pack == 4 && rows > 2;
        let tiles: &[usize] = if is_heavy { &[1, 2, 4] } else { &[1, 2] };
        // What is fetched of A for each eight rows of B, in tenths of what is fetched of these.
        let of_a = if per_pack == 4 { 2 * rows } else { 2 };
        // All blocks end together: the most that one of them computes is least.
        let time = |tiles: &usize| {
            let rounds = shape.n.div_ceil(8 * tiles).div_ceil(multiprocessors.max(1));
            rounds * (10 * tiles + of_a)
        };
        let tiles = tiles.iter().copied().min_by_key(time).unwrap_or(1);
        let unroll = if tiles == 1 { 4 } else { 2 };
        let warps = match shape.k.div_ceil(4 * per_pack * unroll) {
            ..=4 => 4,
            5..=8 => 8,
            _ => RING_WARPS,
        };
        let stage = 16 * 32 * RING_WARPS * tiles * unroll;
        // Rows of A in f32 want room in the near cache, which is what is left.
        let most = if is_heavy { 2 } else { 4 };
        let depth = (shared_bytes.saturating_sub(BESIDE) / stage).clamp(1, most);
        let blocks = multiprocessors.max(1) * (RING_WARPS / warps);
        let grid = shape.n.div_ceil(8 * tiles).clamp(1, blocks);
        let [rows, tiles, warps, unroll, depth, grid] =
            [rows, tiles, warps, unroll, depth, grid].map(|number| number as u32);
        Ring { rows, tiles, warps, unroll, depth, grid }
    }

    fn constants(&self) -> Vec<(&'static str, u32)> {
        vec![
            ("ALIGNED", 1),
            ("ROWS", self.rows),
            ("TILES", self.tiles),
            ("WARPS", self.warps),
            ("UNROLL", self.unroll),
            ("DEPTH", self.depth),
            ("BLOCKS", RING_WARPS as u32 / self.warps),
        ]
    }

    fn geometry(&self) -> Geometry {
        let threads = 32 * self.warps;
        let shared_bytes = 16 * threads * self.depth * self.tiles * self.unroll;
        Geometry { shared_bytes, ..Geometry::line(self.grid, threads) }
    }
}

fn by_row(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let shape = Product { m: args.axis("m")?, n: args.axis("n")?, k: args.axis("k")? };
    match args.precision() {
        "i8" => {
            let (a, b, c) = (args.take::<i8>("a")?, args.take("b")?, args.take_out::<i32>("c")?);
            launch(stream, Kind::Codes, row.fast, a, b, None, c, shape)
        }
        "i8-f32" => scaled::<f32>(row, stream, args, shape, false),
        "i8-bf16" => scaled::<bf16>(row, stream, args, shape, true),
        _ => by_type!(args, typed(row, stream, args, shape)),
    }
}

fn typed<T: Element>(
    row: &Implementation,
    stream: &Stream,
    mut args: Args<'_>,
    shape: Product,
) -> Result<()> {
    let (a, b, c) = (args.take::<T>("a")?, args.take::<T>("b")?, args.take_out::<T>("c")?);
    launch(stream, Kind::of::<T>(), row.fast, a, b, None, c, shape)
}

fn scaled<O: Plain>(
    row: &Implementation,
    stream: &Stream,
    mut args: Args<'_>,
    shape: Product,
    half: bool,
) -> Result<()> {
    let (a, b) = scales(row.operation);
    let kind = Kind::Scaled { a, b, half };
    let scales = Scales { a: args.take("sa")?, b: args.take("sb")? };
    let (a, b, c) = (args.take::<i8>("a")?, args.take("b")?, args.take_out::<O>("c")?);
    launch(stream, kind, row.fast, a, b, Some(scales), c, shape)
}

/// C = A Bᵀ of at most eight rows, with B (n, k).
///
/// ```no_run
/// use roofline_cuda::{Device, DeviceVec, Product, Stream, thin::matmul};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let a = DeviceVec::from_host(&stream, &[1.0f32, 2.0])?;
/// let b = DeviceVec::from_host(&stream, &[3.0f32, 4.0, 5.0, 6.0])?;
/// let mut c = DeviceVec::new(stream.device(), 2)?;
/// matmul(&stream, a.as_slice(), b.as_slice(), c.as_slice_mut()?, Product { m: 1, n: 2, k: 2 })?;
/// assert_eq!(c.as_slice().to_host(&stream)?, [11.0, 17.0]);
/// # Ok(())
/// # }
/// ```
pub fn matmul<T: Element>(
    stream: &Stream,
    a: DeviceSlice<'_, T>,
    b: DeviceSlice<'_, T>,
    c: DeviceSliceMut<'_, T>,
    shape: Product,
) -> Result<()> {
    launch(stream, Kind::of::<T>(), true, a, b, None, c, shape)
}

/// The same of codes, whose sums are exact.
pub fn matmul_i8(
    stream: &Stream,
    a: DeviceSlice<'_, i8>,
    b: DeviceSlice<'_, i8>,
    c: DeviceSliceMut<'_, i32>,
    shape: Product,
) -> Result<()> {
    launch(stream, Kind::Codes, true, a, b, None, c, shape)
}

/// The same of codes with scales: one for all, or one for each row.
pub fn int8_matmul(
    stream: &Stream,
    a: DeviceSlice<'_, i8>,
    b: DeviceSlice<'_, i8>,
    scales: Scales<'_>,
    c: DeviceSliceMut<'_, bf16>,
    shape: Product,
) -> Result<()> {
    let kind = Kind::Scaled { a: scales.a.len() != 1, b: scales.b.len() != 1, half: true };
    launch(stream, kind, true, a, b, Some(scales), c, shape)
}

#[expect(clippy::too_many_arguments, reason = "kind and rung beside the operation's own arguments")]
fn launch<I: Plain, O: Plain>(
    stream: &Stream,
    kind: Kind,
    fast: bool,
    a: DeviceSlice<'_, I>,
    b: DeviceSlice<'_, I>,
    scales: Option<Scales<'_>>,
    c: DeviceSliceMut<'_, O>,
    shape: Product,
) -> Result<()> {
    let Product { m, n, k } = shape;
    shape.check(a.len(), Some(b.len()), c.len())?;
    if let (Kind::Scaled { a, b, .. }, Some(scales)) = (kind, &scales) {
        length("the scales of A", scales.a.len(), if a { m } else { 1 })?;
        length("the scales of B", scales.b.len(), if b { n } else { 1 })?;
    }
    if c.is_empty() {
        return Ok(());
    }
    let of_scales = scales.map_or([a.address(); 2], |scales| [scales.a.address(), scales.b.address()]);
    let [of_a, of_b] = of_scales;
    let addresses = [a.address(), b.address(), of_a, of_b, c.address()].map(Argument::Address);
    let arguments = [addresses.as_slice(), &[m, n, k].map(|size| Argument::I64(size as i64))].concat();
    if !fast {
        let grid = blocks("elements of C", c.len().div_ceil(PLAIN_THREADS as usize))?;
        let kernel = stream.device().kernel(&PLAIN, &kind.variant(&[]))?;
        return kernel.launch(stream, &Geometry::line(grid, PLAIN_THREADS), &arguments);
    }
    if m > MOST_ROWS {
        return Err(CudaError::Unsupported(format!("{m} rows: this kernel takes {MOST_ROWS}")));
    }
    check_cols(k)?;
    let per_pack = kind.per_pack();
    let lies_well = |address: u64| address.is_multiple_of(16);
    let aligned = k.is_multiple_of(per_pack) && lies_well(a.address()) && lies_well(b.address());
    let device = stream.device();
    let (multiprocessors, shared_bytes) = (device.info().multiprocessors, device.info().shared_bytes);
    if aligned {
        let ring = Ring::new(shape, per_pack, multiprocessors, shared_bytes);
        let kernel = device.kernel(&THIN, &kind.variant(&ring.constants()))?;
        return kernel.launch(stream, &ring.geometry(), &arguments);
    }
    let cut = Cut::new(shape, per_pack, multiprocessors);
    let kernel = device.kernel(&THIN, &kind.variant(&cut.constants()))?;
    kernel.launch(stream, &cut.geometry(n)?, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cut_is_one_that_devices_take_and_covers_c(
            m in 1usize..=8,
            n in 1usize..1 << 20,
            k in 0usize..1 << 24,
            per_pack in prop_oneof![Just(4usize), Just(8), Just(16)],
            shared in prop_oneof![Just(99usize << 10), Just(163 << 10), Just(227 << 10)],
        ) {
            let cut = Cut::new(Product { m, n, k }, per_pack, 132);
            prop_assert!((m..=8).contains(&(cut.rows as usize)) && cut.unroll >= 1, "{cut:?}");
            let geometry = cut.geometry(n).unwrap();
            let columns = 8 * cut.tiles as usize;
            let grid = geometry.grid[0] as usize;
            prop_assert!(grid * columns >= n && (grid - 1) * columns < n, "{cut:?}");
            prop_assert!(geometry.block[0] <= 512, "{cut:?}");
            // What warps leave for each other fits beside nothing else into 48 KiB.
            prop_assert!(cut.warps * cut.tiles * 64 * 4 <= 48 << 10, "{cut:?}");

            let ring = Ring::new(Product { m, n, k }, per_pack, 132, shared);
            prop_assert!((m..=8).contains(&(ring.rows as usize)), "{ring:?}");
            let beside = RING_WARPS as u32 / ring.warps;
            prop_assert!((1..=132 * beside).contains(&ring.grid), "{ring:?}");
            let found = 2 * ring.warps * ring.tiles * 64 * 4;
            prop_assert!(found <= 48 << 10, "{ring:?}");
            let all = beside * (ring.geometry().shared_bytes + found);
            prop_assert!(all as usize <= shared || ring.depth == 1, "{ring:?} takes {all}");
            prop_assert!((ring.geometry().shared_bytes + found) as usize <= shared, "{ring:?}");
        }
    }

    #[test]
    fn blocks_end_together() {
        // The most that a block computes, beside what each has at best.
        for (m, n, k) in [(1, 4096, 4096), (1, 14_336, 4096), (1, 4096, 14_336), (8, 14_336, 4096)] {
            let ring = Ring::new(Product { m, n, k }, 8, 132, 227 << 10);
            let columns = 8 * ring.tiles as usize;
            let most = n.div_ceil(columns).div_ceil(ring.grid as usize) * columns;
            assert!(most * 132 * 94 / 100 <= n, "{ring:?}: {most} columns of {n}");
        }
    }
}
