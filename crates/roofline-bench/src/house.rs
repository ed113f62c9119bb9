//! Who measures limits, and has kernels to compare with. This binary has the probes; kernels of the house are those of the
//! program `roofline`, so that no bench need compile them.

use crate::bench::HOUSE;
use crate::mistake::Mistake;
use roofline_conductor::offers;
use roofline_conductor::plan::RunnerOffers;
use roofline_conductor::runners::RunnerSpec;
use roofline_conductor::session::Limits;
use roofline_runner::Runner;
use roofline_runner::limit::LimitRunner;
use std::path::{Path, PathBuf};

/// The house as a runner: with its kernels, if something is compared with one of them.
pub(crate) fn join(
    own: &Path,
    peer: Option<&str>,
    limits: Limits,
) -> Result<(RunnerSpec, RunnerOffers), Mistake> {
    let Some(peer) = peer.filter(|peer| peer.split('/').next() == Some(HOUSE)) else {
        return Ok((RunnerSpec::built_in(own), RunnerOffers::new(HOUSE, LimitRunner.hello())));
    };
    let spec = RunnerSpec::built_in(&program(peer)?);
    let hello = offers::ask(own, &spec, limits).map_err(|why| {
        let program = spec.command.first().cloned().unwrap_or_default();
        Mistake::usage(format!("`{peer}` is of `{program}`: {why}"), "install a `roofline` of this version")
    })?;
    Ok((spec, RunnerOffers::new(HOUSE, hello)))
}

/// The first program of the name in `PATH`.
fn program(peer: &str) -> Result<PathBuf, Mistake> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join("roofline")).find(|file| file.is_file());
    found.ok_or_else(|| {
        let hint = "install it, `cargo install --path crates/roofline` in a clone, or compare with another of this bench";
        Mistake::usage(format!("`{peer}` is of the program `roofline`, which is not in `PATH`"), hint)
    })
}
