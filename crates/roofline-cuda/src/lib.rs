//! CUDA kernels as a library: a `.cu` beside its launcher, and the device layer under them.
//!
//! Driver and compiler are loaded when they are first asked for: the same program starts where there
//! is no CUDA, and [`devices`] says in one line why. A launcher is a safe function over slices of
//! device memory; it checks lengths, chooses a rung by shape and address, and queues one launch on a
//! [`Stream`]. Kernels are compiled at their first use by NVRTC, for the shape's class and the card's
//! own architecture, and kept in a [`Cache`].
//!
//! ```no_run
//! use roofline_cuda::{Device, DeviceVec, Stream, elementwise::add};
//!
//! # fn main() -> Result<(), roofline_cuda::CudaError> {
//! let stream = Stream::new(&Device::open(0)?)?;
//! let x = DeviceVec::from_host(&stream, &[1.0f32, 2.0])?;
//! let mut z = DeviceVec::new(stream.device(), 2)?;
//! add(&stream, x.as_slice(), x.as_slice(), z.as_slice_mut()?)?;
//! assert_eq!(z.as_slice().to_host(&stream)?, [2.0, 4.0]);
//! # Ok(())
//! # }
//! ```
//!
//! To add an operation: a line in the table of its family ([`elementwise::FORMS`], …); or a folder with `mod.rs` (launcher
//! and ladder), a `.cu` for each rung and a line in [`catalog`]. `tests/every_kernel_compiles.rs` compiles it then for every
//! architecture, and `examples/verify.rs` runs it against the gate's own references on a device.

mod args;
mod cache;
mod compile;
mod device;
mod element;
mod error;
mod kernel;
mod pool;
mod rows;
mod shape;
mod shared;
mod slice;
mod stream;
mod sys;

pub mod catalog;

pub mod add_rms_norm;
pub mod argmax;
pub mod attention;
pub mod batch_norm;
pub mod cross_entropy;
pub mod dropout;
pub mod elementwise;
pub mod focal;
pub mod layer_norm;
pub mod matmul;
pub mod movement;
pub mod probe;
pub mod quantize;
pub mod reduce;
pub mod rms_norm;
pub mod rope;
pub mod softmax;
pub mod tend;
pub mod thin;

pub use args::Args;
pub use cache::Cache;
pub use compile::{Compiled, Origin, Source, Variant, compile};
pub use device::{Device, DeviceInfo, devices};
pub use element::Element;
pub use error::{CudaError, NoCuda, Result, Version};
pub use half::{bf16, f16};
pub use kernel::{Argument, Geometry, Kernel, Resources};
pub use pool::{Pool, PoolUse};
pub use rows::{RowPlan, RowRung, Walk, Weight};
pub use shape::{Product, Rows};
pub use shared::{Access, SharedMemory};
pub use slice::{DeviceSlice, DeviceSliceMut, DeviceVec};
pub use stream::{Event, Graph, Stream};
pub use sys::{CardState, Monitor, Plain};
