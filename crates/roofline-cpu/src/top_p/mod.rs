//! `top-p`: a column of each row by lot, among the likeliest that reach p together (`top-p.k`: of the k largest alone).

pub mod plain;

use crate::bind::{floats, rows};
use crate::catalog::{Implementation, Launch};
use crate::{Args, Cpu, Mismatch, Rows, Scalar};
pub use plain::top_p;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain("top-p", floats!(prepare, false, plain::top_p)).params(&["p", "temperature"]),
    Implementation::plain("top-p.k", floats!(prepare, true, plain::top_p)).params(&["p", "temperature", "k"]),
];

/// What is chosen among.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Among {
    /// Sum of shares.
    pub p: f64,
    /// What numbers are divided by before their softmax.
    pub temperature: f64,
    /// Columns at most.
    pub most: usize,
}

type TopP<T> = fn(&Cpu, &[T], &[f32], &mut [i32], Rows, Among);

fn prepare<'a, T: Scalar>(mut args: Args<'a>, has_k: bool, kernel: TopP<T>) -> Result<Launch<'a>, Mismatch> {
    let (x, u, mut at, shape) = (args.take("x")?, args.take("u")?, args.take_out("at")?, rows(&args)?);
    let most = if has_k { args.value("k")? as usize } else { shape.cols };
    let among = Among { p: args.value("p")?, temperature: args.value("temperature")?, most };
    Ok(Launch::new(move |cpu| kernel(cpu, &x, &u, &mut at, shape, among)))
}
