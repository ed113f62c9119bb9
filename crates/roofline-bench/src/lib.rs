//! `cargo bench` by Roofline's rules: a kernel is proved right before it gets a time, its limit is measured beside
//! it, and a baseline is a binary that is measured again.
//!
//! ```no_run
//! use roofline_bench::{Bench, Implementation, Job, Refusal};
//! use std::process::ExitCode;
//!
//! /// softmax in two passes over each row.
//! struct TwoPass {
//!     cols: usize,
//! }
//!
//! impl Implementation for TwoPass {
//!     const NAME: &'static str = "two-pass";
//!     const OPERATION: &'static str = "softmax";
//!     type Input = f32;
//!     type Output = f32;
//!
//!     fn prepare(job: &Job) -> Result<TwoPass, Refusal> {
//!         Ok(TwoPass { cols: job.axis("cols")? })
//!     }
//!
//!     fn launch(&mut self, inputs: &[&[f32]], output: &mut [f32]) {
//!         for (x, y) in inputs[0].chunks(self.cols).zip(output.chunks_mut(self.cols)) {
//!             let max = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
//!             y.iter_mut().zip(x).for_each(|(y, x)| *y = (x - max).exp());
//!             let scale = 1.0 / y.iter().sum::<f32>();
//!             y.iter_mut().for_each(|y| *y *= scale);
//!         }
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     Bench::new("mine", env!("CARGO_PKG_VERSION"))
//!         .implementation::<TwoPass>()
//!         .case("softmax/f32/rows=512,cols=1000")
//!         .main()
//! }
//! ```
//!
//! The binary is a runner, and becomes the program `roofline`, which conducts it and must be in `PATH`: a kernel that crashes or
//! hangs costs one row, and a bench is built in a minute. With the feature `operations` it may have an `Operation` of its own; then
//! it has all that conducts in itself. `docs/bring-your-own/rust.md` is the guide.
#![forbid(unsafe_code)]

mod bench;
mod host;
mod implementation;
mod mistake;
#[cfg(feature = "operations")]
mod operation;
#[cfg(feature = "operations")]
mod own;
#[cfg(not(feature = "operations"))]
mod program;
#[cfg(feature = "operations")]
mod reference;

pub use bench::Bench;
pub use half::{bf16, f16};
pub use implementation::Implementation;
#[cfg(feature = "operations")]
pub use operation::Operation;
#[cfg(feature = "operations")]
pub use roofline_core::{
    bound,
    case::Case,
    fill::Fill,
    operation::{Axis, Expected, Param, Problem, Property, RateUnit, Reach, Variant, Work},
    precision::{Accumulator, Precision},
    tensor::{Content, Tensor, View},
    units::Bytes,
};
pub use roofline_runner::{
    Counting, Dtype, Element, Entry, Job, Kernel, Ready, Refusal, failed, out_of_memory, unsupported,
};
