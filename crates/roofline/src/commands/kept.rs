//! `run --save` and `run --baseline`: what was measured, kept, and measured again.

use crate::error::{Problem, tell};
use crate::{house, places};
use roofline_conductor::machine::Machine;
use roofline_conductor::offers::ask;
use roofline_conductor::plan::{Plan, is_limit};
use roofline_conductor::runners::RunnerSpec;
use roofline_conductor::session::Limits;
use roofline_core::protocol::Hello;
use roofline_core::record::{Record, Status};
use roofline_run::artefact::{Artefact, Kind, Tools};
use roofline_run::baseline::{self, Baseline, Kept, Shelf, Unusable};
use roofline_run::{Lineup, Planned, environment, has_failure, now};
use std::path::{Path, PathBuf};

/// What starts runners, from this binary.
pub fn tools() -> Result<Tools, Problem> {
    Ok(Tools { program: places::program()?, sdk: house::sdk()? })
}

/// A baseline's name stands before the slash of rows: none that takes part may be called so.
pub fn check_name(name: &str, lineup: &Lineup) -> Result<(), Problem> {
    if lineup.specs.iter().any(|spec| spec.name == *name) {
        let why = format!("a baseline cannot be called `{name}`: a runner is");
        return Err(Problem::usage(why, "choose another name"));
    }
    Ok(baseline::check_name(name)?)
}

/// The file or folder that a runner is, where it is somebody's to change: not that of a peer of the house.
fn source(spec: &RunnerSpec, program: &Path) -> Option<(Kind, PathBuf)> {
    if spec.is_built_in() {
        let kind = if spec.name == "cuda" { Kind::HouseCuda } else { Kind::House };
        return Some((kind, program.to_owned()));
    }
    let (_, path) = spec.named.as_ref()?;
    Kind::of(path).map(|kind| (kind, path.clone()))
}

/// What a run is about to measure, kept before it does: it may be built anew meanwhile.
pub struct Keeping {
    shelf: Shelf,
    artefacts: Vec<(RunnerSpec, Kind, PathBuf, Artefact)>,
}

/// Keeps the files of the runners that a plan has rows of.
pub fn keep(name: &str, store: &Path, planned: &Planned) -> Result<Keeping, Problem> {
    let (shelf, program) = (Shelf::beside(store), places::program()?);
    let mut artefacts = Vec::new();
    let is_own = |spec: &&RunnerSpec| !spec.is_side() && planned.has_rows_of(&spec.name);
    for spec in planned.lineup.specs.iter().filter(is_own) {
        let Some((kind, path)) = source(spec, &program) else {
            tell(&format!("`{}` is a peer of the house, and no part of the baseline", spec.name));
            continue;
        };
        let artefact = kept(name, kind, &path, &shelf)?;
        artefacts.push((spec.clone(), kind, path, artefact));
    }
    if artefacts.is_empty() {
        let why =
            format!("baseline `{name}` cannot be kept: nothing is measured that is anybody's to change");
        return Err(Problem::usage(
            why,
            "peers such as numpy are measured as they are; `--lib` and others bring your own",
        ));
    }
    Ok(Keeping { shelf, artefacts })
}

fn kept(name: &str, kind: Kind, path: &Path, shelf: &Shelf) -> Result<Artefact, Problem> {
    Artefact::keep(kind, path, &shelf.vault())
        .map_err(|error| Problem::own(format!("baseline `{name}`: `{}`: {error}", path.display())))
}

impl Keeping {
    /// Says that nothing was given the name, and what is still kept under it.
    pub fn leave(&self, name: &str, why: &str) {
        let is_older = self.shelf.names().iter().any(|kept| kept == name);
        let older = if is_older { "; the older one of that name is there as it was" } else { "" };
        tell(&format!("baseline `{name}` was not kept: {why}{older}; `--save {name}` again keeps it"));
    }

    /// Gives what was measured its name.
    pub fn save(self, name: &str, machine: &Machine, records: &[Record]) -> Result<(), Problem> {
        if has_failure(records) {
            self.leave(name, "a kernel that fails is nothing to compare with");
            return Ok(());
        }
        let is_measured = |record: &&Record| record.status == Status::Ok && !is_limit(&record.implementation);
        let measured: Vec<&Record> = records.iter().filter(is_measured).collect();
        let mut runners = Vec::new();
        for (spec, kind, path, artefact) in self.artefacts {
            let Some(record) = measured.iter().find(|record| record.provenance.runner == spec.name) else {
                continue;
            };
            if kept(name, kind, &path, &self.shelf)? != artefact {
                let why = format!(
                    "baseline `{name}` was not kept: `{}` has changed during the run",
                    path.display()
                );
                return Err(Problem::own(why).with_hint("run it again, and leave the file alone meanwhile"));
            }
            let version = record.provenance.runner_version.clone();
            let environment = environment::of(&artefact, &path, &spec);
            runners.push(Kept { runner: spec.name, version, artefact, environment, variables: spec.asked });
        }
        let count = runners.len();
        self.shelf.save(name, &Baseline::new(now(), machine.fingerprint(), runners))?;
        let what = if count == 1 { "runner" } else { "runners" };
        tell(&format!(
            "baseline `{name}` is kept: {count} {what}; `roofline run --baseline {name}` measures it again"
        ));
        Ok(())
    }
}

/// Adds the runners of a baseline to those that take part, for those of the plan; answers with what each is called, and whose
/// older self it is.
pub fn join(
    name: &str,
    store: &Path,
    machine: &Machine,
    lineup: &mut Lineup,
    plan: &Plan,
    limits: Limits,
) -> Result<Vec<(String, String)>, Problem> {
    check_name(name, lineup)?;
    let shelf = Shelf::beside(store);
    let baseline = shelf.usable(name, &machine.fingerprint())?;
    for offers in &lineup.offers {
        let is_kept = baseline.runners.iter().any(|kept| kept.runner == offers.runner);
        if plan.has_rows_of(&offers.runner) && !is_kept {
            tell(&format!("baseline `{name}` has no runner `{}`: its rows are left out", offers.runner));
        }
    }
    let program = places::program()?;
    let mut pairs = Vec::new();
    for side in sides(name, &baseline, &shelf.vault())? {
        if !lineup.offers.iter().any(|offers| offers.runner == side.key) {
            continue;
        }
        let called =
            if baseline.runners.len() == 1 { name.to_owned() } else { format!("{name}-{}", side.key) };
        let spec = side.spec.clone().as_side(&called);
        let hello = ask(&program, &spec, limits)
            .map_err(|why| damaged(name, &format!("runner `{}` does not start any more: {why}", side.key)))?;
        side.check_version(&hello)
            .and_then(|()| lineup.add(spec, hello))
            .map_err(|why| damaged(name, &why))?;
        pairs.push((called, side.key));
    }
    Ok(pairs)
}

/// What to say where a baseline has no row of what is planned.
pub fn nothing_selected(name: &str, store: &Path) -> Problem {
    let kept = Shelf::beside(store).read(name).map(|baseline| baseline.runners).unwrap_or_default();
    let has: Vec<String> = kept.iter().map(|kept| format!("`{}`", kept.runner)).collect();
    let hint = format!("it has {}; `--lib`, `--python` and `--runner` name others", has.join(", "));
    Problem::nothing(format!("baseline `{name}` has nothing of what is selected"), hint)
}

/// One runner of a side of a comparison.
pub struct Side {
    /// What tells it from the others of its side: its name as a runner.
    pub key: String,
    /// What it said of itself when it was kept, of one that was.
    pub version: Option<String>,
    pub spec: RunnerSpec,
}

impl Side {
    /// Whether what was kept is still what runs.
    pub fn check_version(&self, hello: &Hello) -> Result<(), String> {
        match &self.version {
            Some(then) if *then != hello.version => Err(format!(
                "`version` of runner `{}` was {then} when it was kept, and is {} now",
                self.key, hello.version
            )),
            _ => Ok(()),
        }
    }
}

/// The runners of a baseline.
pub fn sides(name: &str, baseline: &Baseline, vault: &Path) -> Result<Vec<Side>, Problem> {
    let tools = tools()?;
    let side = |of: &Kept| {
        let path = of.artefact.path(vault);
        let mut spec = tools.runner(of.artefact.kind, &path).map_err(|why| damaged(name, &why))?;
        spec.asked.clone_from(&of.variables);
        let now = environment::of(&of.artefact, &path, &spec);
        if let Some(why) = environment::difference(&of.environment, &now) {
            return Err(damaged(name, &format!("runner `{}`: {why}", of.runner)));
        }
        Ok(Side { key: of.runner.clone(), version: Some(of.version.clone()), spec })
    };
    baseline.runners.iter().map(side).collect()
}

fn damaged(name: &str, why: &str) -> Problem {
    Unusable::Damaged { name: name.to_owned(), why: why.to_owned() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_somebody_s_to_change_is_kept_as_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.cu");
        std::fs::write(&file, "").unwrap();
        let program = Path::new("/bin/true");
        let kind = |spec: &RunnerSpec| source(spec, program).map(|(kind, _)| kind);
        assert_eq!(kind(&RunnerSpec::cuda_file(program, "mine", &file).unwrap()), Some(Kind::Cuda));
        assert_eq!(kind(&RunnerSpec::built_in(program)), Some(Kind::House));
        assert_eq!(kind(&RunnerSpec::built_in_cuda(program)), Some(Kind::HouseCuda));
        let mut peer = RunnerSpec::built_in(program);
        folder.path().clone_into(&mut peer.folder);
        assert_eq!(kind(&peer), None);
    }
}
