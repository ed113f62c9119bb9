//! Codes of eight bits with a scale for each row: `quantize`, and `swiglu-quantize`, which computes what it quantises; and
//! back again, `dequantize`.
//!
//! A scale takes the largest magnitude of its row to the largest code; that of a row of zeros is 1.

mod back;

use crate::args::Args;
use crate::catalog::{Implementation, by_type};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::reduce::cut_rows;
use crate::rows::check_cols;
use crate::shape::{Rows, blocks, length};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;
use crate::{bf16, f16};
pub use back::LADDER as BACK;

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
    /// Ties go away from zero, not to even.
    pub away: bool,
    /// What the largest magnitude becomes, and the least code.
    pub over: &'static str,
    pub least: &'static str,
}

const BY_ROW: Form =
    Form { operation: "quantize", inputs: &["x"], term: "x", away: false, over: "127.0f", least: "-127.0f" };

/// Every operation that the machinery has.
pub const FORMS: &[Form] = &[
    BY_ROW,
    Form { operation: "quantize.away", away: true, ..BY_ROW },
    Form { operation: "quantize.full", over: "127.5f", least: "-128.0f", ..BY_ROW },
    Form { operation: "swiglu-quantize", inputs: &["gate", "up"], term: "x * sigmoid(x) * y", ..BY_ROW },
];

/// Two rungs of every form.
pub const LADDER: [Implementation; 2 * FORMS.len()] = {
    let plain = Implementation::new("", "plain", "one thread a row, two walks", PLAIN, by_row)
        .slow(|row, _| form_of(row).map_or(Vec::new(), |form| form.variants(&[])));
    let about = "threads share a row, two walks, the second from a cache";
    let shared = Implementation::new("", "shared", about, ROWS, by_row).fast(fast_variants);
    let mut rows = [plain; 2 * FORMS.len()];
    let mut i = 0;
    while i < FORMS.len() {
        rows[2 * i] = plain.form(FORMS[i].operation);
        rows[2 * i + 1] = shared.form(FORMS[i].operation);
        i += 1;
    }
    rows
};

fn fast_variants(row: &Implementation, _: u32) -> Vec<Variant> {
    let Ok(form) = form_of(row) else { return Vec::new() };
    let of = |cols| cut_rows(9, cols, 8).map_or(Vec::new(), |(constants, _)| form.variants(&constants));
    [20, 1000, 8191].into_iter().flat_map(of).collect()
}

impl Form {
    fn variant<T: Element>(&self, constants: &[(&'static str, u32)]) -> Variant {
        let own = [("INPUTS", self.inputs.len() as u32), ("AWAY", u32::from(self.away))];
        let variant = Variant::of::<T>(&[&own, constants].concat());
        variant.with("TERM", self.term).with("OVER", self.over).with("LEAST", self.least)
    }

    fn variants(&self, constants: &[(&'static str, u32)]) -> Vec<Variant> {
        vec![self.variant::<f32>(constants), self.variant::<bf16>(constants), self.variant::<f16>(constants)]
    }
}

fn form_of(row: &Implementation) -> Result<&'static Form> {
    FORMS
        .iter()
        .find(|form| form.operation == row.operation)
        .ok_or_else(|| CudaError::Missing { kind: "form of codes", name: row.operation.to_owned() })
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let form = form_of(row)?;
    let inputs: Vec<DeviceSlice<'_, T>> =
        form.inputs.iter().map(|name| args.take(name)).collect::<Result<_>>()?;
    let (q, s, shape) = (args.take_out("q")?, args.take_out("s")?, args.rows()?);
    if row.fast {
        return quantize(stream, form, &inputs, q, s, shape);
    }
    let geometry = Geometry::line(blocks("rows", shape.rows.div_ceil(128))?, 128);
    launch(stream, &PLAIN, &form.variant::<T>(&[]), geometry, &inputs, [q.into(), s.into()], shape)
}

/// Codes and scales of every row, by the fastest rung.
pub fn quantize<T: Element>(
    stream: &Stream,
    form: &Form,
    inputs: &[DeviceSlice<'_, T>],
    q: DeviceSliceMut<'_, i8>,
    s: DeviceSliceMut<'_, f32>,
    shape: Rows,
) -> Result<()> {
    length("the list of inputs", inputs.len(), form.inputs.len())?;
    let (constants, geometry) = cut_rows(shape.rows, shape.cols, T::PER_PACK)?;
    launch(stream, &ROWS, &form.variant::<T>(&constants), geometry, inputs, [q.into(), s.into()], shape)
}

/// Where an output lies, and how many elements it has.
struct Place(u64, usize);

impl<T: crate::Plain> From<DeviceSliceMut<'_, T>> for Place {
    fn from(slice: DeviceSliceMut<'_, T>) -> Place {
        Place(slice.address(), slice.len())
    }
}

fn launch<T: Element>(
    stream: &Stream,
    source: &Source,
    variant: &Variant,
    geometry: Geometry,
    inputs: &[DeviceSlice<'_, T>],
    [q, s]: [Place; 2],
    shape: Rows,
) -> Result<()> {
    let elements = shape.elements()?;
    check_cols(shape.cols)?;
    inputs.iter().try_for_each(|input| length("an input", input.len(), elements))?;
    length("q", q.1, elements)?;
    length("s", s.1, shape.rows)?;
    // Rows of no element have a scale.
    if shape.rows == 0 {
        return Ok(());
    }
    let addresses =
        [inputs[0].address(), inputs[inputs.len() - 1].address(), q.0, s.0].map(Argument::Address);
    let sizes = [shape.rows, shape.cols].map(|size| Argument::I64(size as i64));
    stream.device().kernel(source, variant)?.launch(
        stream,
        &geometry,
        &[addresses.as_slice(), &sizes].concat(),
    )
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
