//! The command line from outside: the real binary, in folders of its own, as its users meet it.
//!
//! Every test has a folder with a store; runners that are needed are small programs made there. Runs of
//! these tests take turns by the machine's lock, because two at a time would measure each other.

mod ab;
mod baselines;
mod before;
mod begin;
mod ci;
mod compared;
mod conditions;
mod device;
mod doubts;
mod exchange;
mod fail_on;
mod history;
mod install;
mod interrupts;
mod isolation;
mod job;
mod kernels;
mod library;
mod listing;
mod machine;
mod mistakes;
mod own_operation;
#[path = "../page/mod.rs"]
mod page;
mod parameters;
mod peers;
mod python_file;
mod refusals;
mod resume;
mod retention;
mod rows;
mod runners;
mod scene;
mod settle;
mod store;
mod suites;
mod tables;
mod targets;
mod terminal;
mod tools;
