//! `roofline completions SHELL`.

use crate::args::Line;
use crate::error::Problem;
use crate::{house, places};
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use roofline_core::dtype::Dtype;
use roofline_core::names::{HOUSE, is_limit};
use roofline_core::ops;
use roofline_report::{FOLDERS, FORMATS, READERS};
use roofline_runner::Runner;
use roofline_runner::cpu::CpuRunner;
use std::collections::BTreeSet;
use std::process::ExitCode;

pub fn run(shell: clap_complete::Shell) -> Result<ExitCode, Problem> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_values(Line::command()), "roofline", &mut script);
    super::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// The command with the values that a shell can offer. What is parsed takes more than these, and says what it does not know in
/// words of its own: so they stand in the script alone.
fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let offered = |arg: &Arg| values(&name, arg.get_id().as_str());
    let command = command.mut_args(|arg| match offered(&arg) {
        values if values.is_empty() => arg,
        values => arg.value_parser(PossibleValuesParser::new(values)),
    });
    command.mut_subcommands(with_values)
}

/// What an argument of a command may be, as far as that is known now. Names that are read from the disk live as long as the
/// program, which ends when the script is written.
fn values(command: &str, arg: &str) -> Vec<&'static str> {
    let folders = FOLDERS.iter().filter(|_| command == "export").map(|folder| folder.name);
    match arg {
        "format" if command == "import" => READERS.iter().map(|reader| reader.name).collect(),
        "format" => FORMATS.iter().map(|format| format.name).chain(folders).collect(),
        "dtype" => Dtype::ALL.iter().map(|dtype| dtype.name()).collect(),
        "suite" => places::suites().into_iter().map(|(name, _)| &*name.leak()).collect(),
        "op" | "select" => {
            ops::operations().flat_map(|operation| operation.forms()).map(|form| &*form.leak()).collect()
        }
        "implementation" if command != "ab" => implementations(),
        "against" => std::iter::once(HOUSE).chain(house::names()).chain(implementations()).collect(),
        "runner" => house::names().chain(["cuda"]).collect(),
        "name" if command == "install" => house::names().collect(),
        "device" => vec!["cpu", "cuda:0"],
        "fail_on" if command == "ab" => vec!["slower", "inconclusive", "policy"],
        "fail_on" => vec!["slower", "inconclusive", "policy", "missed"],
        _ => Vec::new(),
    }
}

/// Those of the house, each once however many operations it has.
fn implementations() -> Vec<&'static str> {
    let offers = CpuRunner.hello().offers;
    let names: BTreeSet<String> = offers.into_iter().map(|offer| offer.implementation).collect();
    names.into_iter().filter(|name| !is_limit(name)).map(|name| &*name.leak()).collect()
}
