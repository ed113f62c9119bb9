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
//! The binary starts itself: as keeper and as runners, so that a kernel that crashes or hangs costs one row, and, where
//! it has an [`Operation`] of its own, as the process of its reference. `docs/bring-your-own/rust.md` is the guide.
#![forbid(unsafe_code)]

mod baseline;
mod bench;
mod host;
mod house;
mod implementation;
mod mistake;
mod operation;
mod options;
mod reference;
mod run;

pub use bench::Bench;
pub use half::{bf16, f16};
pub use implementation::Implementation;
pub use operation::Operation;
pub use roofline_core::bound;
pub use roofline_core::case::Case;
pub use roofline_core::dtype::Dtype;
pub use roofline_core::fill::Fill;
pub use roofline_core::operation::{
    Axis, Expected, Param, Problem, Property, RateUnit, Reach, Variant, Work,
};
pub use roofline_core::precision::{Accumulator, Precision};
pub use roofline_core::tensor::{Content, Tensor, View};
pub use roofline_core::units::Bytes;
pub use roofline_runner::{
    Counting, Element, Entry, Job, Kernel, Ready, Refusal, failed, out_of_memory, unsupported,
};
