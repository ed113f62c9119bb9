//! What CPU kernels stand on, and what their limits are measured by: vector lanes and functions over them, tile
//! registers, threads, and [probes](probe) of the machine.
//!
//! A kernel takes a [`Cpu`]: a level of vector instructions, [`Isa`], and threads, a [`Pool`]. Code over
//! [`lanes`] is written once, implements [`Vectorize`], and is compiled for each level by [`Isa::run`].
//!
//! ```
//! use roofline_lanes::{Cpu, Vectorize, lanes::Lanes, math};
//!
//! /// e to the power of each element, of whole vectors only.
//! struct Exp<'a>(&'a mut [f32]);
//!
//! impl Vectorize for Exp<'_> {
//!     type Output = ();
//!     #[inline(always)]
//!     fn run<L: Lanes>(self, lanes: L) {
//!         for x in self.0.chunks_exact_mut(L::LANES) {
//!             let y = math::exp(lanes, lanes.load_f32(x));
//!             lanes.store_f32(y, x);
//!         }
//!     }
//! }
//!
//! let mut x = [1.0f32; 16];
//! Cpu::new(1).isa.run(Exp(&mut x));
//! assert!((x[15] - std::f32::consts::E).abs() < 1e-6);
//! ```

mod cpu;
mod fp8;
mod isa;
mod pool;

pub mod lanes;
pub mod math;
pub mod probe;
pub mod stream;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod tiles;

pub use cpu::Cpu;
pub use fp8::{Fp8E4m3, Fp8E5m2};
pub use isa::{Isa, Vectorize};
pub use pool::{Pieces, Pool};
