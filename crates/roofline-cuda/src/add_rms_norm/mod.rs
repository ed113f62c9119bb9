//! `add-rms-norm`: h = x + r and y = h / sqrt(mean(h²) + ε) · w, in one pass: two reads and two writes of a row;
//! and `add-rms-norm-quantize`, which leaves codes in the place of y.

mod codes;

use crate::args::Args;
use crate::catalog::{Implementation, by_type};
use crate::compile::Source;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::Argument;
use crate::rows::{self, RowKernels, RowRung, Weight, launch};
use crate::shape::{Rows, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
pub use codes::{Coded, LADDER as CODES, add_rms_norm_quantize};

macro_rules! source {
    ($name:literal) => {
        Source {
            file: concat!("add_rms_norm/", $name, ".cu"),
            text: include_str!(concat!($name, ".cu")),
            entry: concat!("add_rms_norm_", $name),
        }
    };
}

const KERNELS: RowKernels = RowKernels {
    weight: Weight::Heaviest,
    plain: source!("plain"),
    registers: source!("registers"),
    long: source!("long"),
    form: &[],
};

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    row("plain", "one thread a row, two walks", KERNELS.plain),
    row("long", "a block a row of any length, two walks", KERNELS.long).fast(|_, _| rows::long(&KERNELS)),
    row("registers", "the sums in registers, one exchange", KERNELS.registers)
        .fast(|_, cluster| rows::registers(&KERNELS, cluster)),
];

const fn row(name: &'static str, about: &'static str, source: Source) -> Implementation {
    Implementation::new("add-rms-norm", name, about, source, by_row).params(&["eps"])
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let given = Given { x: args.take::<T>("x")?, r: args.take("r")?, w: args.take("w")? };
    let (h, y) = (args.take_out::<T>("h")?, args.take_out::<T>("y")?);
    let (shape, eps) = (args.rows()?, args.value("eps")? as f32);
    let rung = RowRung::of_row::<T>(row, stream, shape, &given.addresses(&h, &y), KERNELS.weight)?;
    by_rung(stream, rung, given, h, y, shape, eps)
}

/// What is added, and the weights of the norm.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a, T> {
    pub x: DeviceSlice<'a, T>,
    pub r: DeviceSlice<'a, T>,
    pub w: DeviceSlice<'a, T>,
}

impl<T: Element> Given<'_, T> {
    fn addresses(&self, h: &DeviceSliceMut<'_, T>, y: &DeviceSliceMut<'_, T>) -> [u64; 5] {
        [self.x.address(), self.r.address(), self.w.address(), h.address(), y.address()]
    }
}

/// The fastest rung for the shape.
pub fn add_rms_norm<T: Element>(
    stream: &Stream,
    given: Given<'_, T>,
    h: DeviceSliceMut<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
    eps: f32,
) -> Result<()> {
    let rung = RowRung::best::<T>(stream, shape, &given.addresses(&h, &y), KERNELS.weight);
    by_rung(stream, rung, given, h, y, shape, eps)
}

/// The rung that is named.
pub fn by_rung<T: Element>(
    stream: &Stream,
    rung: RowRung,
    given: Given<'_, T>,
    h: DeviceSliceMut<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
    eps: f32,
) -> Result<()> {
    let all = shape.elements()?;
    length("x", given.x.len(), all)?;
    length("r", given.r.len(), all)?;
    length("w", given.w.len(), shape.cols)?;
    length("h", h.len(), all)?;
    length("y", y.len(), all)?;
    launch::<T>(stream, &KERNELS, rung, &given.addresses(&h, &y), shape, &[Argument::F32(eps)])
}
