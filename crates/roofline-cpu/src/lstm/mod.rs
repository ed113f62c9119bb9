//! `lstm`: c' = σ(f)·c + σ(i)·tanh(g) and h' = σ(o)·tanh(c'), of gates i, f, g and o, step after step.

pub mod plain;

use crate::args::{In, Out};
use crate::bind::kernel;
use crate::catalog::{Implementation, Launch};
use crate::rnn::{Given, Steps, Weights};
use crate::{Args, Cpu, Datum, Mismatch};
pub use plain::lstm;

/// The rungs, from the plain one up.
pub const LADDER: &[Implementation] = &[
    Implementation::plain(
        "lstm",
        &[kernel!(f32, prepare, 1, plain::lstm), kernel!(f64, prepare, 1, plain::lstm)],
    ),
    Implementation::plain(
        "lstm.bidirectional",
        &[kernel!(f32, prepare, 2, plain::lstm), kernel!(f64, prepare, 2, plain::lstm)],
    ),
];

type Recur<T> = fn(&Cpu, &[T], [&[T]; 2], Weights<'_, T>, [&mut [T]; 3], Steps);

fn prepare<'a, T: Datum>(
    mut args: Args<'a>,
    directions: usize,
    kernel: Recur<T>,
) -> Result<Launch<'a>, Mismatch> {
    let x: In<'a, T> = args.take("x")?;
    let (h0, c0): (In<'a, T>, In<'a, T>) = (args.take("h0")?, args.take("c0")?);
    let given = Given::of(&mut args)?;
    let mut y: Out<'a, T> = args.take_out("y")?;
    let (mut hn, mut cn): (Out<'a, T>, Out<'a, T>) = (args.take_out("hn")?, args.take_out("cn")?);
    let shape = Steps::of(&args, directions)?;
    Ok(Launch::new(move |cpu| {
        kernel(cpu, &x, [&h0, &c0], given.weights(), [&mut y, &mut hn, &mut cn], shape);
    }))
}
