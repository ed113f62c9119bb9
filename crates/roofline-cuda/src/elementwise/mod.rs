//! Every output element from the inputs at its place: one engine, and a line of [`FORMS`] for each operation.
//!
//! Nothing but memory matters, as long as a formula is short enough: `stream.cu` says how memory is gone through, `math.cuh`
//! has the functions of formulas.

mod forms;

use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
use crate::{bf16, f16};
pub use forms::{FORMS, Form};

const PLAIN: Source =
    Source { file: "elementwise/plain.cu", text: include_str!("plain.cu"), entry: "elementwise_plain" };
const STREAM: Source =
    Source { file: "elementwise/stream.cu", text: include_str!("stream.cu"), entry: "elementwise_stream" };

/// How a stream is cut: threads a block, packs of sixteen bytes of each tensor a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    pub threads: u32,
    pub packs: u32,
}

impl Tile {
    pub const BEST: Tile = Tile { threads: 512, packs: 1 };

    pub fn constants(&self) -> [(&'static str, u32); 2] {
        [("THREADS", self.threads), ("PACKS", self.packs)]
    }

    /// Blocks for so many elements. The first pack may begin before the first element: one more.
    pub(crate) fn blocks(&self, elements: usize, per_pack: usize) -> Result<u32> {
        let packs = (elements + per_pack - 1).div_ceil(per_pack);
        blocks("tiles of one launch", packs.div_ceil(self.threads as usize * self.packs as usize))
    }

    /// The launch over so many elements.
    pub(crate) fn geometry<T: Element>(&self, elements: usize) -> Result<Geometry> {
        Ok(Geometry::line(self.blocks(elements, T::PER_PACK)?, self.threads))
    }
}

/// Which rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// One element a thread, with CUDA's own functions.
    Plain,
    /// Sixteen bytes an access.
    Stream(Tile),
}

/// z from one or two inputs, by the form of an operation; `s` is its number where it has one. Of a form in place the last
/// input is z itself.
///
/// ```no_run
/// use roofline_cuda::elementwise::{Form, Rung, Tile, apply};
/// use roofline_cuda::{Device, DeviceVec, Stream};
///
/// # fn main() -> Result<(), roofline_cuda::CudaError> {
/// let stream = Stream::new(&Device::open(0)?)?;
/// let x = DeviceVec::from_host(&stream, &[1.0f32, -2.0])?;
/// let mut y = DeviceVec::new(stream.device(), 2)?;
/// let scale = Form::find("scale").unwrap();
/// apply(&stream, scale, Rung::Stream(Tile::BEST), &[x.as_slice()], y.as_slice_mut()?, 3.0)?;
/// assert_eq!(y.as_slice().to_host(&stream)?, [3.0, -6.0]);
/// # Ok(())
/// # }
/// ```
pub fn apply<T: Element>(
    on: &Stream,
    form: &Form,
    rung: Rung,
    inputs: &[DeviceSlice<'_, T>],
    z: DeviceSliceMut<'_, T>,
    s: f64,
) -> Result<()> {
    length("the list of inputs", inputs.len(), form.inputs.len())?;
    inputs.iter().try_for_each(|input| length("an input", input.len(), z.len()))?;
    if z.is_empty() {
        return Ok(());
    }
    let (source, constants, geometry) = match rung {
        Rung::Plain => {
            let grid = blocks("blocks of 256 elements", z.len().div_ceil(256))?;
            (&PLAIN, Vec::new(), Geometry::line(grid, 256))
        }
        Rung::Stream(tile) => (&STREAM, tile.constants().to_vec(), tile.geometry::<T>(z.len())?),
    };
    // A kernel of one input is given that twice, and looks at it once.
    let addresses =
        [inputs[0].address(), inputs[inputs.len() - 1].address(), z.address()].map(Argument::Address);
    let rest = [Argument::I64(z.len() as i64), Argument::F32((form.number)(s) as f32)];
    let kernel = on.device().kernel(source, &form.variant::<T>(&constants))?;
    kernel.launch(on, &geometry, &[addresses.as_slice(), &rest].concat())
}

/// z = x + y, by the fastest rung.
pub fn add<T: Element>(
    on: &Stream,
    x: DeviceSlice<'_, T>,
    y: DeviceSlice<'_, T>,
    z: DeviceSliceMut<'_, T>,
) -> Result<()> {
    apply(on, &forms::ADD, Rung::Stream(Tile::BEST), &[x, y], z, 0.0)
}

impl Form {
    /// The form of an operation.
    pub fn find(operation: &str) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.operation == operation)
    }

    /// A rung of it.
    const fn row(&self, rung: Implementation) -> Implementation {
        rung.form(self.operation).params(self.params)
    }

    fn variant<T: Element>(&self, constants: &[(&'static str, u32)]) -> Variant {
        let all = [&[("INPUTS", self.inputs.len() as u32)], constants].concat();
        Variant::of::<T>(&all).with("FORMULA", self.formula)
    }

    fn variants(&self, constants: &[(&'static str, u32)]) -> Vec<Variant> {
        vec![self.variant::<f32>(constants), self.variant::<bf16>(constants), self.variant::<f16>(constants)]
    }
}

/// Two rungs of every form.
pub const LADDER: [Implementation; 2 * FORMS.len()] = {
    let plain = Implementation::new("", "plain", "one element a thread", PLAIN, launch)
        .slow(|row, _| form_of(row).map_or(Vec::new(), |form| form.variants(&[])));
    let stream =
        Implementation::new("", "stream", "sixteen bytes an access, several in flight", STREAM, launch)
            .fast(|row, _| form_of(row).map_or(Vec::new(), |form| form.variants(&Tile::BEST.constants())));
    ladder!(FORMS, of => of.row(plain), of.row(stream))
};

fn form_of(row: &Implementation) -> Result<&'static Form> {
    Form::find(row.operation)
        .ok_or_else(|| CudaError::Missing { kind: "form of elements", name: row.operation.to_owned() })
}

fn launch(row: &Implementation, on: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, on, args))
}

fn typed<T: Element>(row: &Implementation, on: &Stream, mut args: Args<'_>) -> Result<()> {
    let form = form_of(row)?;
    let given = if form.in_place { &form.inputs[..1] } else { form.inputs };
    let mut inputs: Vec<DeviceSlice<'_, T>> =
        given.iter().map(|name| args.take(name)).collect::<Result<_>>()?;
    let rung = if row.fast { Rung::Stream(Tile::BEST) } else { Rung::Plain };
    let s = form.params.first().map_or(Ok(0.0), |name| args.value(name))?;
    let output = args.take_out(form.output)?;
    if form.in_place {
        inputs.push(output.before());
    }
    apply(on, form, rung, &inputs, output, s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_element_is_in_one_tile(
            elements in 1usize..20_000,
            per_pack in prop_oneof![Just(4usize), Just(8)],
            phase in 0usize..8,
            packs in 1u32..5,
        ) {
            let tile = Tile { threads: 64, packs };
            let phase = (phase % per_pack) as i64;
            let mut times = vec![0; elements];
            // As `begin_at` in `stream.cuh` says.
            let all = u64::from(tile.blocks(elements, per_pack).unwrap()) * u64::from(64 * packs);
            for pack in 0..all as i64 {
                let begin = pack * per_pack as i64 - phase;
                for i in (begin..begin + per_pack as i64).filter(|i| (0..elements as i64).contains(i)) {
                    times[i as usize] += 1;
                }
            }
            prop_assert!(times.iter().all(|&times| times == 1));
        }
    }

    #[test]
    fn forms_have_names_of_their_own() {
        for (index, form) in FORMS.iter().enumerate() {
            assert!(
                !FORMS[..index].iter().any(|other| other.operation == form.operation),
                "{}",
                form.operation
            );
            assert!((1..=2).contains(&form.inputs.len()) && form.params.len() <= 1, "{}", form.operation);
            assert_eq!(form.formula.contains('y'), form.inputs.len() == 2, "{}", form.operation);
        }
    }
}
