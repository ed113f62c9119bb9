//! Elements that move and do not change: copies, joins, parts, other orders of dimensions; and additions of stretched tensors.
//!
//! `embedding` takes rows by their numbers, and `kv-append` puts them there. What keeps lines together otherwise is a map of `maps.cuh` and a line of [`FORMS`];
//! what exchanges the last dimension with another is a batch of [transposes](transpose).

mod append;
mod forms;
mod rows;
mod transpose;

use crate::args::Args;
use crate::catalog::{Implementation, by_type, ladder};
use crate::compile::{Source, Variant};
use crate::element::Element;
use crate::elementwise::Tile;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry};
use crate::shape::{blocks, length};
use crate::slice::DeviceSlice;
use crate::stream::Stream;
use crate::{bf16, f16};
pub use append::{LADDER as APPEND, kv_append};
pub use forms::{FORMS, Form};
pub use rows::{LADDER as EMBEDDING, embedding};
pub use transpose::{LADDER as TRANSPOSES, Transpose, plain as plain_transpose, transpose};

const PLAIN: Source =
    Source { file: "movement/plain.cu", text: include_str!("plain.cu"), entry: "movement_plain" };
const STREAM: Source =
    Source { file: "movement/stream.cu", text: include_str!("stream.cu"), entry: "movement_stream" };

impl Form {
    /// The form of an operation.
    pub fn find(operation: &str) -> Option<&'static Form> {
        FORMS.iter().find(|form| form.operation == operation)
    }

    fn variant<T: Element>(&self, constants: &[(&'static str, u32)]) -> Variant {
        Variant::of::<T>(&[&[("ADD", u32::from(self.adds))], constants].concat()).with("MAP", self.map)
    }

    fn variants(&self, constants: &[(&'static str, u32)]) -> Vec<Variant> {
        vec![self.variant::<f32>(constants), self.variant::<bf16>(constants), self.variant::<f16>(constants)]
    }
}

/// Two rungs of every form.
pub const LADDER: [Implementation; 2 * FORMS.len()] = {
    let plain = Implementation::new("", "plain", "one element a thread", PLAIN, by_row)
        .slow(|row, _| form_of(row).map_or(Vec::new(), |form| form.variants(&[])));
    let stream = Implementation::new(
        "",
        "stream",
        "sixteen bytes an access, shifted where they must be",
        STREAM,
        by_row,
    )
    .fast(|row, _| form_of(row).map_or(Vec::new(), |form| form.variants(&Tile::BEST.constants())));
    ladder!(FORMS, of => plain.form(of.operation), stream.form(of.operation))
};

fn form_of(row: &Implementation) -> Result<&'static Form> {
    Form::find(row.operation)
        .ok_or_else(|| CudaError::Missing { kind: "form of movement", name: row.operation.to_owned() })
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let form = form_of(row)?;
    let inputs: Vec<DeviceSlice<'_, T>> =
        form.inputs.iter().map(|name| args.take(name)).collect::<Result<_>>()?;
    let mut outputs = form.outputs.iter().map(|name| args.take_out::<T>(name)).collect::<Result<Vec<_>>>()?;
    let sizes = (form.sizes)(&args)?;
    inputs.iter().zip(sizes.inputs).try_for_each(|(x, wanted)| length("an input", x.len(), wanted))?;
    outputs.iter().zip(sizes.outputs).try_for_each(|(y, wanted)| length("an output", y.len(), wanted))?;
    let longest = outputs.iter().map(|y| y.len()).max().unwrap_or(0);
    if longest == 0 {
        return Ok(());
    }
    let line = match row.fast {
        true => Tile::BEST.geometry::<T>(longest)?,
        false => Geometry::line(blocks("blocks of 256 elements", longest.div_ceil(256))?, 256),
    };
    let geometry = Geometry { grid: [line.grid[0], outputs.len() as u32, 1], ..line };
    let ends = [outputs[0].address(), outputs[outputs.len() - 1].address()];
    let lengths = [outputs[0].len(), outputs[outputs.len() - 1].len()];
    outputs.clear();
    let addresses = [inputs[0].address(), inputs[inputs.len() - 1].address(), ends[0], ends[1]];
    let mut numbers = vec![lengths[0], lengths[1], sizes.p, sizes.q];
    let (source, constants) = match row.fast {
        true => (&STREAM, Tile::BEST.constants().to_vec()),
        false => (&PLAIN, Vec::new()),
    };
    if row.fast {
        numbers.extend([inputs[0].len(), inputs[inputs.len() - 1].len()]);
    }
    let mut arguments: Vec<Argument> = addresses.into_iter().map(Argument::Address).collect();
    arguments.extend(numbers.into_iter().map(|number| Argument::I64(number as i64)));
    let kernel = stream.device().kernel(source, &form.variant::<T>(&constants))?;
    kernel.launch(stream, &geometry, &arguments)
}
