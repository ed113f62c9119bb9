//! `roofline completions SHELL`.

use crate::args::Line;
use crate::error::Problem;
use clap::CommandFactory;
use std::process::ExitCode;

pub fn run(shell: clap_complete::Shell) -> Result<ExitCode, Problem> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Line::command(), "roofline", &mut script);
    super::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
