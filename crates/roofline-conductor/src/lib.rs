//! The trusted side of Roofline: it owns inputs, references, judgement and statistics, and links no kernel.
//!
//! Data flows one way: select → plan → gate → rounds → judge → record. A newcomer reads `plan`,
//! `conduct`, `gate`, `proof`, `pilot` and `rounds` in this order; `session`, `keeper` and `channel` are the talk with
//! runner processes, `instance` is the memory they share.

mod audit;
mod cause;
mod channel;
pub mod checks;
mod clocks;
pub mod conduct;
pub mod device;
pub mod failure;
mod gate;
pub mod home;
mod instance;
pub mod isolation;
pub mod job;
pub mod keeper;
mod lane;
pub mod lock;
pub mod machine;
mod marks;
mod memo;
pub mod offers;
mod order;
mod pilot;
pub mod plan;
mod proof;
pub mod references;
mod rounds;
pub mod runners;
mod sample;
pub mod session;
mod shape;
mod shapes;
pub mod spent;
pub mod stage;
mod standings;
pub mod sys;
mod timing;
mod visit;
mod warden;
mod watch;
