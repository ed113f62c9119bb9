//! `cargo xtask VERB`: tasks of the workspace that are more than one cargo command.
//!
//! A verb is a file and a row in `VERBS`. `check` and `test` are what continuous integration and
//! people run alike.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for developers talks on the terminal")]

mod check;
mod generate;
mod gpu;
mod package;
mod peers;
mod step;
mod study;
mod test;
mod tidy;

use std::process::ExitCode;
use step::Failure;

/// One thing that `cargo xtask` does.
struct Verb {
    name: &'static str,
    about: &'static str,
    /// A failure that the verb has not told of itself is an error.
    run: fn(&[String]) -> Result<ExitCode, Failure>,
}

const VERBS: &[Verb] = &[
    Verb { name: "test", about: "install what tests need, build everything, run all tests", run: test::run },
    Verb {
        name: "gpu",
        about: "build what a machine with a GPU and no Rust needs, under `target/gpu`, for `studies/gpu/run.sh` there",
        run: gpu::run,
    },
    Verb {
        name: "package",
        about: "make a wheel and an archive of the program, for Linux of any age, under `target/dist`",
        run: package::run,
    },
    Verb {
        name: "peers",
        about: "install torch, onnxruntime and jax under the target folder and build rust-peers, for tests of their runners",
        run: peers::run,
    },
    Verb {
        name: "check",
        about: "formatting, lints, licences, rules of the tree, generated parts",
        run: check::run,
    },
    Verb { name: "tidy", about: "only the rules of the tree", run: tidy::run },
    Verb {
        name: "generate",
        about: "write the generated parts of documents (`--check`: only compare)",
        run: generate::run,
    },
    Verb {
        name: "gate-mutations",
        about: "switch off one check of the gate at a time and see which saboteurs get through",
        run: |arguments| study::run("gate-mutations", arguments),
    },
    Verb {
        name: "gate-study",
        about: "random cases through the gate: no false alarm, no lower precision missed",
        run: |arguments| study::run("gate-study", arguments),
    },
    Verb {
        name: "seeds-study",
        about: "everyday bugs through the gate, seed after seed: none gets through",
        run: |arguments| study::run("seeds-study", arguments),
    },
    Verb {
        name: "noise-study",
        about: "how often live comparisons are wrong, a part at a time",
        run: |arguments| study::run("noise-study", arguments),
    },
    Verb {
        name: "share-study",
        about: "how still shares of the limit stand while times drift",
        run: |arguments| study::run("share-study", arguments),
    },
    Verb {
        name: "trust-study",
        about: "honest rows that are doubted, and lies that are not, a part at a time",
        run: |arguments| study::run("trust-study", arguments),
    },
    Verb {
        name: "ab-study",
        about: "what comparisons say of no change and of known ones, a part at a time",
        run: |arguments| study::run("ab-study", arguments),
    },
    Verb {
        name: "sandbox-study",
        about: "what isolation costs: one kernel inside and outside of it, and what a conversation takes",
        run: |arguments| study::run("sandbox-study", arguments),
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        println!("{}", help());
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        println!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        eprintln!("error: `{name}` is no task\n\n{}", help());
        return ExitCode::from(2);
    };
    match (verb.run)(rest) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let rows: Vec<String> = VERBS.iter().map(|verb| format!("  {:14} {}", verb.name, verb.about)).collect();
    format!("usage: cargo xtask VERB\n\n{}\n\nstudies tell their options by --help", rows.join("\n"))
}
