//! Revisions that have to be built: both at one and the same path, one after the other.

use super::benches::{self, Bench};
use super::sides::{self, Given};
use crate::args::Ab;
use crate::commands::kept::Side;
use crate::error::{Problem, tell};
use roofline_run::artefact::{Artefact, Kind};
use roofline_run::baseline::own_folder;
use roofline_run::checkout::{Repository, Tree, forget_repository};
use roofline_run::project::{Build, FILE, Project, ProjectError};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// What one side is made of.
pub enum Made {
    Runners(Vec<Side>),
    Benches(Vec<Bench>),
}

/// Where revisions are put and built, beside the store.
pub fn folder(args: &Ab) -> PathBuf {
    own_folder(&args.store).join("build")
}

/// Builds revisions of the repository at hand. As long as it is there no other builds at the same place.
pub struct Builder {
    folder: PathBuf,
    repository: Option<Repository>,
    /// What the working tree says of how to build; a revision may say otherwise.
    now: Project,
    _lock: Option<File>,
}

impl Builder {
    pub fn new(given: &[Given; 2], args: &Ab) -> Result<Builder, Problem> {
        let folder = folder(args);
        let is_needed = given.iter().any(|one| matches!(one, Given::Revision(_)));
        let lock = is_needed.then(|| lock(&folder)).transpose().map_err(|error| of_files(&folder, &error))?;
        let now =
            if is_needed { Project::read(Path::new(".")).map_err(of_project)? } else { Project::default() };
        Ok(Builder { folder, repository: Repository::of(Path::new(".")), now, _lock: lock })
    }

    /// Checks a revision out, builds it, and takes what it makes out of the next one's way.
    pub fn build(&self, tree: &Tree, word: &str) -> Result<Made, Problem> {
        let Some(repository) = &self.repository else {
            return Err(Problem::own("the repository is gone"));
        };
        let check_out = || {
            let hint = "`old` and `new` are built in the folder that the command is given in";
            let at = repository.check_out(tree, &self.folder);
            at.map_err(|why| Problem::usage(format!("side `{word}`: {why}"), hint))
        };
        let at = check_out()?;
        tell(&format!("building `{word}`"));
        let then = Project::read(&at).map_err(of_project)?;
        match then.build.as_ref().or(self.now.build.as_ref()) {
            Some(Build::Command { line, artefacts }) => {
                // What the other side has made is not to be taken for this one's; what no build makes comes back.
                for made in artefacts.iter().map(|path| at.join(path)).filter(|made| made.is_file()) {
                    fs::remove_file(&made).map_err(|error| of_files(&made, &error))?;
                }
                check_out()?;
                self.by_command(line, artefacts, &at, word)
            }
            Some(Build::Cargo(words)) => {
                benches::build(&at, words, &self.folder.join(word)).map(Made::Benches)
            }
            None if at.join("Cargo.toml").is_file() => {
                benches::build(&at, &[], &self.folder.join(word)).map(Made::Benches)
            }
            None => {
                let hint = format!(
                    "write a {FILE}: `[build]`, `command = \"make\"`, `artefacts = [\"kernels.so\"]`"
                );
                Err(Problem::usage(
                    "it is not said how to build the repository, and it has no Cargo.toml",
                    hint,
                ))
            }
        }
    }

    fn by_command(&self, line: &str, artefacts: &[PathBuf], at: &Path, word: &str) -> Result<Made, Problem> {
        let mut command = Command::new("sh");
        // Standard output is for the result: what a build says is no part of it.
        command.args(["-c", line]).current_dir(at).stdout(io::stderr());
        let status = forget_repository(&mut command).status();
        check(status, line, word)?;
        let mut runners = Vec::new();
        for path in artefacts {
            let made = at.join(path);
            let shown = path.display();
            let Some(kind) = Kind::of(&made) else {
                let why = format!("`{line}` has not made `{shown}`, or it is nothing that can be measured");
                let hint = "artefacts are shared libraries, Python files, CUDA files, folders with a runner.toml, or a roofline binary";
                return Err(Problem::usage(why, hint));
            };
            let vault = self.folder.join(word);
            let kept = Artefact::keep(kind, &made, &vault).map_err(|error| of_files(&made, &error))?;
            let key = key(path);
            if runners.iter().any(|other: &Side| other.key == key) {
                let why = format!("two artefacts would be called `{key}`; one is `{shown}`");
                return Err(Problem::usage(why, "give one another name"));
            }
            runners.push(Side { key, version: None, spec: sides::spec(kind, &kept.path(&vault))? });
        }
        Ok(Made::Runners(runners))
    }
}

/// What tells the artefacts of a build apart, as a part of a runner's name.
fn key(path: &Path) -> String {
    let text = path.with_extension("").display().to_string().to_lowercase();
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}

/// Waits for whoever builds at the same place, and removes what was kept of earlier comparisons.
fn lock(folder: &Path) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let file = File::create(folder.join("lock"))?;
    if file.try_lock().is_err() {
        tell("another comparison builds at the same place; waiting for it to end");
        file.lock()?;
    }
    for word in [super::OLD, super::NEW] {
        match fs::remove_dir_all(folder.join(word)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(file)
}

/// Whether a build came to its end.
pub fn check(status: io::Result<ExitStatus>, command: &str, word: &str) -> Result<(), Problem> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let why = format!("`{word}` cannot be built: `{command}` ended with {status}");
            Err(Problem::usage(why, "what it said stands above"))
        }
        Err(error) => {
            Err(Problem::usage(format!("`{command}` cannot be started: {error}"), "is it installed?"))
        }
    }
}

fn of_files(path: &Path, error: &io::Error) -> Problem {
    Problem::own(format!("`{}`: {error}", path.display()))
}

fn of_project(error: ProjectError) -> Problem {
    Problem::usage(
        error.to_string(),
        format!("`roofline init` in an empty folder writes a {FILE} with all that it may hold"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artefacts_are_told_apart_by_their_paths() {
        assert_eq!(key(Path::new("build/My_kernels.so")), "build-my-kernels");
        assert_eq!(key(Path::new("kernels.py")), "kernels");
    }
}
