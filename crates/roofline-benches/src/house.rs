//! Who measures limits, and has kernels to compare with. A bench that conducts itself has the probes alone; kernels of the house
//! are those of the program `roofline`, so that no bench need compile them.

use crate::bench::{ask, own_program};
use crate::mistake::Mistake;
use crate::options::Options;
use roofline_conductor::plan::RunnerOffers;
use roofline_conductor::runners::RunnerSpec;
use roofline_core::names::HOUSE;
use roofline_runner::Runner;
use roofline_runner::limit::LimitRunner;
use std::path::{Path, PathBuf};

/// The house as a runner: with its kernels, if something is compared with one of them.
pub(crate) fn join(
    house: Option<&Path>,
    peer: Option<&str>,
    options: &Options,
) -> Result<(RunnerSpec, RunnerOffers), Mistake> {
    let Some(peer) = peer.filter(|peer| peer.split('/').next() == Some(HOUSE)) else {
        return Ok((RunnerSpec::built_in(&own_program()?), RunnerOffers::new(HOUSE, LimitRunner.hello())));
    };
    let spec = RunnerSpec::built_in(&house.map_or_else(|| installed(peer), |house| Ok(house.to_owned()))?);
    let hello = ask(&spec, options).map_err(|why| {
        let program = spec.command.first().cloned().unwrap_or_default();
        Mistake::usage(format!("`{peer}` is of `{program}`: {why}"), "install a `roofline` of this version")
    })?;
    Ok((spec, RunnerOffers::new(HOUSE, hello)))
}

/// The first program `roofline` in `PATH`.
fn installed(peer: &str) -> Result<PathBuf, Mistake> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join("roofline")).find(|file| file.is_file());
    found.ok_or_else(|| {
        let hint = "install it, `cargo install --path crates/roofline` in a clone, or compare with another of this bench";
        Mistake::usage(format!("`{peer}` is of the program `roofline`, which is not in `PATH`"), hint)
    })
}
