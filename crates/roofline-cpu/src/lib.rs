//! CPU kernels as a library: a folder per operation, a file per implementation.
//!
//! There is one safe function an operation. Its first argument, a [`Cpu`], says which vector instructions and
//! which threads it may use, and the function picks the rung that suits them.
//!
//! ```
//! use roofline_cpu::{Cpu, Rows, softmax};
//!
//! let mut y = [0.0f32; 4];
//! softmax(&Cpu::new(2), &[1.0; 4], &mut y, Rows { rows: 1, cols: 4 });
//! assert_eq!(y, [0.25; 4]);
//! ```
//!
//! Every rung is a function too (`softmax::vector::softmax`), from the plain one that shows the mathematics to
//! the fastest; the [`catalog`] lists them all in ladder order.
//!
//! To add an operation: a folder with `mod.rs` (the mathematics, the ladder, the public function) and one file
//! per implementation. Plain ones are generic over [`Scalar`], vector ones over [`Element`]: these implement
//! [`Vectorize`] and are run by [`Isa::run`]. The ladder gets one line in [`catalog`], and
//! `tests/every_kernel.rs` runs every rung.

mod args;
mod bind;
mod cpu;
mod element;
mod elementwise;
mod exp;
mod isa;
mod pool;
mod scalar;
mod scratch;
mod shape;
mod stream;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tiles;

pub mod catalog;
pub mod lanes;

pub mod add;
pub mod div;
pub mod exponential;
pub mod matmul;
pub mod probe;
pub mod relu;
pub mod rms_norm;
pub mod sigmoid;
pub mod silu;
pub mod softmax;
pub mod sub;

pub use add::add;
pub use args::{Args, Datum, In, Mismatch, Out};
pub use catalog::Launch;
pub use cpu::Cpu;
pub use div::div;
pub use element::Element;
pub use exponential::exp;
pub use half::{bf16, f16};
pub use isa::{Isa, Vectorize};
pub use matmul::{matmul, matmul_nn};
pub use num_traits::Float;
pub use pool::Pool;
pub use relu::relu;
pub use rms_norm::rms_norm;
pub use scalar::{Real, Scalar};
pub use shape::{Product, Rows};
pub use sigmoid::sigmoid;
pub use silu::silu;
pub use softmax::softmax;
pub use sub::sub;
