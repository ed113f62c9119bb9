//! Studies of the gate and of comparisons, through the library: what no option of the command line may do.
#![forbid(unsafe_code)]

pub mod ab_study;
pub mod bench;
mod facts;
pub mod gate_mutations;
pub mod gate_study;
mod journal;
pub mod noise_study;
mod page;
pub mod sandbox_study;
pub mod seeds_study;
pub mod share_study;
pub mod trust_study;
