//! The trusted side of Roofline: it owns inputs, references, judgement and statistics, and links no kernel.
//!
//! Data flows one way: select → plan → gate → rounds → judge → record. A newcomer reads `plan`,
//! `conduct`, `gate`, `visits`, `pilot` and `rounds` in this order; `session`, `keeper` and `channel` are the talk with
//! runner processes, `instance` is the memory they share.

mod audit;
mod cause;
mod channel;
pub mod checks;
pub mod conduct;
pub mod failure;
mod gate;
pub mod home;
mod instance;
pub mod job;
pub mod keeper;
mod lane;
pub mod lock;
pub mod machine;
pub mod offers;
mod pilot;
pub mod plan;
mod rounds;
pub mod runners;
mod sample;
pub mod session;
mod shapes;
pub mod stage;
pub mod sys;
mod timing;
mod visits;
