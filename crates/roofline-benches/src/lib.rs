//! Conducts a bench binary: its kernels are proved, measured beside their limit, and compared with another or with a build that
//! was kept.
//!
//! The binary is a runner like any other. The program `roofline` conducts it when it is started as `roofline bench`; a bench with
//! operations of its own, whose mathematics nobody else has, conducts itself.
#![forbid(unsafe_code)]

mod baseline;
mod bench;
mod house;
mod mistake;
mod options;
mod run;

pub use bench::{Bench, References};
