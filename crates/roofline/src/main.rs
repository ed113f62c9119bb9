//! The command line. It parses, calls the crates that decide, and prints.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod error;
mod house;
mod places;
mod select;

use args::{BuiltIn, Command, Line};
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};
use error::Problem;
use std::process::ExitCode;

/// Kernels run in this binary too, as its built-in runner: what they take from the heap is counted.
#[global_allocator]
static HEAP: roofline_runner::Counting = roofline_runner::Counting;

fn main() -> ExitCode {
    let line = Line::try_parse().unwrap_or_else(|error| without_hidden(error).exit());
    if line.command.is_quiet() {
        roofline_run::terminal::hush();
    }
    match run(line.command) {
        Ok(code) => code,
        Err(problem) => problem.report(),
    }
}

/// A mistake without suggestions that nobody is to follow: commands of our own processes.
fn without_hidden(mut error: clap::Error) -> clap::Error {
    let kind = ContextKind::SuggestedSubcommand;
    if let Some(ContextValue::Strings(names)) = error.remove(kind) {
        let command = Line::command();
        let is_shown = |name: &String| command.find_subcommand(name).is_none_or(|known| !known.is_hide_set());
        let shown: Vec<String> = names.into_iter().filter(is_shown).collect();
        if !shown.is_empty() {
            error.insert(kind, ContextValue::Strings(shown));
        }
    }
    error
}

fn run(command: Command) -> Result<ExitCode, Problem> {
    match command {
        Command::List(list) => commands::list::run(&list),
        Command::Runners(runners) => commands::runners::run(&runners),
        Command::Check(check) => commands::measure::check(&check),
        Command::Run(run) => commands::measure::run(&run),
        Command::Ab(ab) => commands::ab::run(&ab),
        Command::Baselines(baselines) => commands::baselines::run(&baselines),
        Command::Explain(explain) => commands::explain::run(&explain),
        Command::Runs(runs) => commands::runs::run(&runs),
        Command::History(history) => commands::history::run(&history),
        Command::Compare(compare) => commands::compare::run(&compare),
        Command::Machine(machine) => commands::machine::run(&machine),
        Command::Job(job) => commands::job::run(&job),
        Command::Export(export) => commands::export::run(&export),
        Command::Import(import) => commands::import::run(&import),
        Command::Merge(merge) => commands::merge::run(&merge),
        Command::Init => commands::new::init(),
        Command::New(new) => commands::new::run(&new),
        Command::Header => {
            commands::print(roofline_runner::library::HEADER)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions { shell } => commands::completions::run(shell),
        Command::Man { folder } => commands::man::run(&folder),
        Command::Bench(bench) => commands::bench::run(bench),
        Command::Keeper => {
            roofline_conductor::keeper::serve().map_err(|error| Problem::own(format!("keeper: {error}")))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Device { device, stand_in, tell: true } => {
            Ok(roofline_runner::device::tell(&device, stand_in))
        }
        Command::Device { device, stand_in, .. } => Ok(roofline_runner::device::serve(&device, stand_in)),
        Command::Runner(BuiltIn::Cpu) => Ok(roofline_runner::cpu::serve()),
        Command::Runner(BuiltIn::Cuda) => Ok(roofline_runner::cuda::serve()),
        Command::Runner(BuiltIn::CudaFile { file }) => Ok(roofline_runner::cuda::serve_file(&file)),
        Command::Runner(BuiltIn::Lib { file }) => Ok(roofline_runner::library::serve(&file)),
    }
}
