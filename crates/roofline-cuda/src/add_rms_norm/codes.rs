//! `add-rms-norm-quantize`: h = x + r, and rms-norm(h) · w as codes with a scale of each row, in i8 or fp8, in one pass.
//!
//! Codes are those of sums as they are, not as they are written.

use super::Given;
use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::Source;
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::Argument;
use crate::rows::{self, RowKernels, RowRung, Weight, launch};
use crate::shape::{Rows, length};
use crate::slice::DeviceSliceMut;
use crate::stream::Stream;
use crate::sys::Plain;

macro_rules! source {
    ($name:literal) => {
        Source {
            file: concat!("add_rms_norm/codes_", $name, ".cu"),
            text: include_str!(concat!("codes_", $name, ".cu")),
            entry: concat!("add_rms_norm_codes_", $name),
        }
    };
}

const WHOLE: RowKernels = RowKernels {
    weight: Weight::Heaviest,
    plain: source!("plain"),
    registers: source!("registers"),
    long: source!("long"),
    form: &[("DIGITS", 0)],
};
const FP8: RowKernels = RowKernels { form: &[("DIGITS", 3)], ..WHOLE };

/// The rungs of both, from the plain one up.
pub const LADDER: &[Implementation] = &[
    PLAIN,
    LONG,
    REGISTERS,
    PLAIN.form("add-rms-norm-quantize.fp8"),
    LONG.form("add-rms-norm-quantize.fp8"),
    REGISTERS.form("add-rms-norm-quantize.fp8"),
];

const PLAIN: Implementation =
    row("plain", "one thread a row, three walks", WHOLE.plain).slow(|row, _| of_each(kernels(row).form));
const LONG: Implementation = row("long", "a block a row of any length, three walks", WHOLE.long)
    .fast(|row, _| rows::long(kernels(row)));
const REGISTERS: Implementation = row("registers", "the sums in registers, two exchanges", WHOLE.registers)
    .fast(|row, cluster| rows::registers(kernels(row), cluster));

const fn row(name: &'static str, about: &'static str, source: Source) -> Implementation {
    Implementation::new("add-rms-norm-quantize", name, about, source, by_row).params(&["eps"])
}

fn kernels(row: &Implementation) -> &'static RowKernels {
    if row.operation.ends_with(".fp8") { &FP8 } else { &WHOLE }
}

/// The sums, their codes and the scale of each row.
#[derive(Debug)]
pub struct Coded<'a, T, Q> {
    pub h: DeviceSliceMut<'a, T>,
    pub q: DeviceSliceMut<'a, Q>,
    pub s: DeviceSliceMut<'a, f32>,
}

impl<T: Element, Q: Plain> Coded<'_, T, Q> {
    fn addresses(&self, given: &Given<'_, T>) -> [u64; 6] {
        let [x, r, w] = [given.x.address(), given.r.address(), given.w.address()];
        [x, r, w, self.h.address(), self.q.address(), self.s.address()]
    }
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let given = Given { x: args.take::<T>("x")?, r: args.take("r")?, w: args.take("w")? };
    let coded = Coded::<T, u8> { h: args.take_out("h")?, q: args.take_out("q")?, s: args.take_out("s")? };
    let (shape, eps) = (args.rows()?, args.value("eps")? as f32);
    let rung = RowRung::of_row::<T>(row, stream, shape, &coded.addresses(&given), WHOLE.weight)?;
    by_rung(stream, kernels(row), rung, given, coded, shape, eps)
}

/// By the fastest rung for the shape; codes are `i8`, or of fp8-e4m3 where `fp8` says so, in any type of one byte.
///
/// ```no_run
/// use roofline_cuda::add_rms_norm::{Coded, Given, add_rms_norm_quantize};
/// use roofline_cuda::{Device, DeviceVec, Rows, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[1.0f32, -1.0])?;
/// let (mut h, mut s) = (DeviceVec::new(stream.device(), 2)?, DeviceVec::new(stream.device(), 1)?);
/// let mut q = DeviceVec::<i8>::new(stream.device(), 2)?;
/// let given = Given { x: x.as_slice(), r: x.as_slice(), w: x.as_slice() };
/// let coded = Coded { h: h.as_slice_mut()?, q: q.as_slice_mut()?, s: s.as_slice_mut()? };
/// add_rms_norm_quantize(&stream, false, given, coded, Rows { rows: 1, cols: 2 }, 0.0)?;
/// assert_eq!(q.as_slice().to_host(&stream)?, [127, 127]);
/// # Ok(())
/// # }
/// ```
pub fn add_rms_norm_quantize<T: Element, Q: Plain>(
    stream: &Stream,
    fp8: bool,
    given: Given<'_, T>,
    coded: Coded<'_, T, Q>,
    shape: Rows,
    eps: f32,
) -> Result<()> {
    let rung = RowRung::best::<T>(stream, shape, &coded.addresses(&given), WHOLE.weight);
    by_rung(stream, if fp8 { &FP8 } else { &WHOLE }, rung, given, coded, shape, eps)
}

fn by_rung<T: Element, Q: Plain>(
    stream: &Stream,
    kernels: &RowKernels,
    rung: RowRung,
    given: Given<'_, T>,
    coded: Coded<'_, T, Q>,
    shape: Rows,
    eps: f32,
) -> Result<()> {
    let all = shape.elements()?;
    length("x", given.x.len(), all)?;
    length("r", given.r.len(), all)?;
    length("w", given.w.len(), shape.cols)?;
    length("h", coded.h.len(), all)?;
    length("q", coded.q.len(), all)?;
    length("s", coded.s.len(), shape.rows)?;
    if size_of::<Q>() != 1 {
        return Err(CudaError::Unsupported("codes of more than a byte".to_owned()));
    }
    launch::<T>(stream, kernels, rung, &coded.addresses(&given), shape, &[Argument::F32(eps)])
}
