//! Arguments: one definition gives parser, help and completions. Each theme has a file.

mod measure;
mod select;
mod show;
mod stored;
mod surroundings;
mod values;

pub use measure::{Ab, Check, EvidenceArg, How, Measure, SandboxArg};
pub use select::{CacheArg, Places, Select};
pub use show::{Read, Show};
pub use stored::{
    Baselines, BaselinesAction, Compare, Explain, Export, History, Import, Merge, Prune, Runs, RunsAction,
};
pub use surroundings::{
    Bench, Install, Job, Language, List, Machine, New, NewKind, Runners, RunnersAction, What,
};
pub use values::{Size, parse_parameter};

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Is a compute kernel right, and how fast is it, honestly.
#[derive(Debug, Parser)]
#[command(name = "roofline", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Line {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
To begin: `roofline run` proves and times the kernels that are built in; `roofline init` writes one to be yours.

Exit codes: 0 all well; 1 our own failure, such as the store; 2 usage; 3 a row that
`--fail-on` names, for `ab` one that is slower, a target that is missed; 4 a row is wrong, suspect, crashed, timed out, out of memory or broke the protocol; 5 nothing was measured; 130 interrupted.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what there is: operations, implementations, suites with their groups and sizes, cases, devices, formats
    List(List),
    /// Show the runners: present or what to do, version, operations covered; `install` brings one
    Runners(Runners),
    /// Prove implementations right; measure nothing
    Check(Check),
    /// Prove, measure, record, and print a table
    Run(Measure),
    /// Measure two sides of a change in the same rounds, and end with 3 when the new one is slower
    Ab(Ab),
    /// Show what `run --save` has kept, and forget it
    Baselines(Baselines),
    /// Say why a row has its status, show its samples, and how to reproduce it
    Explain(Explain),
    /// Show the runs of the store: id, when, how its rows ended, and the command; `remove` and `prune` forget them
    Runs(Runs),
    /// Show what rows were in the runs of the store, one after the other: shares of the limit and ratios, over revisions
    History(History),
    /// Hold two stored runs or files beside each other: what such figures can say, and the command that decides
    Compare(Compare),
    /// Show this machine: identity, what disturbs measuring, and its roofs, measured once
    Machine(Machine),
    /// Write a row's conversation and tensors as files, to drive its runner by hand
    Job(Job),
    /// Write records of the store in the formats of other programs
    Export(Export),
    /// Read a file into the store and print its table: one of another benchmark tool, or what `export` wrote
    Import(Import),
    /// Add what other stores hold to this one, each record once
    Merge(Merge),
    /// Begin in this folder: a commented `roofline.toml`, and a kernel in C with a wrong twin; writes over nothing
    Init,
    /// Write a file to begin with: an operation of one's own, a kernel, a suite; writes over nothing
    New(New),
    /// Print `roofline.h`, the interface of kernels in a shared library (`--lib`)
    Header,
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
    /// Write man pages into a folder, one for each command
    Man {
        /// Is made if it is not there
        folder: PathBuf,
    },
    /// Conduct a bench of a crate; what `cargo bench` starts becomes this
    #[command(hide = true)]
    Bench(Bench),
    /// Parent of all runner processes; started by roofline itself
    #[command(hide = true)]
    Keeper,
    /// The owner of a device's tensors, started by the conductor
    #[command(hide = true)]
    Device {
        /// `cuda:0`
        device: String,
        /// Host memory in the device's place, for tests; work goes on there while somebody holds the lock of this file
        #[arg(long, value_name = "FILE")]
        stand_in: Option<PathBuf>,
        /// Print what the device is, as JSON, and own nothing
        #[arg(long)]
        tell: bool,
    },
    /// A built-in runner; started by roofline itself
    #[command(hide = true)]
    #[command(subcommand)]
    Runner(BuiltIn),
}

impl Command {
    /// Whether only what goes wrong is to be said.
    pub fn is_quiet(&self) -> bool {
        match self {
            Command::Check(check) => check.show.quiet,
            Command::Run(run) => run.show.quiet,
            Command::Ab(ab) => ab.show.quiet,
            _ => false,
        }
    }
}

/// Runners inside this binary.
#[derive(Debug, Subcommand)]
pub enum BuiltIn {
    /// The CPU kernels of the house
    Cpu,
    /// The CUDA kernels of the house
    Cuda,
    /// The kernels of a `.cu` or a cubin
    CudaFile { file: PathBuf },
    /// The kernels of a shared library
    Lib { file: PathBuf },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Line::command().debug_assert();
    }

    /// What is named in the files that `init` and `new` write is there to be called.
    #[test]
    fn commands_of_the_templates_parse() {
        let templates = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/templates")).unwrap();
        let texts = templates.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
        let texts: Vec<String> = texts.collect();
        let commands: Vec<&str> = texts.iter().flat_map(|text| commands(text)).collect();
        assert!(commands.len() >= 4, "{commands:?}");
        for command in commands {
            assert!(Line::try_parse_from(command.split(' ')).is_ok(), "`{command}`");
        }
    }

    /// What stands in backticks and begins with the program's name.
    fn commands(text: &str) -> impl Iterator<Item = &str> {
        text.split('`').filter(|text| text.starts_with("roofline ") && !text.contains('\n'))
    }

    /// The page for people who come from elsewhere must name options that exist.
    #[test]
    fn commands_of_the_migration_page_parse() {
        let page = include_str!("../../../docs/migrating.md");
        let commands: Vec<&str> = commands(page).collect();
        assert!(commands.len() > 20, "{commands:?}");
        for command in commands {
            let words = command.split(' ').map(|word| word.trim_matches('\''));
            assert!(Line::try_parse_from(words).is_ok(), "`{command}`");
        }
    }
}
