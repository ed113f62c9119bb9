//! What OLD and NEW mean.

use super::benches::Bench;
use super::build::{self, Builder, Made};
use crate::args::Ab;
use crate::commands::kept::{self, Side};
use crate::error::{Problem, tell};
use roofline_conductor::machine::Machine;
use roofline_conductor::runners::RunnerSpec;
use roofline_core::nearest::nearest;
use roofline_run::artefact::Kind;
use roofline_run::baseline::Shelf;
use roofline_run::checkout::{Repository, Tree, WORKING_TREE};
use std::path::{Path, PathBuf};

/// What the command line names.
pub enum Given {
    Files(Kind, PathBuf),
    Saved(String),
    Revision(Tree),
}

/// Both sides: runners, or benches.
pub enum Both {
    Runners([Vec<Side>; 2]),
    Benches([Vec<Bench>; 2]),
}

impl Given {
    pub fn of(text: &str, args: &Ab) -> Result<Given, Problem> {
        let path = Path::new(text);
        if text != WORKING_TREE
            && let Some(kind) = Kind::of(path)
        {
            return Ok(Given::Files(kind, path.to_owned()));
        }
        let shelf = Shelf::beside(&args.store);
        let is_saved = shelf.names().iter().any(|name| name == text);
        let repository = Repository::of(Path::new("."));
        let tree = repository.as_ref().map(|repository| repository.tree(text, &build::folder(args)));
        match tree {
            Some(Ok(tree)) => {
                if is_saved {
                    tell(&format!("`{text}` is a git revision and a baseline: the revision is taken"));
                }
                Ok(Given::Revision(tree))
            }
            _ if is_saved => Ok(Given::Saved(text.to_owned())),
            Some(Err(why)) if text == WORKING_TREE => Err(Problem::own(why)),
            _ if text != WORKING_TREE && path.exists() => {
                let why = format!(
                    "`{text}` is neither a shared library, a Python file, a CUDA file nor a folder with a runner.toml"
                );
                let hint = "a library ends in `.so`; a repository is named by a revision, or by `.`";
                Err(Problem::usage(why, hint))
            }
            _ => {
                let names = shelf.names();
                let hint = match nearest(text, names.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean the baseline `{near}`?"),
                    None if repository.is_none() => {
                        "here is no git repository whose revisions could be meant".to_owned()
                    }
                    None => {
                        "`git log --oneline` shows revisions, `roofline baselines` what was kept".to_owned()
                    }
                };
                let why = format!("`{text}` is no file, no baseline and no git revision");
                Err(Problem::usage(why, hint))
            }
        }
    }
}

/// Both sides, built where they have to be: first the old one, then the new one at the same place.
pub fn make(given: &[Given; 2], builder: &Builder, args: &Ab, machine: &Machine) -> Result<Both, Problem> {
    let make = |one: &Given, word: &str| match one {
        Given::Files(kind, path) => Ok(Made::Runners(vec![file(*kind, path)?])),
        Given::Saved(name) => Ok(Made::Runners(saved(name, args, machine)?)),
        Given::Revision(tree) => builder.build(tree, word),
    };
    let [old, new] = given;
    match (make(old, super::OLD)?, make(new, super::NEW)?) {
        (Made::Runners(old), Made::Runners(new)) => Ok(Both::Runners([old, new])),
        (Made::Benches(old), Made::Benches(new)) => Ok(Both::Benches([old, new])),
        _ => {
            let hint = "name in roofline.toml what the repository builds, by `[build]`";
            Err(Problem::usage("a bench is compared with another build of it only", hint))
        }
    }
}

pub fn spec(kind: Kind, path: &Path) -> Result<RunnerSpec, Problem> {
    let hint = "`roofline run --lib`, `--python`, `--cuda` and `--runner` take the same files";
    kept::tools()?.runner(kind, path).map_err(|why| Problem::usage(why, hint))
}

/// A file or folder that the command line names, called as `run` calls it.
fn file(kind: Kind, path: &Path) -> Result<Side, Problem> {
    let spec = spec(kind, path)?;
    let named = match kind {
        Kind::Library => roofline_runner::library::provider(path),
        Kind::Cuda => path.file_stem().map(|stem| stem.to_string_lossy().replace('_', "-")),
        _ => None,
    };
    Ok(Side { key: named.unwrap_or_else(|| spec.name.clone()), version: None, spec })
}

fn saved(name: &str, args: &Ab, machine: &Machine) -> Result<Vec<Side>, Problem> {
    let shelf = Shelf::beside(&args.store);
    kept::sides(name, &shelf.usable(name, &machine.fingerprint())?, &shelf.vault())
}

/// Two runners that belong together, with what each is called in the run.
pub struct Pair {
    pub old: (String, Side),
    pub new: (String, Side),
}

/// The runners that belong together: by name, unless each side has one, which then go by the name of the side alone. With a line
/// for each that one side has alone.
pub fn pair(mut old: Vec<Side>, new: Vec<Side>) -> Result<(Vec<Pair>, Vec<String>), Problem> {
    if old.len() == 1 && new.len() == 1 {
        let alone = old.into_iter().zip(new);
        let pair = |(old, new)| Pair { old: (super::OLD.to_owned(), old), new: (super::NEW.to_owned(), new) };
        return Ok((alone.map(pair).collect(), Vec::new()));
    }
    let (mut pairs, mut lines) = (Vec::new(), Vec::new());
    for side in new {
        match old.iter().position(|older| older.key == side.key) {
            Some(at) => {
                let called = |word: &str| format!("{word}-{}", side.key);
                pairs.push(Pair {
                    old: (called(super::OLD), old.remove(at)),
                    new: (called(super::NEW), side),
                });
            }
            None => lines.push(format!("`{}` is new: there is nothing to compare it with", side.key)),
        }
    }
    lines.extend(old.iter().map(|gone| format!("`{}` is gone: the new side has no such runner", gone.key)));
    if pairs.is_empty() {
        lines.iter().for_each(|line| tell(line));
        return Err(Problem::nothing("the two sides have nothing in common", "name two of one kind"));
    }
    Ok((pairs, lines))
}
