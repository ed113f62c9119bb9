//! `varlen-attention`: attention of several sequences that lie packed one behind another.

use super::{Compiled, Counts, Form, Inputs, PLAIN, PLAIN_THREADS, unsupported};
use crate::args::Args;
use crate::catalog::{Implementation, by_type, of_each};
use crate::compile::Variant;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Argument, Geometry};
use crate::rows::check_cols;
use crate::shape::{blocks, length, product};
use crate::slice::{DeviceSlice, DeviceSliceMut};
use crate::stream::Stream;

const SIMPLE: Implementation = Implementation::new(
    "varlen-attention",
    "plain",
    "a block a head of a query, two walks over its sequence",
    PLAIN,
    by_row,
)
.slow(|row, _| of_each(&constants(is_causal(row))))
.params(&["scale"]);

/// A rung of each form.
pub const LADDER: &[Implementation] = &[SIMPLE, SIMPLE.form("varlen-attention.causal")];

fn is_causal(row: &Implementation) -> bool {
    row.operation.ends_with("causal")
}

fn constants(causal: bool) -> Vec<(&'static str, u32)> {
    let form = Form { causal, ..Form::default() };
    let own = Compiled { form, paged: false, beside: Counts::Nothing }.constants();
    [&[("THREADS", PLAIN_THREADS), ("VARLEN", 1)], own.as_slice()].concat()
}

fn by_row(row: &Implementation, stream: &Stream, args: Args<'_>) -> Result<()> {
    by_type!(args, typed(row, stream, args))
}

fn typed<T: Element>(row: &Implementation, stream: &Stream, mut args: Args<'_>) -> Result<()> {
    let axis = |name| args.axis(name);
    let heads = Heads { heads: axis("heads")?, kv_heads: axis("kv-heads")?, dim: axis("dim")? };
    let inputs = Inputs { q: args.take::<T>("q")?, k: args.take("k")?, v: args.take("v")? };
    let (tokens, offsets, scale) = (axis("tokens")?, args.take("offsets")?, args.value("scale")? as f32);
    varlen_attention(stream, is_causal(row), inputs, offsets, args.take_out("y")?, tokens, heads, scale)
}

/// Heads of queries and of keys, and how long they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    pub heads: usize,
    pub kv_heads: usize,
    pub dim: usize,
}

/// Attention within each of several sequences of together so many tokens: sequence i has those from offsets\[i\] up to
/// offsets\[i + 1\]. A scale of 0 is 1 / √dim.
#[expect(clippy::too_many_arguments, reason = "form and sizes beside the operation's own arguments")]
pub fn varlen_attention<T: Element>(
    stream: &Stream,
    causal: bool,
    Inputs { q, k, v }: Inputs<'_, T>,
    offsets: DeviceSlice<'_, i32>,
    y: DeviceSliceMut<'_, T>,
    tokens: usize,
    Heads { heads, kv_heads, dim }: Heads,
    scale: f32,
) -> Result<()> {
    if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
        return unsupported("heads of queries share those of keys in groups of one size");
    }
    if offsets.len() < 2 {
        return unsupported("a batch of no sequence");
    }
    let of = |heads| product("elements of a tensor", product("heads", tokens, heads)?, dim);
    length("q", q.len(), of(heads)?)?;
    length("k", k.len(), of(kv_heads)?)?;
    length("v", v.len(), of(kv_heads)?)?;
    length("y", y.len(), q.len())?;
    if y.is_empty() {
        return Ok(());
    }
    check_cols(tokens)?;
    let scale = if scale == 0.0 { 1.0 / (dim as f32).sqrt() } else { scale };
    let [q, k, v, offsets_at, y] = [q.address(), k.address(), v.address(), offsets.address(), y.address()];
    // There are no pages, and nothing counts beside the products.
    let addresses = [q, k, v, offsets_at, offsets_at, offsets_at, q, y].map(Argument::Address);
    let sizes = [1, tokens, tokens, heads, kv_heads, dim, offsets.len() - 1, tokens * kv_heads * dim, tokens];
    let mut arguments = addresses.to_vec();
    arguments.extend(sizes.map(|size| Argument::I64(size as i64)));
    arguments.extend([Argument::F32(scale), Argument::F32(1.0)]);
    let grid = blocks("heads of queries", product("heads", tokens, heads)?)?;
    let kernel = stream.device().kernel(&PLAIN, &Variant::of::<T>(&constants(causal)))?;
    kernel.launch(stream, &Geometry::line(grid, PLAIN_THREADS), &arguments)
}
