//! `layer-norm` over the last axis: y = (x − mean x) / sqrt(var x + ε) · w + b; without w and b, and with the gelu of the
//! result in the same pass.
//!
//! One read and one write of a row; w and b are read once a row, from a cache.

use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder, of_each};
use crate::compile::Source;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::Argument;
use crate::rows::{self, RowKernels, RowRung, Weight, launch};
use crate::shape::{Rows, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

/// The usual ε, which keeps a row of equal elements finite.
pub const EPSILON: f32 = 1e-5;

const KERNELS: RowKernels = RowKernels {
    weight: Weight::Heavy,
    plain: Source { file: "layer_norm/plain.cu", text: include_str!("plain.cu"), entry: "layer_norm_plain" },
    registers: Source {
        file: "layer_norm/registers.cu",
        text: include_str!("registers.cu"),
        entry: "layer_norm_registers",
    },
    long: Source { file: "layer_norm/long.cu", text: include_str!("long.cu"), entry: "layer_norm_long" },
    form: &[("AFFINE", 1), ("GELU", 0)],
};
const BARE: RowKernels = RowKernels { form: &[("AFFINE", 0), ("GELU", 0)], ..KERNELS };
const GELU: RowKernels = RowKernels { form: &[("AFFINE", 1), ("GELU", 1)], ..KERNELS };
const GELU_TANH: RowKernels = RowKernels { form: &[("AFFINE", 1), ("GELU", 2)], ..KERNELS };

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// With weights and a bias.
    Affine,
    /// `layer-norm.plain`: without.
    Bare,
    /// `layer-norm-gelu`: the gelu of the result, by the error function.
    Gelu,
    /// `layer-norm-gelu.tanh`: by tanh.
    GeluTanh,
}

impl Of {
    fn kernels(self) -> &'static RowKernels {
        match self {
            Of::Affine => &KERNELS,
            Of::Bare => &BARE,
            Of::Gelu => &GELU,
            Of::GeluTanh => &GELU_TANH,
        }
    }
}

/// A norm, and what is added to the variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm {
    pub of: Of,
    pub eps: f32,
}

impl Norm {
    /// The usual one.
    pub const USUAL: Norm = Norm { of: Of::Affine, eps: EPSILON };
}

/// Weights and bias, one of each for every element of a row.
#[derive(Clone, Copy, Debug)]
pub struct Affine<'a, T> {
    pub w: DeviceSlice<'a, T>,
    pub b: DeviceSlice<'a, T>,
}

const FORMS: &[&str] = &["layer-norm", "layer-norm.plain", "layer-norm-gelu", "layer-norm-gelu.tanh"];

/// The rungs of each, from the plain one up.
pub const LADDER: [Implementation; 3 * FORMS.len()] =
    ladder!(FORMS, of => PLAIN.form(of), LONG.form(of), REGISTERS.form(of));

const PLAIN: Implementation = row("plain", "one thread a row, three walks", KERNELS.plain)
    .slow(|row, _| of_each(of_row(row).kernels().form));
const LONG: Implementation = row("long", "a block a row of any length, three walks", KERNELS.long)
    .fast(|row, _| rows::long(of_row(row).kernels()));
const REGISTERS: Implementation = row("registers", "the row in registers, one exchange", KERNELS.registers)
    .fast(|row, cluster| rows::registers(of_row(row).kernels(), cluster));

const fn row(name: &'static str, about: &'static str, source: Source) -> Implementation {
    Implementation::new("layer-norm", name, about, source, by_row).params(&["eps"])
}

fn of_row(row: &Implementation) -> Of {
    match row.operation {
        "layer-norm.plain" => Of::Bare,
        "layer-norm-gelu" => Of::Gelu,
        "layer-norm-gelu.tanh" => Of::GeluTanh,
        _ => Of::Affine,
    }
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let (x, y) = (args.take::<T>("x")?, args.take_out::<T>("y")?);
    let norm = Norm { of: of_row(row), eps: args.value("eps")? as f32 };
    let affine = match norm.of {
        Of::Bare => None,
        _ => Some(Affine { w: args.take::<T>("w")?, b: args.take::<T>("b")? }),
    };
    let shape = args.rows()?;
    let rung = RowRung::of_row::<T>(row, stream, shape, &addresses(x, affine, &y), KERNELS.weight)?;
    by_rung(stream, norm, rung, x, affine, y, shape)
}

/// What kernels are given; without weights and bias they are given x for them, and look at it once.
fn addresses<T: Element>(
    x: DeviceSlice<'_, T>,
    affine: Option<Affine<'_, T>>,
    y: &DeviceSliceMut<'_, T>,
) -> [u64; 4] {
    let [w, b] = affine.map_or([x.address(); 2], |affine| [affine.w.address(), affine.b.address()]);
    [x.address(), w, b, y.address()]
}

/// The fastest rung for the shape. A norm that is affine takes weights and a bias, another none.
///
/// ```no_run
/// use roofline_cuda::layer_norm::{Norm, Of, layer_norm};
/// use roofline_cuda::{Device, DeviceVec, Rows, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[1.0f32, 3.0])?;
/// let mut y = DeviceVec::new(stream.device(), 2)?;
/// let norm = Norm { of: Of::Bare, eps: 0.0 };
/// layer_norm(&stream, norm, x.as_slice(), None, y.as_slice_mut()?, Rows { rows: 1, cols: 2 })?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [-1.0, 1.0]);
/// # Ok(())
/// # }
/// ```
pub fn layer_norm<T: Element>(
    stream: &Stream,
    norm: Norm,
    x: DeviceSlice<'_, T>,
    affine: Option<Affine<'_, T>>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    let rung = RowRung::best::<T>(stream, shape, &addresses(x, affine, &y), KERNELS.weight);
    by_rung(stream, norm, rung, x, affine, y, shape)
}

/// The rung that is named.
pub fn by_rung<T: Element>(
    stream: &Stream,
    norm: Norm,
    rung: RowRung,
    x: DeviceSlice<'_, T>,
    affine: Option<Affine<'_, T>>,
    y: DeviceSliceMut<'_, T>,
    shape: Rows,
) -> Result<()> {
    let wanted = if norm.of == Of::Bare { 0 } else { shape.cols };
    length("x", x.len(), shape.elements()?)?;
    length("w", affine.map_or(0, |affine| affine.w.len()), wanted)?;
    length("b", affine.map_or(0, |affine| affine.b.len()), wanted)?;
    length("y", y.len(), shape.elements()?)?;
    let addresses = addresses(x, affine, &y);
    launch::<T>(stream, norm.of.kernels(), rung, &addresses, shape, &[Argument::F32(norm.eps)])
}
