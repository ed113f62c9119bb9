//! `roofline bench BINARY`: what a bench of a crate becomes when `cargo bench` starts it.

use crate::args::Bench;
use crate::error::Problem;
use std::process::ExitCode;

pub fn run(args: Bench) -> Result<ExitCode, Problem> {
    let own = std::env::current_exe()
        .map_err(|error| Problem::own(format!("roofline does not know its own path: {error}")))?;
    let Bench { binary, name, cases, words } = args;
    let bench = roofline_benches::Bench {
        provider: name,
        program: binary,
        cases,
        hello: None,
        house: Some(own),
        references: None,
    };
    Ok(bench.conduct(words))
}
