//! The reference of commands and flags: what `--help` prints, command by command.

use crate::step::{self, Failure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands are at most this deep: `roofline runners install`.
const DEEPEST: usize = 2;

pub(super) fn make(root: &Path, _: &str) -> Result<Option<String>, Failure> {
    if !root.join("crates/roofline/Cargo.toml").exists() {
        return Ok(None);
    }
    let program = program(root)?;
    let mut part = String::new();
    describe(&program, &mut Vec::new(), &mut part)?;
    Ok(Some(part))
}

/// The command line, built.
pub(super) fn program(root: &Path) -> Result<PathBuf, Failure> {
    let hint = "the command line must build: `cargo build --package roofline`";
    step::command("cli-help", step::cargo(root).args(["build", "--quiet", "--package", "roofline"]), hint)?;
    Ok(step::target_folder(root).join("debug/roofline"))
}

fn describe(program: &Path, command: &mut Vec<String>, part: &mut String) -> Result<(), Failure> {
    let help = help(program, command).ok_or_else(|| {
        let why = format!("`roofline {} --help` fails", command.join(" "));
        Failure::new("cli-help", why, "it must print help and exit with 0")
    })?;
    let name = [&["roofline".to_string()], command.as_slice()].concat().join(" ");
    *part += &format!("### `{name}`\n\n```text\n{}\n```\n\n", without_trailing_blanks(&help));
    if command.len() < DEEPEST {
        for subcommand in subcommands(&help) {
            command.push(subcommand);
            describe(program, command, part)?;
            command.pop();
        }
    }
    Ok(())
}

/// Help as every machine prints it: fixed width, no colour, nothing of this environment.
fn help(program: &Path, command: &[String]) -> Option<String> {
    let mut ask = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ROOFLINE_")) {
        ask.env_remove(name);
    }
    step::answer(ask.args(command).arg("--help").env("COLUMNS", "100").env("NO_COLOR", "1"))
}

/// Names under `Commands:`; their descriptions go on in deeper columns.
fn subcommands(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let rows = section.take_while(|line| line.is_empty() || line.starts_with(' '));
    let names = rows.filter_map(|row| row.strip_prefix("  ")).filter(|row| !row.starts_with(' '));
    names
        .filter_map(|row| row.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(String::from)
        .collect()
}

fn without_trailing_blanks(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_help() {
        let help = "Measures\n\nUsage: roofline <COMMAND>\n\nCommands:\n  list     What is there\n           and more\n  run      Measure\n\n  help     Print this\n\nOptions:\n  -h, --help  Print\n";
        assert_eq!(subcommands(help), ["list", "run"]);
        assert!(subcommands("Usage: roofline list\n\nOptions:\n  -h\n").is_empty());
    }
}
