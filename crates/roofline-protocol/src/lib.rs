//! What conductor and runner say to each other: messages, and the words in them.
//!
//! A runner needs no more than this of Roofline's nouns: what its kernels are judged by is the conductor's, and no part of it.
#![forbid(unsafe_code)]

pub mod declaration;
pub mod device;
pub mod dtype;
pub mod format;
pub mod messages;
pub mod names;
pub mod nearest;
pub mod precision;
pub mod units;
pub mod work;

/// What stands in every bench binary, and in no other.
pub const BENCH_MARK: &str = "this is a bench of Roofline's";
