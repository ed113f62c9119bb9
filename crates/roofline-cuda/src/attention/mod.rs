//! Attention of few queries, as decoding asks for: `attention` of a batch, with or without keys after a query's own, with a
//! mask, sinks or a cap; `window-attention` to the last keys; and `paged-attention`, whose keys and values lie in pages of a
//! pool.
//!
//! Keys and values are read once for all heads of queries that share them, and are split over as many blocks as the device
//! holds. Any number of queries is computed; for many of them the keys are read again for every eight.

mod cut;
mod varlen;

use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder, of_each};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::rows::check_cols;
use crate::shape::{blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
use crate::{bf16, f16};
use cut::Cut;
pub use varlen::{Heads, LADDER as VARLEN, varlen_attention};

const PLAIN: Source =
    Source { file: "attention/plain.cu", text: include_str!("plain.cu"), entry: "attention_plain" };
const LANES: Source =
    Source { file: "attention/lanes.cu", text: include_str!("lanes.cu"), entry: "attention_lanes" };
const MATRIX: Source =
    Source { file: "attention/matrix.cu", text: include_str!("matrix.cu"), entry: "attention_matrix" };

const PLAIN_THREADS: u32 = 128;
/// The longest head that the fast rungs take.
const MOST_DIM: usize = 256;

/// A cap is of another form, and any is right here.
const PARAMS: &[&str] = &["scale", "cap"];

const SIMPLE: Implementation = Implementation::new(
    "attention",
    "plain",
    "a block a head of a query, two walks over the keys",
    PLAIN,
    by_row,
)
.slow(|row, _| of_each(&[&[("THREADS", PLAIN_THREADS)], form_of(row).constants().as_slice()].concat()));
const BY_LANES: Implementation = Implementation::new(
    "attention",
    "lanes",
    "lanes share a head; keys are split over blocks, and read once for heads that share them",
    LANES,
    by_row,
)
.fast(fast_variants)
.precisions(&["f32"])
.requires("dim <= 256");
const BY_MATRIX: Implementation = Implementation::new(
    "attention",
    "matrix",
    "the same on the matrix unit, sixteen keys a warp",
    MATRIX,
    by_row,
)
.fast(fast_variants)
.precisions(&["bf16", "f16"])
.requires("dim <= 256");

/// Every form, with the parameters that it takes.
const FORMS: &[(&str, &[&str])] = &[
    ("attention", PARAMS),
    ("attention.causal", PARAMS),
    ("attention.heads-first", PARAMS),
    ("attention.heads-first-causal", PARAMS),
    ("attention.masked", PARAMS),
    ("attention.sinks", PARAMS),
    ("attention.soft-cap", PARAMS),
    ("window-attention", PARAMS),
    ("window-attention.sinks", PARAMS),
    ("window-attention.soft-cap", PARAMS),
    ("paged-attention", &["scale"]),
];

/// Three rungs of every form.
pub const LADDER: [Implementation; 3 * FORMS.len()] = ladder!(
    FORMS,
    of => SIMPLE.form(of.0).params(of.1),
    BY_LANES.form(of.0).params(of.1),
    BY_MATRIX.form(of.0).params(of.1),
);

/// Which keys a query sees, and how tensors lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The last query stands at the last key, and none sees a key after its own.
    pub causal: bool,
    /// Tensors are `[batch, heads, places, dim]`, not `[batch, places, heads, dim]`.
    pub heads_first: bool,
    /// Of the keys up to its own a query sees so many, the last ones.
    pub window: Option<usize>,
}

/// What counts beside the products of queries and keys.
#[derive(Clone, Copy, Debug)]
pub enum Beside<'a, T> {
    Nothing,
    /// \[seq, kv\], added to them; −∞ hides a key.
    Mask(DeviceSlice<'a, T>),
    /// A score more for each head, of a key without a value.
    Sinks(DeviceSlice<'a, T>),
    /// They become cap · tanh(product / cap).
    Cap(f32),
}

impl<'a, T: Element> Beside<'a, T> {
    fn take(row: &Implementation, args: &Args<'a>) -> Result<Beside<'a, T>> {
        Ok(match row.operation.split_once('.') {
            Some((_, "masked")) => Beside::Mask(args.take("mask")?),
            Some((_, "sinks")) => Beside::Sinks(args.take("sinks")?),
            Some((_, "soft-cap")) => Beside::Cap(args.value("cap")? as f32),
            _ => Beside::Nothing,
        })
    }

    fn kind(&self) -> Counts {
        match self {
            Beside::Nothing => Counts::Nothing,
            Beside::Mask(_) => Counts::Mask,
            Beside::Sinks(_) => Counts::Sinks,
            Beside::Cap(_) => Counts::Cap,
        }
    }
}

/// The same without what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    Nothing,
    Mask,
    Sinks,
    Cap,
}

/// What of it a kernel is compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Compiled {
    form: Form,
    paged: bool,
    beside: Counts,
}

impl Compiled {
    fn constants(self) -> [(&'static str, u32); 7] {
        [
            ("CAUSAL", u32::from(self.form.causal)),
            ("HEADS_FIRST", u32::from(self.form.heads_first)),
            ("PAGED", u32::from(self.paged)),
            ("WINDOWED", u32::from(self.form.window.is_some())),
            ("MASKED", u32::from(self.beside == Counts::Mask)),
            ("SINKS", u32::from(self.beside == Counts::Sinks)),
            ("CAPPED", u32::from(self.beside == Counts::Cap)),
        ]
    }
}

fn form_of(row: &Implementation) -> Compiled {
    let (name, paged) = (row.operation, row.operation == "paged-attention");
    let beside = match name.split_once('.') {
        Some((_, "masked")) => Counts::Mask,
        Some((_, "sinks")) => Counts::Sinks,
        Some((_, "soft-cap")) => Counts::Cap,
        _ => Counts::Nothing,
    };
    // How many keys a window has is no constant.
    let window = name.starts_with("window").then_some(0);
    let causal =
        name.ends_with("causal") || window.is_some() || matches!(beside, Counts::Sinks | Counts::Cap);
    Compiled { form: Form { causal, heads_first: name.contains("heads-first"), window }, paged, beside }
}

/// Short heads and long ones, those that fill their lanes and those that do not, one head and many.
fn fast_variants(row: &Implementation, _: u32) -> Vec<Variant> {
    fn of<T: Element>(form: Compiled) -> Vec<Variant> {
        let of = |(dim, rows, aligned)| {
            // Where many blocks begin at once they are halves.
            [1, 256].map(|groups| {
                let (cut, _) = Cut::new(dim, rows, T::PER_PACK, aligned, 227 << 10)
                    .masked(form.beside == Counts::Mask)
                    .best(groups, 4096, 132);
                Variant::of::<T>(&[cut.constants().as_slice(), &form.constants()].concat())
            })
        };
        let shapes =
            [(128, 4, true), (64, 8, true), (256, 8, true), (80, 8, true), (100, 1, false), (255, 8, false)];
        let mut variants = shapes.map(of).concat();
        variants.dedup();
        variants
    }
    let form = form_of(row);
    if row.source.entry == LANES.entry {
        of::<f32>(form)
    } else {
        [of::<bf16>(form), of::<f16>(form)].concat()
    }
}

/// Sizes of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub batch: usize,
    /// Queries of a sequence.
    pub seq: usize,
    /// Keys and values of a sequence; of paged attention those of a page.
    pub kv: usize,
    /// Heads of queries, so many times those of keys and values.
    pub heads: usize,
    pub kv_heads: usize,
    pub dim: usize,
}

/// The pages of each sequence: those that `pages` names from offsets\[i\] up to offsets\[i + 1\], all full but the last,
/// whose last key stands at last\[i\].
#[derive(Clone, Copy, Debug)]
pub struct Pages<'a> {
    pub pages: DeviceSlice<'a, i32>,
    pub offsets: DeviceSlice<'a, i32>,
    pub last: DeviceSlice<'a, i32>,
}

/// Queries, keys and values.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a, T> {
    pub q: DeviceSlice<'a, T>,
    pub k: DeviceSlice<'a, T>,
    pub v: DeviceSlice<'a, T>,
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let compiled = form_of(row);
    let axis = |name| args.axis(name);
    let (seq, kv) = if compiled.paged { (1, axis("page")?) } else { (axis("seq")?, axis("kv")?) };
    let (batch, heads, kv_heads, dim) = (axis("batch")?, axis("heads")?, axis("kv-heads")?, axis("dim")?);
    let shape = Shape { batch, seq, kv, heads, kv_heads, dim };
    let inputs = Inputs { q: args.take::<T>("q")?, k: args.take("k")?, v: args.take("v")? };
    let pages = match compiled.paged {
        true => {
            let (pages, offsets) = (args.take("pages")?, args.take("offsets")?);
            Some(Pages { pages, offsets, last: args.take("last")? })
        }
        false => None,
    };
    let (scale, beside) = (args.value("scale")? as f32, Beside::take(row, &args)?);
    let window = compiled.form.window.map(|_| args.axis("window")).transpose()?;
    let form = Form { window, ..compiled.form };
    launch(stream, form, row.fast, inputs, pages, beside, args.take_out("y")?, shape, scale)
}

/// Every query's mean of the values, weighted by the softmax of its products with the keys times `scale`; 0 is 1 / √dim.
///
/// ```no_run
/// use roofline_cuda::{Device, DeviceVec, Stream, attention::{Beside, Form, Inputs, Shape, attention}};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let q = DeviceVec::from_host(&stream, &[1.0f32, 0.0])?;
/// let kv = DeviceVec::from_host(&stream, &[2.0f32, 2.0])?;
/// let mut y = DeviceVec::new(stream.device(), 2)?;
/// let shape = Shape { batch: 1, seq: 1, kv: 1, heads: 1, kv_heads: 1, dim: 2 };
/// let inputs = Inputs { q: q.as_slice(), k: kv.as_slice(), v: kv.as_slice() };
/// attention(&stream, Form::default(), inputs, Beside::Nothing, y.as_slice_mut()?, shape, 0.0)?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [2.0, 2.0]);
/// # Ok(())
/// # }
/// ```
pub fn attention<T: Element>(
    stream: &Stream,
    form: Form,
    inputs: Inputs<'_, T>,
    beside: Beside<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Shape,
    scale: f32,
) -> Result<()> {
    launch(stream, form, true, inputs, None, beside, y, shape, scale)
}

/// The same of one query a sequence, whose keys and values lie in pages of `shape.kv` keys: `k` and `v` are
/// `[pages, page, kv_heads, dim]`. A sequence without pages has zeros.
pub fn paged_attention<T: Element>(
    stream: &Stream,
    inputs: Inputs<'_, T>,
    pages: Pages<'_>,
    y: DeviceSliceMut<'_, T>,
    shape: Shape,
    scale: f32,
) -> Result<()> {
    let (form, shape) = (Form::default(), Shape { seq: 1, ..shape });
    launch(stream, form, true, inputs, Some(pages), Beside::Nothing, y, shape, scale)
}

fn unsupported<T>(why: &str) -> Result<T> {
    Err(CudaError::Unsupported(why.to_owned()))
}

#[expect(clippy::too_many_arguments, reason = "form and rung beside the operation's own arguments")]
fn launch<T: Element>(
    stream: &Stream,
    form: Form,
    fast: bool,
    Inputs { q, k, v }: Inputs<'_, T>,
    pages: Option<Pages<'_>>,
    beside: Beside<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Shape,
    scale: f32,
) -> Result<()> {
    let Shape { batch, seq, kv, heads, kv_heads, dim } = shape;
    if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
        return unsupported("heads of queries share those of keys in groups of one size");
    }
    if form.causal && seq > kv {
        return unsupported("queries before the first key");
    }
    if form.window.is_some() && !form.causal {
        return unsupported("a window of keys after a query's own");
    }
    let many = |factors: &[usize]| {
        factors.iter().try_fold(1, |all, &size| product("elements of a tensor", all, size))
    };
    let sequences = pages.map_or(batch, |pages| pages.pages.len());
    let elements = many(&[sequences, kv, kv_heads, dim])?;
    length("q", q.len(), many(&[batch, seq, heads, dim])?)?;
    length("k", k.len(), elements)?;
    length("v", v.len(), elements)?;
    length("y", y.len(), q.len())?;
    if let Some(pages) = &pages {
        length("offsets", pages.offsets.len(), batch + 1)?;
        length("last", pages.last.len(), batch)?;
    }
    let (numbers, cap) = match &beside {
        Beside::Mask(mask) => {
            length("mask", mask.len(), many(&[seq, kv])?)?;
            (mask.address(), 1.0)
        }
        Beside::Sinks(sinks) => {
            length("sinks", sinks.len(), heads)?;
            (sinks.address(), 1.0)
        }
        Beside::Cap(cap) => (q.address(), *cap),
        Beside::Nothing => (q.address(), 1.0),
    };
    if y.is_empty() {
        return Ok(());
    }
    // Keys of one sequence are counted with an int.
    check_cols(many(&[if pages.is_some() { sequences } else { 1 }, kv])?)?;
    let scale = if scale == 0.0 { 1.0 / (dim as f32).sqrt() } else { scale };
    let of_pages = pages.map_or([q.address(); 3], |pages| {
        [pages.pages.address(), pages.offsets.address(), pages.last.address()]
    });
    let addresses =
        [&[q.address(), k.address(), v.address()], of_pages.as_slice(), &[numbers, y.address()]].concat();
    let mut arguments: Vec<Argument> = addresses.into_iter().map(Argument::Address).collect();
    let sizes = [batch, seq, kv, heads, kv_heads, dim, sequences, elements];
    let own = Compiled { form, paged: pages.is_some(), beside: beside.kind() }.constants();
    let rest =
        [Argument::I64(form.window.unwrap_or(kv).min(kv) as i64), Argument::F32(scale), Argument::F32(cap)];
    if !fast {
        arguments.extend(sizes.map(|size| Argument::I64(size as i64)));
        arguments.extend(rest);
        let grid = blocks("heads of queries", many(&[batch, seq, heads])?)?;
        let constants = [&[("THREADS", PLAIN_THREADS)], own.as_slice()].concat();
        let kernel = stream.device().kernel(&PLAIN, &Variant::of::<T>(&constants))?;
        return kernel.launch(stream, &Geometry::line(grid, PLAIN_THREADS), &arguments);
    }
    if dim > MOST_DIM {
        return unsupported("a head of more than 256 elements");
    }
    let rows = seq * (heads / kv_heads);
    let lies_well = |address: u64| address.is_multiple_of(16);
    let aligned = dim.is_multiple_of(T::PER_PACK) && [&q, &k, &v].into_iter().all(|x| lies_well(x.address()));
    let device = stream.device();
    let cut = Cut::new(dim, rows, T::PER_PACK, aligned, device.info().shared_bytes)
        .masked(matches!(beside, Beside::Mask(_)));
    let groups = many(&[batch, rows.div_ceil(cut.tile as usize), kv_heads])?;
    let keys = match form.window {
        _ if pages.is_some() => sequences * kv / batch,
        Some(window) => window.saturating_add(seq).min(kv),
        None => kv,
    };
    let (cut, splits) = cut.best(groups, keys, device.info().multiprocessors);
    arguments.push(Argument::Address(if splits > 1 { stream.parts()? } else { y.address() }));
    arguments.extend(sizes.into_iter().chain([splits]).map(|size| Argument::I64(size as i64)));
    arguments.extend(rest);
    let source = if T::PER_PACK == 4 { &LANES } else { &MATRIX };
    let kernel = device.kernel(source, &Variant::of::<T>(&[&cut.constants(), own.as_slice()].concat()))?;
    let grid = blocks("blocks of all keys", many(&[groups, splits])?)?;
    let geometry =
        Geometry { shared_bytes: cut.shared_bytes() as u32, ..Geometry::line(grid, 32 * cut.warps) };
    kernel.launch(stream, &geometry, &arguments)
}
