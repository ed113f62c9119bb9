//! All `unsafe` of this crate: the driver's and the compiler's calls, each behind a safe function
//! that keeps what the call relies on.

mod driver;
mod launch;
mod memory;
mod nvml;
mod nvrtc;
mod plain;
mod shared;
mod stream;

pub(crate) use driver::{Context, attribute, device_count, device_name, device_uuid, memory_bytes, start};
pub(crate) use launch::{Function, Module};
pub(crate) use memory::Memory;
pub use nvml::{CardState, Monitor};
pub(crate) use nvrtc::{Program, compiler_version};
pub use plain::Plain;
pub(crate) use plain::{bytes_of, bytes_of_mut};
pub(crate) use shared::{Mapping, granularity};
pub(crate) use stream::{RawEvent, RawGraph, RawStream};
