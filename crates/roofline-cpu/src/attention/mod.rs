//! `attention`, and `window-attention` to the last keys alone: each query's mean of the values, weighted by the softmax of
//! its products with the keys.
//!
//! Heads of queries share the heads of keys and values in groups of neighbours, and the last query stands at the last
//! key. bf16 and f16 are computed in f32, probabilities too.

mod blocks;
mod columns;
pub(crate) mod online;
mod partial;
pub(crate) mod problem;
mod tile;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod amx;
pub mod auto;
pub mod blocked;
pub mod parallel;
pub mod plain;
pub mod split_keys;
mod window;

use crate::args::In;
use crate::bind::kernel;
use crate::catalog::{Implementation, Kernel, Launch};
use crate::{Args, Cpu, Datum, Mismatch, bf16, f16};
pub use auto::attention;
use std::ops::Range;
pub use window::window_attention;

/// The kernels of one generic function. Probabilities may be rounded to 16 bits in `p16`, and by these they are not.
macro_rules! heads {
    ($prepare:ident, $($rest:expr),+) => {
        &[
            kernel!(f32, $prepare, $($rest),+),
            kernel!(bf16, $prepare, $($rest),+),
            kernel!(f16, $prepare, $($rest),+),
            Kernel::new("bf16+p16", |_, args| $prepare::<bf16>(args, $($rest),+)),
            Kernel::new("f16+p16", |_, args| $prepare::<f16>(args, $($rest),+)),
            kernel!(f64, $prepare, $($rest),+),
        ]
    };
}

pub(crate) use heads;

/// Those of types that have lanes.
macro_rules! in_lanes {
    ($form:expr, $kernel:expr) => {
        &[
            kernel!(f32, prepare, $form, $kernel),
            kernel!(bf16, prepare, $form, $kernel),
            kernel!(f16, prepare, $form, $kernel),
            Kernel::new("bf16+p16", |_, args| prepare::<bf16>(args, $form, $kernel)),
            Kernel::new("f16+p16", |_, args| prepare::<f16>(args, $form, $kernel)),
        ]
    };
}

/// Those of bf16, and of bf16 whose probabilities are rounded.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
macro_rules! by_tiles {
    ($form:expr) => {
        &[
            Kernel::new("bf16", |_, args| prepare::<bf16>(args, $form, amx::attention)),
            Kernel::new("bf16+p16", |_, args| prepare::<bf16>(args, $form, amx::attention_p16)),
        ]
    };
}

/// Those of all types.
macro_rules! by_shape {
    ($form:expr) => {
        &[
            kernel!(f32, prepare, $form, attention),
            kernel!(bf16, prepare, $form, attention),
            kernel!(f16, prepare, $form, attention),
            Kernel::new("bf16+p16", |_, args| prepare::<bf16>(args, $form, auto::attention_p16)),
            Kernel::new("f16+p16", |_, args| prepare::<f16>(args, $form, attention)),
            kernel!(f64, prepare, $form, attention),
        ]
    };
}

/// The rungs of each form, from the plain one up.
macro_rules! ladder {
    ($($operation:literal $form:ident $params:expr,)+) => {
        &[$(
            Implementation::plain($operation, heads!(prepare, Form::$form, plain::attention)).params($params),
            Implementation::new($operation, "parallel", PARALLEL, heads!(prepare, Form::$form, parallel::attention))
                .params($params)
                .parallel(),
            Implementation::new($operation, "split-keys", SPLIT, in_lanes!(Form::$form, split_keys::attention))
                .params($params)
                .vector()
                .parallel(),
            Implementation::new($operation, "blocked", BLOCKED, in_lanes!(Form::$form, blocked::attention))
                .params($params)
                .vector()
                .parallel(),
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Implementation::new($operation, "amx", TILES, by_tiles!(Form::$form))
                .params($params)
                .parallel()
                .if_available(amx::is_available),
            Implementation::new($operation, "auto", AUTO, by_shape!(Form::$form))
                .params($params)
                .vector()
                .parallel(),
        )+]
    };
}

const PARALLEL: &str = "the definition, queries shared out among threads";
const SPLIT: &str =
    "keys read once for all queries that share them, split among threads, put together in the end";
const BLOCKED: &str = "blocks of queries times blocks of keys in register tiles, softmax on the way";
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const TILES: &str = "both products by tile registers, powers in parts of bf16";
const AUTO: &str = "the rung that suits type, sizes and processor";

/// The rungs, form by form.
pub const LADDER: &[Implementation] = ladder! {
    "attention" All &["scale"],
    "attention.causal" Causal &["scale"],
    "attention.masked" Masked &["scale"],
    "attention.sinks" Sinks &["scale"],
    "attention.soft-cap" SoftCap &["scale", "cap"],
    "attention.heads-first" HeadsFirst &["scale"],
    "attention.heads-first-causal" HeadsFirstCausal &["scale"],
    "window-attention" Window &["scale"],
    "window-attention.sinks" WindowSinks &["scale"],
    "window-attention.soft-cap" WindowSoftCap &["scale", "cap"],
};

/// Sizes of queries, keys and values, and where heads lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Sequences.
    pub batch: usize,
    /// Queries of a sequence.
    pub seq: usize,
    /// Keys and values of a sequence.
    pub kv: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values: a divisor of `heads`.
    pub kv_heads: usize,
    /// Length of a head.
    pub dim: usize,
    /// \[batch, heads, seq, dim\] and not \[batch, seq, heads, dim\].
    pub heads_first: bool,
}

impl Heads {
    /// One sequence of as many keys as queries, each head of which has its own.
    pub fn new(seq: usize, heads: usize, dim: usize) -> Heads {
        Heads { batch: 1, seq, kv: seq, heads, kv_heads: heads, dim, heads_first: false }
    }

    fn of(args: &Args<'_>, heads_first: bool) -> Result<Heads, Mismatch> {
        let [batch, seq, kv] = [args.axis("batch")?, args.axis("seq")?, args.axis("kv")?];
        let [heads, kv_heads, dim] = [args.axis("heads")?, args.axis("kv-heads")?, args.axis("dim")?];
        Ok(Heads { batch, seq, kv, heads, kv_heads, dim, heads_first })
    }

    #[track_caller]
    fn check<T>(self, [q, k, v]: [&[T]; 3], y: &[T], rule: &Rule<'_, T>) {
        let [queries, keys] =
            [self.seq * self.heads, self.kv * self.kv_heads].map(|all| all * self.batch * self.dim);
        let is_grouped = self.kv_heads > 0 && self.heads.is_multiple_of(self.kv_heads);
        let lengths = [q.len(), k.len(), v.len(), y.len()] == [queries, keys, keys, queries];
        let beside = match rule {
            Rule::Added(mask) => mask.len() == self.seq * self.kv,
            Rule::Sinks(sinks, _) => sinks.len() == self.heads,
            _ => true,
        };
        assert!(is_grouped && self.kv >= self.seq && lengths && beside, "lengths for {self:?}");
    }

    /// Batch, place and head of row number `row` of the queries.
    fn place(self, row: usize) -> [usize; 3] {
        let (batch, row) = (row / (self.seq * self.heads), row % (self.seq * self.heads));
        match self.heads_first {
            true => [batch, row % self.seq, row / self.seq],
            false => [batch, row / self.heads, row % self.heads],
        }
    }

    /// Where the keys of a head of queries are: that of key `j`.
    fn key(self, batch: usize, head: usize, j: usize) -> Range<usize> {
        let head = head / (self.heads / self.kv_heads);
        let row = if self.heads_first { head * self.kv + j } else { j * self.kv_heads + head };
        let first = (batch * self.kv * self.kv_heads + row) * self.dim;
        first..first + self.dim
    }
}

/// Which keys a query sees, and what becomes of its products with them.
#[derive(Clone, Copy, Debug)]
pub enum Rule<'a, T> {
    /// Every key.
    All,
    /// Those up to the query's own place.
    Causal,
    /// So many of those, the last.
    Window(usize),
    /// Every key, with a mask \[seq, kv\] added; a query of whose mask all is −∞ has zeros.
    Added(&'a [T]),
    /// The last so many of those up to the query's own place; what \[heads\] are the logarithms of is added to what
    /// probabilities are divided by.
    Sinks(&'a [T], usize),
    /// The last so many of those; no product counts for more than this, by a hyperbolic tangent.
    SoftCap(f64, usize),
}

/// What operations call a rule, and where heads lie.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    All,
    Causal,
    Masked,
    Sinks,
    SoftCap,
    HeadsFirst,
    HeadsFirstCausal,
    Window,
    WindowSinks,
    WindowSoftCap,
}

type Attention<T> = fn(&Cpu, [&[T]; 3], &mut [T], Heads, Rule<'_, T>, Option<f64>);

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    form: Form,
    kernel: Attention<T>,
) -> Result<Launch<'a>, Mismatch> {
    let (q, k, v, mut y) = (args.take("q")?, args.take("k")?, args.take("v")?, args.take_out("y")?);
    let beside: Option<In<'a, T>> = match form {
        Form::Masked => Some(args.take("mask")?),
        Form::Sinks | Form::WindowSinks => Some(args.take("sinks")?),
        _ => None,
    };
    let shape = Heads::of(&args, matches!(form, Form::HeadsFirst | Form::HeadsFirstCausal))?;
    let scale = Some(args.value("scale")?).filter(|scale| *scale != 0.0);
    let is_capped = matches!(form, Form::SoftCap | Form::WindowSoftCap);
    let cap = if is_capped { args.value("cap")? } else { 0.0 };
    let has_window = matches!(form, Form::Window | Form::WindowSinks | Form::WindowSoftCap);
    let window = if has_window { args.axis("window")? } else { shape.kv };
    Ok(Launch::new(move |cpu| {
        let rule = match (form, &beside) {
            (Form::Masked, Some(mask)) => Rule::Added(mask),
            (Form::Sinks | Form::WindowSinks, Some(sinks)) => Rule::Sinks(sinks, window),
            (Form::SoftCap | Form::WindowSoftCap, _) => Rule::SoftCap(cap, window),
            (Form::Window, _) => Rule::Window(window),
            (Form::Causal | Form::HeadsFirstCausal, _) => Rule::Causal,
            _ => Rule::All,
        };
        kernel(cpu, [&q, &k, &v], &mut y, shape, rule, scale);
    }))
}
