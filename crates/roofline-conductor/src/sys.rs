//! The conductor's unsafe code: shared memory, starting processes, signals. Nothing else is here.

pub mod memory;
pub mod process;
pub mod signals;
