//! Studies of the gate, through the library: what no option of the command line may do.
#![forbid(unsafe_code)]

pub mod bench;
pub mod gate_mutations;
pub mod gate_study;
