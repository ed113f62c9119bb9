//! One number for each row, for each column, for each line of a middle dimension, or in all: one machinery, and a line of
//! [`FORMS`] for each operation.
//!
//! All are seen as lines along the middle one of three dimensions: rows have an inner one of 1, columns an outer one of 1, and
//! everything is one line. `found.cuh` says what is remembered on the way.

mod forms;

use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::rows::check_cols;
use crate::shape::{blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::{SCRATCH_BLOCKS, Stream};
use crate::{bf16, f16};
pub use forms::{FORMS, Form, Over};

macro_rules! source {
    ($name:literal) => {
        Source {
            file: concat!("reduce/", $name, ".cu"),
            text: include_str!(concat!($name, ".cu")),
            entry: concat!("reduce_", $name),
        }
    };
}
const PLAIN: Source = source!("plain");
const ROWS: Source = source!("rows");
const COLUMNS: Source = source!("columns");
const ALL: Source = source!("all");

/// The tensor [outer, length, inner], of whose lines each becomes a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    pub outer: usize,
    pub length: usize,
    pub inner: usize,
}

impl Lines {
    pub(crate) fn count(&self) -> Result<usize> {
        product("lines", self.outer, self.inner)
    }

    pub(crate) fn elements(&self) -> Result<usize> {
        product("elements of all lines", self.count()?, self.length)
    }
}

/// How a fast rung is cut: its source, what it is compiled with, and its launch.
struct Cut {
    source: Source,
    constants: Vec<(&'static str, u32)>,
    geometry: Geometry,
}

const PLAIN_THREADS: u32 = 256;
/// Threads a block, and blocks a multiprocessor, that walk through everything together.
const ALL_THREADS: u32 = 256;
const RESIDENT: usize = 6;

fn plain(lines: Lines) -> Result<Cut> {
    let geometry = Geometry::line(blocks("lines", lines.count()?)?, PLAIN_THREADS);
    Ok(Cut { source: PLAIN, constants: vec![("THREADS", PLAIN_THREADS)], geometry })
}

/// The fast rung for lines that lie so; `aligned`: the first begins at a multiple of sixteen bytes.
fn best(lines: Lines, per_pack: usize, inputs: usize, aligned: bool, multiprocessors: usize) -> Result<Cut> {
    let Lines { outer, length, inner } = lines;
    let one = outer == 1 && inner == 1;
    if one && (inputs == 2 || length > 1 << 16) {
        return all(length, per_pack, inputs, multiprocessors);
    }
    if inputs == 1 && inner == 1 {
        return rows(outer, length, per_pack);
    }
    if inputs == 1 {
        return columns(lines, per_pack, aligned);
    }
    plain(lines)
}

fn all(length: usize, per_pack: usize, inputs: usize, multiprocessors: usize) -> Result<Cut> {
    let packs = 8 / inputs as u32;
    let tiles = (length + per_pack - 1).div_ceil(per_pack * ALL_THREADS as usize * packs as usize);
    let grid = tiles.clamp(1, (RESIDENT * multiprocessors).clamp(1, SCRATCH_BLOCKS));
    let constants = vec![("THREADS", ALL_THREADS), ("PACKS", packs)];
    Ok(Cut { source: ALL, constants, geometry: Geometry::line(grid as u32, ALL_THREADS) })
}

fn rows(rows: usize, cols: usize, per_pack: usize) -> Result<Cut> {
    let (constants, geometry) = cut_rows(rows, cols, per_pack)?;
    Ok(Cut { source: ROWS, constants, geometry })
}

/// How rows are shared by threads that walk: what kernels of rows are compiled with, and their launch.
pub(crate) fn cut_rows(
    rows: usize,
    cols: usize,
    per_pack: usize,
) -> Result<(Vec<(&'static str, u32)>, Geometry)> {
    check_cols(cols)?;
    let (threads, rows_a_block, packs) = match cols.div_ceil(per_pack) + 1 {
        ..=8 => (8, 32, 1),
        9..=32 => (32, 8, 1),
        33..=64 => (32, 8, 2),
        65..=256 => (32, 4, 4),
        257..=1024 => (128, 1, 4),
        _ => (256, 1, 4),
    };
    let grid = blocks("rows", rows.div_ceil(rows_a_block as usize))?;
    let geometry = Geometry { block: [threads, rows_a_block, 1], ..Geometry::line(grid, threads) };
    Ok((vec![("THREADS", threads), ("ROWS", rows_a_block), ("PACKS", packs)], geometry))
}

fn columns(lines: Lines, per_pack: usize, aligned: bool) -> Result<Cut> {
    let (constants, geometry) = cut_columns(lines, per_pack, aligned)?;
    Ok(Cut { source: COLUMNS, constants, geometry })
}

/// The same for lines that lie across memory, as `wide.cuh` has it.
pub(crate) fn cut_columns(
    lines: Lines,
    per_pack: usize,
    aligned: bool,
) -> Result<(Vec<(&'static str, u32)>, Geometry)> {
    let wide = if aligned && lines.inner.is_multiple_of(per_pack) { per_pack as u32 } else { 1 };
    let (across, down) = if wide > 1 { (8, 64) } else { (32, 16) };
    let tiles = product("tiles of columns", lines.inner.div_ceil((across * wide) as usize), lines.outer)?;
    let geometry =
        Geometry { block: [across, down, 1], ..Geometry::line(blocks("tiles of columns", tiles)?, across) };
    Ok((vec![("ACROSS", across), ("DOWN", down), ("WIDE", wide)], geometry))
}

/// Reduces one tensor, or two element by element, to one number a line.
///
/// ```no_run
/// use roofline_cuda::reduce::{Form, Lines, reduce};
/// use roofline_cuda::{Device, DeviceVec, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[1.0f32, 2.0, 3.0, 4.0])?;
/// let mut y = DeviceVec::new(stream.device(), 2)?;
/// let sum = Form::find("sum").unwrap();
/// let rows = Lines { outer: 2, length: 2, inner: 1 };
/// reduce(&stream, sum, &[x.as_slice()], y.as_slice_mut()?, rows)?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [3.0, 7.0]);
/// # Ok(())
/// # }
/// ```
pub fn reduce<T: Element>(
    stream: &Stream,
    form: &Form,
    inputs: &[DeviceSlice<'_, T>],
    out: DeviceSliceMut<'_, T>,
    lines: Lines,
) -> Result<()> {
    length("the list of inputs", inputs.len(), form.inputs.len())?;
    let aligned = inputs[0].address().is_multiple_of(16);
    let cut = best(lines, T::PER_PACK, inputs.len(), aligned, stream.device().info().multiprocessors)?;
    launch(stream, form, inputs, out, lines, cut)
}

fn launch<T: Element>(
    stream: &Stream,
    form: &Form,
    inputs: &[DeviceSlice<'_, T>],
    out: DeviceSliceMut<'_, T>,
    lines: Lines,
    cut: Cut,
) -> Result<()> {
    let elements = lines.elements()?;
    inputs.iter().try_for_each(|input| length("an input", input.len(), elements))?;
    length("the output", out.len(), lines.count()?)?;
    if out.is_empty() {
        return Ok(());
    }
    let [first, last] = [inputs[0].address(), inputs[inputs.len() - 1].address()];
    let addresses = [first, last, out.address(), stream.scratch()?].map(Argument::Address);
    let sizes = [lines.outer, lines.length, lines.inner].map(|size| Argument::I64(size as i64));
    let kernel = stream.device().kernel(&cut.source, &form.variant::<T>(&cut.constants))?;
    kernel.launch(stream, &cut.geometry, &[addresses.as_slice(), &sizes].concat())
}

impl Form {
    /// The form of an operation.
    pub fn find(operation: &str) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.operation == operation)
    }

    fn variant<T: Element>(&self, constants: &[(&'static str, u32)]) -> Variant {
        let all = [&[("KIND", self.kind as u32), ("INPUTS", self.inputs.len() as u32)], constants].concat();
        Variant::of::<T>(&all).with("TERM", self.term).with("RESULT", self.result)
    }

    fn lines(&self, args: &Args<'_>) -> Result<Lines> {
        let axis = |name| args.axis(name);
        Ok(match self.over {
            Over::Rows => Lines { outer: axis("rows")?, length: axis("cols")?, inner: 1 },
            Over::Columns => Lines { outer: 1, length: axis("rows")?, inner: axis("cols")? },
            Over::All => Lines { outer: 1, length: args.rows()?.elements()?, inner: 1 },
            Over::Vector => Lines { outer: 1, length: axis("n")?, inner: 1 },
            Over::Middle => Lines { outer: axis("outer")?, length: axis("length")?, inner: axis("inner")? },
        })
    }

    /// Lines of every class of length.
    fn classes(&self) -> Vec<Lines> {
        let [short, middle, long] = [20, 1000, 100_000];
        match self.over {
            Over::Rows => [short, middle, long].map(|length| Lines { outer: 99, length, inner: 1 }).to_vec(),
            Over::Columns => [999, 1024].map(|inner| Lines { outer: 1, length: long, inner }).to_vec(),
            Over::Middle => [1, 999, 1024].map(|inner| Lines { outer: 9, length: middle, inner }).to_vec(),
            Over::All | Over::Vector => vec![Lines { outer: 1, length: long, inner: 1 }],
        }
    }
}

/// Two rungs of every form.
pub const LADDER: [Implementation; 2 * FORMS.len()] = {
    let simple =
        Implementation::new("", "plain", "a block a line, then a tree", PLAIN, by_row).slow(plain_variants);
    let about = "sixteen bytes an access; lines shared by threads, by warps or by all blocks";
    let shared = Implementation::new("", "shared", about, ROWS, by_row).fast(fast_variants);
    ladder!(
        FORMS,
        of => simple.form(of.operation),
        Implementation { source: of.over.source(), ..shared.form(of.operation) },
    )
};

impl Over {
    /// The source that stands for its fast rung.
    const fn source(self) -> Source {
        match self {
            Over::Rows => ROWS,
            Over::Columns | Over::Middle => COLUMNS,
            Over::All | Over::Vector => ALL,
        }
    }
}

fn plain_variants(row: &Implementation, _: u32) -> Vec<Variant> {
    let Ok(form) = form_of(row) else { return Vec::new() };
    let constants = [("THREADS", PLAIN_THREADS)];
    vec![form.variant::<f32>(&constants), form.variant::<bf16>(&constants), form.variant::<f16>(&constants)]
}

/// Those of the row's own source; lines of a middle dimension that is the last are rows.
fn fast_variants(row: &Implementation, _: u32) -> Vec<Variant> {
    fn of<T: Element>(row: &Implementation, form: &Form) -> Vec<Variant> {
        let cut = |lines| best(lines, T::PER_PACK, form.inputs.len(), true, 132).ok();
        let cuts =
            form.classes().into_iter().filter_map(cut).filter(|cut| cut.source.file == row.source.file);
        cuts.map(|cut| form.variant::<T>(&cut.constants)).collect()
    }
    let Ok(form) = form_of(row) else { return Vec::new() };
    [of::<f32>(row, form), of::<bf16>(row, form), of::<f16>(row, form)].concat()
}

fn form_of(row: &Implementation) -> Result<&'static Form> {
    Form::find(row.operation)
        .ok_or_else(|| CudaError::Missing { kind: "form of reductions", name: row.operation.to_owned() })
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let form = form_of(row)?;
    let inputs: Vec<DeviceSlice<'_, T>> =
        form.inputs.iter().map(|name| args.take(name)).collect::<Result<_>>()?;
    let (lines, out) = (form.lines(&args)?, args.take_out(form.output)?);
    if row.fast {
        return reduce(stream, form, &inputs, out, lines);
    }
    launch(stream, form, &inputs, out, lines, plain(lines)?)
}

#[cfg(test)]
mod tests;
