//! SDK of runner processes: a runner is a table of implementations and a call of [`serve`].
//!
//! ```no_run
//! use roofline_runner::{Dtype, Entry, Job, Ready, Refusal, Table, serve};
//! use std::process::ExitCode;
//!
//! const ENTRIES: &[Entry] =
//!     &[Entry::new("mine/loop", "add", &[Dtype::F32], prepare_add).about("one loop over the elements")];
//!
//! fn prepare_add(job: &mut Job) -> Result<Ready, Refusal> {
//!     let (x, y) = (job.input::<f32>("x")?, job.input::<f32>("y")?);
//!     let mut z = job.output::<f32>("z")?;
//!     Ok(Ready::new(move || {
//!         for ((z, x), y) in z.iter_mut().zip(&*x).zip(&*y) {
//!             *z = x + y;
//!         }
//!     }))
//! }
//!
//! fn main() -> ExitCode {
//!     serve(Table::new("mine", env!("CARGO_PKG_VERSION"), ENTRIES))
//! }
//! ```
//!
//! A kernel that is right for some cases only says for which: `.requires("cols % 16 == 0, align 32")`. What
//! `prepare` does is not timed; what it returns is launched, again and again. A kernel that
//! panics has failed, and the row says so. A kernel that needs more than a closure (an error of its
//! own, a device to wait for, a clock of its own) implements [`Kernel`]; a runner whose offers are
//! known at run time only implements [`Runner`]. Whoever speaks the protocol by hand has
//! [`Channel`] and [`Session`].
//!
//! The runners of the house stand here too, behind the feature `house`; `limit`, behind a feature of its name, measures what a
//! machine can do at all. Without these an SDK knows no operation, and compiles no kernel.
//!
//! A runner speaks on file descriptor 3 when that is a socket, else on standard input and output,
//! and then its tensors are files: `runner < conversation` is how to start it under a debugger.

#![deny(unsafe_code)]

#[cfg(feature = "house")]
pub mod cpu;
#[cfg(feature = "house")]
pub mod cuda;
#[cfg(feature = "house")]
pub mod device;
#[cfg(feature = "house")]
pub mod library;
#[cfg(feature = "limit")]
pub mod limit;

mod channel;
mod clock;
mod in_turn;
mod job;
mod kernel;
mod restore;
mod session;
mod table;

#[expect(unsafe_code, reason = "the one module that maps memory, counts the heap and reads the float mode")]
mod sys;

pub use channel::{Broken, Channel, Message};
pub use job::Job;
pub use kernel::{Kernel, Ready, Runner, Samples, Visit, failed, out_of_memory, unsupported};
pub use roofline_lanes::Fp8E4m3;
pub use roofline_protocol::dtype::Dtype;
pub use roofline_protocol::messages::{
    self as protocol, Hello, Offer, Prepare, Prepared, Refusal, RefusalKind,
};
pub use session::{Answered, Session, refuse, serve};
pub use sys::heap::Counting;
pub use sys::tensor::{Element, Input, Output};
pub use table::{Entry, Table};
