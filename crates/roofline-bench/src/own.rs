//! A bench with operations of its own: it conducts itself, and computes their references in one more process.

use crate::bench::Bench;
use crate::mistake::Mistake;
use crate::reference;
use roofline_benches::References;
use roofline_conductor::keeper;
use roofline_core::names::HOUSE;
use roofline_core::ops;
use roofline_core::protocol::BENCH_MARK;
use roofline_runner::Runner;
use std::ffi::OsString;
use std::process::ExitCode;

/// Makes the operations of a bench known in this process.
pub(crate) fn bring(bench: &Bench) -> Result<(), Mistake> {
    let rows = bench.operations.iter().map(|own| (own.row)()).collect();
    ops::bring(rows).map_err(|why| Mistake::new(why, "mend the operation in the bench"))
}

/// Plays one of the roles that the program `roofline` has elsewhere, if the words name one.
pub(crate) fn play(bench: &Bench, words: &[&str]) -> Option<ExitCode> {
    match words {
        ["keeper"] => Some(match keeper::serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                roofline_run::terminal::tell(&format!("error: keeper: {error}"));
                ExitCode::FAILURE
            }
        }),
        // The probes of every limit are here; kernels of the house are in the program `roofline` alone.
        ["runner", HOUSE] => Some(roofline_runner::limit::serve()),
        ["reference"] => Some(reference::serve(&bench.operations)),
        _ => None,
    }
}

/// Conducts the bench.
pub(crate) fn conduct(bench: Bench, words: impl Iterator<Item = OsString>) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(why) => {
            let what = format!("{BENCH_MARK}, which does not know its own path: {why}");
            return Mistake::new(what, "start it by a path").report();
        }
    };
    let (provider, cases) = (bench.provider.clone(), bench.cases.clone());
    let references = References { set_up: reference::set_up, failure: reference::failure };
    let code = roofline_benches::Bench {
        hello: Some(bench.host(&provider).hello()),
        provider,
        program,
        cases,
        house: None,
        references: Some(references),
    }
    .conduct(words);
    reference::end();
    code
}
