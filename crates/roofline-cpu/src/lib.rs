//! CPU kernels as a library: a folder per operation, a file per implementation.
//!
//! Every implementation is a safe function over slices. Its first argument, a
//! [`Cpu`], says which vector instructions and which threads it may use; the
//! [`catalog`] lists them all in ladder order, from the plain one that shows
//! the mathematics to the fastest.
//!
//! ```
//! use roofline_cpu::{Cpu, Rows, softmax};
//!
//! let cpu = Cpu::new(2);
//! let mut y = [0.0f32; 4];
//! softmax::parallel::softmax(&cpu, &[1.0; 4], &mut y, Rows { rows: 1, cols: 4 });
//! assert_eq!(y, [0.25; 4]);
//! ```
//!
//! To add an operation: a folder with `mod.rs` (the mathematics) and one file
//! per implementation, generic over [`Element`]; vector code implements
//! [`Vectorize`] and is run by [`Isa::run`]. Its ladder gets one line in
//! [`catalog`], and `tests/every_kernel.rs` runs every rung.

mod cpu;
mod element;
mod exp;
mod isa;
mod pool;
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

pub use cpu::Cpu;
pub use element::Element;
pub use half::{bf16, f16};
pub use isa::{Isa, Vectorize};
pub use pool::Pool;
pub use shape::{Product, Rows};
