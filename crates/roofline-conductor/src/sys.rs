//! The conductor's unsafe code: shared memory, starting and restricting processes, signals. Nothing else is here.

pub mod memory;
pub mod process;
pub mod restrict;
pub mod signals;
