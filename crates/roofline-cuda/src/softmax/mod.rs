//! `softmax` over the last axis: y = exp(x − max x) / Σ exp(x − max x); and `log-softmax`, its logarithm.
//!
//! One read and one write of a row; along columns and other dimensions two reads. A row that is all −∞, or has a NaN or +∞, is NaN throughout; one that is all −∞ is 0
//! in `softmax.masked`.

mod lines;

use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::Source;
use crate::element::Element;
use crate::error::Result;
use crate::rows::{self, RowKernels, RowRung, Weight, launch};
use crate::shape::{Rows, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
pub use lines::{LADDER as LINES, softmax_lines};

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Softmax,
    /// `log-softmax`: its logarithm, x − max x − log Σ exp(x − max x).
    Logarithm,
    /// `softmax.masked`: rows that are all −∞ are 0.
    Masked,
}

const KERNELS: RowKernels = RowKernels {
    weight: Weight::Light,
    plain: Source { file: "softmax/plain.cu", text: include_str!("plain.cu"), entry: "softmax_plain" },
    registers: Source {
        file: "softmax/registers.cu",
        text: include_str!("registers.cu"),
        entry: "softmax_registers",
    },
    long: Source { file: "softmax/online.cu", text: include_str!("online.cu"), entry: "softmax_online" },
    form: &[("LOG", 0), ("MASKED", 0)],
};
/// A thread that holds as much of a row as in softmax finds no registers for the rest.
const LOGARITHM: RowKernels =
    RowKernels { weight: Weight::Heaviest, form: &[("LOG", 1), ("MASKED", 0)], ..KERNELS };
const MASKED: RowKernels =
    RowKernels { weight: Weight::Heavy, form: &[("LOG", 0), ("MASKED", 1)], ..KERNELS };

const PLAIN: Implementation =
    Implementation::new("softmax", "plain", "one thread a row, three walks", KERNELS.plain, by_row)
        .slow(|row, _| of_each(of_row(row).kernels().form));
const ONLINE: Implementation =
    Implementation::new("softmax", "online", "a block a row of any length, two walks", KERNELS.long, by_row)
        .fast(|row, _| rows::long(of_row(row).kernels()));
const REGISTERS: Implementation = Implementation::new(
    "softmax",
    "registers",
    "the row in registers, one exchange",
    KERNELS.registers,
    by_row,
)
.fast(|row, cluster| rows::registers(of_row(row).kernels(), cluster));

/// The rungs of all, from the plain one up.
pub const LADDER: &[Implementation] = &[
    PLAIN,
    ONLINE,
    REGISTERS,
    PLAIN.form("log-softmax"),
    ONLINE.form("log-softmax"),
    REGISTERS.form("log-softmax"),
    PLAIN.form("softmax.masked"),
    ONLINE.form("softmax.masked"),
    REGISTERS.form("softmax.masked"),
];

impl Of {
    fn kernels(self) -> &'static RowKernels {
        match self {
            Of::Softmax => &KERNELS,
            Of::Logarithm => &LOGARITHM,
            Of::Masked => &MASKED,
        }
    }
}

fn of_row(row: &Implementation) -> Of {
    match row.operation {
        "softmax" => Of::Softmax,
        "softmax.masked" => Of::Masked,
        _ => Of::Logarithm,
    }
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let (x, y, shape) = (args.take::<T>("x")?, args.take_out::<T>("y")?, args.rows()?);
    let (of, addresses) = (of_row(row), [x.address(), y.address()]);
    let rung = RowRung::of_row::<T>(row, stream, shape, &addresses, of.kernels().weight)?;
    by_rung(stream, of, rung, x, y, shape)
}

/// The fastest rung for the shape.
///
/// ```no_run
/// use roofline_cuda::{Device, DeviceVec, Rows, Stream, softmax::softmax};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[1.0f32; 4])?;
/// let mut y = DeviceVec::new(stream.device(), 4)?;
/// softmax(&stream, x.as_slice(), y.as_slice_mut()?, Rows { rows: 1, cols: 4 })?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [0.25; 4]);
/// # Ok(())
/// # }
/// ```
pub fn softmax<T: Element>(
    stream: &Stream,
    x: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    let rung = RowRung::best::<T>(stream, shape, &[x.address(), y.address()], KERNELS.weight);
    by_rung(stream, Of::Softmax, rung, x, y, shape)
}

/// The rung that is named.
pub fn by_rung<T: Element>(
    stream: &Stream,
    of: Of,
    rung: RowRung,
    x: DeviceSlice<'_, T>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    length("x", x.len(), shape.elements()?)?;
    length("y", y.len(), shape.elements()?)?;
    launch::<T>(stream, of.kernels(), rung, &[x.address(), y.address()], shape, &[])
}
