//! Codes of eight bits with a scale for each row or each block of it: `quantize`, `quantize-fp8`, `mx-quantize`, and
//! `swiglu-quantize`, which computes what it quantises; and back again, `dequantize` and `mx-dequantize`. One scale for a tensor,
//! codes of four bits and codes of zero take two launches: `apart`.
//!
//! A scale takes the largest magnitude of its group to the largest code; that of a group of zeros is 1.

mod apart;
mod back;

use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::reduce::cut_rows;
use crate::rows::check_cols;
use crate::shape::{Rows, blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
use crate::sys::Plain;
use crate::{bf16, f16};
pub use apart::{CODINGS, Codes as CodesApart, Coding, HELPERS, LADDER as APART, quantize_apart};
pub use back::{Coded, LADDER as BACK, MEANINGS, Meaning, dequantize};

const PLAIN: Source =
    Source { file: "quantize/plain.cu", text: include_str!("plain.cu"), entry: "quantize_plain" };
const ROWS: Source =
    Source { file: "quantize/rows.cu", text: include_str!("rows.cu"), entry: "quantize_rows" };

/// An operation whose results are codes.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub operation: &'static str,
    pub inputs: &'static [&'static str],
    /// What is quantised, of x and y.
    pub term: &'static str,
    pub codes: Codes,
    pub groups: Groups,
}

/// What codes are.
#[derive(Clone, Copy, Debug)]
pub struct Codes {
    /// Digits behind the point of numbers in fp8; none of whole ones.
    pub digits: u32,
    /// Of whole numbers: ties go away from zero, not to even.
    pub away: bool,
    /// What the largest magnitude becomes, and the least of whole numbers.
    pub over: &'static str,
    pub least: &'static str,
    /// Scales are powers of two, in a byte.
    pub powers: bool,
}

/// What shares a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    Rows,
    /// As many elements of a row as the parameter `block` says.
    Blocks,
    /// So many elements of a row.
    Of(usize),
    /// All elements, seen as one row.
    Tensor,
}

const WHOLE: Codes = Codes { digits: 0, away: false, over: "127.0f", least: "-127.0f", powers: false };
const AWAY: Codes = Codes { away: true, ..WHOLE };
const E4M3: Codes = Codes { digits: 3, over: "448.0f", ..WHOLE };
const E5M2: Codes = Codes { digits: 2, over: "57344.0f", ..WHOLE };

const BY_ROW: Form =
    Form { operation: "quantize", inputs: &["x"], term: "x", codes: WHOLE, groups: Groups::Rows };
const SWIGLU: Form =
    Form { operation: "swiglu-quantize", inputs: &["gate", "up"], term: "x * sigmoid(x) * y", ..BY_ROW };

/// Every operation that the machinery has.
pub const FORMS: &[Form] = &[
    BY_ROW,
    Form { operation: "quantize.away", codes: AWAY, ..BY_ROW },
    Form { operation: "quantize.full", codes: Codes { over: "127.5f", least: "-128.0f", ..WHOLE }, ..BY_ROW },
    Form { operation: "quantize.block", codes: AWAY, groups: Groups::Blocks, ..BY_ROW },
    Form { operation: "quantize.block-even", groups: Groups::Blocks, ..BY_ROW },
    Form { operation: "quantize-fp8", codes: E4M3, ..BY_ROW },
    Form { operation: "quantize-fp8.block", codes: E4M3, groups: Groups::Blocks, ..BY_ROW },
    Form { operation: "quantize-fp8.e5m2", codes: E5M2, ..BY_ROW },
    Form {
        operation: "mx-quantize",
        codes: Codes { powers: true, ..E4M3 },
        groups: Groups::Of(32),
        ..BY_ROW
    },
    SWIGLU,
    Form { operation: "swiglu-quantize.fp8", codes: E4M3, ..SWIGLU },
];

/// Two rungs of every form.
pub const LADDER: [Implementation; 2 * FORMS.len()] = {
    let plain = Implementation::new("", "plain", "one thread a group, two walks", PLAIN, by_row)
        .slow(|row, _| form_of(row).map_or(Vec::new(), |form| form.variants(&[])));
    let about = "threads share a group, two walks, the second from a cache";
    let shared = Implementation::new("", "shared", about, ROWS, by_row).fast(fast_variants);
    ladder!(FORMS, of => of.row(plain), of.row(shared))
};

fn fast_variants(row: &Implementation, _: u32) -> Vec<Variant> {
    let Ok(form) = form_of(row) else { return Vec::new() };
    let of = |cols| cut_rows(9, cols, 8).map_or(Vec::new(), |(constants, _)| form.variants(&constants));
    [20, 1000, 8191].into_iter().flat_map(of).collect()
}

impl Form {
    /// The form of an operation.
    pub fn find(operation: &str) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.operation == operation)
    }

    /// A rung of it.
    const fn row(&self, rung: Implementation) -> Implementation {
        let params: &[&str] = if matches!(self.groups, Groups::Blocks) { &["block"] } else { &[] };
        rung.form(self.operation).params(params)
    }

    fn variant<T: Element>(&self, constants: &[(&'static str, u32)]) -> Variant {
        let Codes { digits, away, over, least, powers } = self.codes;
        let own = [
            ("INPUTS", self.inputs.len() as u32),
            ("DIGITS", digits),
            ("AWAY", u32::from(away)),
            ("POWERS", u32::from(powers)),
            ("GROUPED", u32::from(self.groups != Groups::Rows)),
        ];
        let variant = Variant::of::<T>(&[own.as_slice(), constants].concat());
        variant.with("TERM", self.term).with("OVER", over).with("LEAST", least)
    }

    fn variants(&self, constants: &[(&'static str, u32)]) -> Vec<Variant> {
        vec![self.variant::<f32>(constants), self.variant::<bf16>(constants), self.variant::<f16>(constants)]
    }
}

fn form_of(row: &Implementation) -> Result<&'static Form> {
    Form::find(row.operation)
        .ok_or_else(|| CudaError::Missing { kind: "form of codes", name: row.operation.to_owned() })
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let form = form_of(row)?;
    let inputs: Vec<DeviceSlice<'_, T>> =
        form.inputs.iter().map(|name| args.take(name)).collect::<Result<_>>()?;
    let block = if form.groups == Groups::Blocks { args.value("block")? as usize } else { 0 };
    let groups = form.groups.of(args.rows()?, block)?;
    launch(stream, form, row.fast, &inputs, [args.take_out("q")?, args.take_out("s")?], groups)
}

/// Codes and scales of every row, or of every block of one, by the fastest rung. Codes are of one byte, scales in f32, or
/// in bytes where they are powers of two. `block` is that of the forms with blocks of any size.
///
/// ```no_run
/// use roofline_cuda::quantize::{Form, quantize};
/// use roofline_cuda::{Device, DeviceVec, Rows, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[127.0f32, -1.0])?;
/// let (mut q, mut s) = (DeviceVec::<i8>::new(stream.device(), 2)?, DeviceVec::<f32>::new(stream.device(), 1)?);
/// let (form, shape) = (Form::find("quantize").unwrap(), Rows { rows: 1, cols: 2 });
/// quantize(&stream, form, &[x.as_slice()], q.as_slice_mut()?, s.as_slice_mut()?, shape, 0)?;
/// assert_eq!(q.as_slice().to_host(&stream)?, [127, -1]);
/// # Ok(())
/// # }
/// ```
pub fn quantize<T: Element, Q: Plain, S: Plain>(
    stream: &Stream,
    form: &Form,
    inputs: &[DeviceSlice<'_, T>],
    q: DeviceSliceMut<'_, Q>,
    s: DeviceSliceMut<'_, S>,
    shape: Rows,
    block: usize,
) -> Result<()> {
    length("the list of inputs", inputs.len(), form.inputs.len())?;
    let odd = || CudaError::Unsupported("codes and scales of no whole bytes".to_owned());
    let outputs = [q.cast().ok_or_else(odd)?, s.cast().ok_or_else(odd)?];
    launch(stream, form, true, inputs, outputs, form.groups.of(shape, block)?)
}

/// How rows are cut into groups that share a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    shape: Rows,
    /// Elements of a group, and groups of a row.
    shared: usize,
    of_row: usize,
}

impl Cut {
    fn groups(&self) -> Result<usize> {
        let groups = product("groups", self.shape.rows, self.of_row)?;
        // Kernels count those of several to a row with 32 bits.
        let most = if self.of_row == 1 { usize::MAX } else { i32::MAX as usize };
        if groups > most {
            Err(CudaError::TooLarge { what: "groups", got: groups, most })
        } else {
            Ok(groups)
        }
    }
}

impl Groups {
    fn of(self, shape: Rows, block: usize) -> Result<Cut> {
        check_cols(shape.cols)?;
        let shared = match self {
            Groups::Rows | Groups::Tensor => shape.cols,
            Groups::Blocks => block.clamp(1, shape.cols.max(1)),
            Groups::Of(block) => block,
        };
        // Rows of no element have a scale where rows have one.
        let of_row =
            if matches!(self, Groups::Rows | Groups::Tensor) { 1 } else { shape.cols.div_ceil(shared) };
        Ok(Cut { shape, shared, of_row })
    }
}

/// Outputs are bytes: codes, and scales of as many bytes as the form says.
fn launch<T: Element>(
    stream: &Stream,
    form: &Form,
    fast: bool,
    inputs: &[DeviceSlice<'_, T>],
    [q, s]: [DeviceSliceMut<'_, u8>; 2],
    cut: Cut,
) -> Result<()> {
    let (elements, groups) = (cut.shape.elements()?, cut.groups()?);
    let of_scale = if form.codes.powers { 1 } else { size_of::<f32>() };
    inputs.iter().try_for_each(|input| length("an input", input.len(), elements))?;
    length("q in bytes", q.len(), elements)?;
    length("s in bytes", s.len(), product("bytes of scales", groups, of_scale)?)?;
    if groups == 0 {
        return Ok(());
    }
    let (source, constants, geometry) = match fast {
        true => {
            let (constants, geometry) = cut_rows(groups, cut.shared, T::PER_PACK)?;
            (&ROWS, constants, geometry)
        }
        false => (&PLAIN, Vec::new(), Geometry::line(blocks("groups", groups.div_ceil(128))?, 128)),
    };
    let addresses = [inputs[0].address(), inputs[inputs.len() - 1].address(), q.address(), s.address()];
    let sizes =
        [cut.shape.rows, cut.shape.cols, cut.shared, cut.of_row].map(|size| Argument::I64(size as i64));
    let arguments = [addresses.map(Argument::Address), sizes].concat();
    let kernel = stream.device().kernel(source, &form.variant::<T>(&constants))?;
    kernel.launch(stream, &geometry, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_no_element_have_blocks_that_write_their_scales() {
        for per_pack in [4, 8] {
            let (constants, geometry) = cut_rows(100, 0, per_pack).unwrap();
            let rows = constants.iter().find(|(name, _)| *name == "ROWS").unwrap().1;
            assert!(geometry.grid[0] * rows >= 100, "{geometry:?}");
        }
    }
}
