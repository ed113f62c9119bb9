//! The trusted side of Roofline: it owns inputs, references, judgement and statistics, and links no kernel.
//!
//! Data flows one way: select → plan → gate → visits → judge → record. A newcomer reads `plan`,
//! `conduct`, `gate` and `visits` in this order; `session`, `keeper` and `channel` are the talk with
//! runner processes, `instance` is the memory they share.

mod audit;
mod channel;
pub mod checks;
pub mod conduct;
mod failure;
mod gate;
mod instance;
pub mod job;
pub mod keeper;
mod lane;
pub mod lock;
pub mod machine;
pub mod offers;
pub mod plan;
pub mod runners;
mod sample;
pub mod session;
pub mod stage;
pub mod sys;
mod timing;
mod visits;
