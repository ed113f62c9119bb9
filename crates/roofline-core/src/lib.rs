//! Roofline's nouns and mathematics.
//!
//! Operations with their f64 references and derived error bounds, cases and suites, fills, the
//! judge, records, and the messages of the protocol. Nothing here does I/O, reads a clock, or
//! contains a kernel; everything that arrives from outside is parsed with a reason for refusal.
#![forbid(unsafe_code)]

pub mod arithmetic;
pub mod axis;
pub mod bound;
pub mod case;
pub mod check;
pub mod condition;
pub mod decision;
pub mod definition;
pub mod fill;
pub mod instance;
pub mod judge;
pub mod mutants;
pub mod number;
pub mod operation;
pub mod ops;
pub mod pattern;
pub mod philox;
pub mod policy;
pub mod protocol;
pub mod record;
pub mod roofs;
pub mod sparse;
pub mod stats;
pub mod suite;
pub mod target;
pub mod tensor;
pub mod text;
pub mod turn;
pub mod verdict;

// Words of the protocol, which all of this is made of.
pub use roofline_protocol::{dtype, format, names, nearest, precision, units};
