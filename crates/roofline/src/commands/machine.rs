//! `roofline machine`.

use crate::args::Machine as Args;
use crate::error::Problem;
use roofline_conductor::machine::Machine;
use std::fmt::Write;
use std::process::ExitCode;

pub fn run(args: &Args) -> Result<ExitCode, Problem> {
    let machine = Machine::read();
    let text = if args.json {
        let value = serde_json::json!({ "fingerprint": machine.fingerprint(), "machine": machine });
        format!("{value:#}\n")
    } else {
        let mut text = machine.to_string();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let warnings = machine.warnings();
        if !warnings.is_empty() {
            text.push_str("\nwhat disturbs measuring here\n");
        }
        for warning in warnings {
            let _ = writeln!(text, "- {warning}; {}", warning.advice());
        }
        text
    };
    super::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
