//! The program `roofline`, which a bench becomes: it conducts, and this binary is one of its runners.

use crate::mistake::Mistake;
use roofline_protocol::BENCH_MARK;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Names the program, where it is not the one in `PATH`.
const VARIABLE: &str = "ROOFLINE";

/// Becomes the program: comes back only if it cannot.
pub(crate) fn conduct(provider: &str, cases: &[String], words: impl Iterator<Item = OsString>) -> ExitCode {
    let failed = |why: std::io::Error, program: &str| {
        let hint = "it comes with `cargo install --path crates/roofline` in a clone, or as a wheel; the variable ROOFLINE names one \
                    that is not in `PATH`";
        let what = format!("{BENCH_MARK}, which the program `roofline` conducts: `{program}`: {why}");
        Mistake::new(what, hint).report()
    };
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(why) => return failed(why, "the path of the bench itself"),
    };
    let program = std::env::var_os(VARIABLE).map_or_else(|| PathBuf::from("roofline"), PathBuf::from);
    let mut command = Command::new(&program);
    command.arg("bench").arg(own).args(["--name", provider]);
    for case in cases {
        command.arg("--case").arg(case);
    }
    failed(command.arg("--").args(words).exec(), &program.display().to_string())
}
