//! Baselines: bench binaries kept under a name. Stored numbers cannot decide, so what is stored is what is measured.

use crate::mistake::Mistake;
use roofline_core::names::{RESERVED, is_kebab};
use roofline_core::nearest::nearest;
use roofline_run::artefact::{Artefact, Kind};
use roofline_run::baseline::{Kept, Shelf};
use roofline_run::environment::Environment;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where a bench keeps its things: below cargo's target folder.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) program: PathBuf,
    folder: PathBuf,
    /// The bench target, as cargo names it.
    pub(crate) bench: String,
    provider: String,
}

impl Home {
    pub(crate) fn of(program: &Path, provider: &str) -> Home {
        let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let target = target_of(program).unwrap_or_else(|| PathBuf::from("target"));
        Home {
            program: program.to_owned(),
            folder: target.join("roofline"),
            bench: bench_name(&stem).to_owned(),
            provider: provider.to_owned(),
        }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join("roofline.db")
    }

    /// The shelf that `roofline baselines` shows as well.
    fn shelf(&self) -> Shelf {
        Shelf::beside(&self.store())
    }

    /// What this bench is called there. Benches of several crates may share a target folder.
    fn key(&self) -> String {
        let bench = self.bench.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        format!("{}-{}", self.provider, bench.trim_matches('-'))
    }

    /// Baselines that have this bench.
    fn names(&self) -> Vec<String> {
        let has = |name: &String| {
            let read = self.shelf().read(name);
            read.is_ok_and(|baseline| baseline.runners.iter().any(|kept| kept.runner == self.key()))
        };
        self.shelf().names().into_iter().filter(has).collect()
    }

    /// The binary that was kept under a name.
    pub(crate) fn baseline(&self, name: &str, machine: &str) -> Result<PathBuf, Mistake> {
        let names = self.names();
        if names.iter().any(|known| known == name) {
            let shelf = self.shelf();
            let baseline = shelf.usable(name, machine).map_err(|why| Mistake::of_baseline(&why))?;
            let own = baseline.runners.iter().find(|kept| kept.runner == self.key());
            if let Some(kept) = own {
                return Ok(kept.artefact.path(&shelf.vault()));
            }
        }
        let hint = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => {
                format!("there is none yet; `cargo bench -- --save-baseline {name}` keeps this binary")
            }
            None => format!("there are {}", names.join(", ")),
        };
        Err(Mistake::usage(format!("there is no baseline `{name}` of `{}`", self.bench), hint))
    }

    /// Keeps this binary.
    pub(crate) fn save(&self, name: &str, machine: &str) -> Result<PathBuf, Mistake> {
        let shelf = self.shelf();
        let artefact = Artefact::keep(Kind::Bench, &self.program, &shelf.vault())
            .map_err(|error| Mistake::own(format!("baseline `{name}`: {error}")))?;
        let path = artefact.path(&shelf.vault());
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let kept = Kept {
            runner: self.key(),
            version,
            artefact,
            environment: Environment::new(),
            variables: BTreeMap::new(),
        };
        shelf.add(name, machine, kept).map_err(|why| Mistake::of_baseline(&why))?;
        Ok(path)
    }
}

/// A baseline's name stands before the slash of its rows.
pub(crate) fn check_name(name: &str, provider: &str) -> Result<(), Mistake> {
    if !is_kebab(name) || RESERVED.contains(&name) || name == provider {
        let hint = format!(
            "write lowercase letters, digits and `-`; `{provider}` and {} have another meaning",
            RESERVED.map(|name| format!("`{name}`")).join(", ")
        );
        return Err(Mistake::usage(format!("a baseline cannot be called `{name}`"), hint));
    }
    Ok(())
}

/// The nearest folder above a binary that cargo has marked as its own.
fn target_of(program: &Path) -> Option<PathBuf> {
    program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).map(Path::to_owned)
}

/// `kernels` for `kernels-0123456789abcdef`.
fn bench_name(stem: &str) -> &str {
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => name,
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_hash_of_a_binary_is_not_its_name() {
        assert_eq!(bench_name("kernels-0123456789abcdef"), "kernels");
        assert_eq!(bench_name("my-kernels"), "my-kernels");
        assert_eq!(bench_name("kernels"), "kernels");
    }

    #[test]
    fn names_that_would_be_mistaken_for_others_are_refused() {
        assert!(check_name("main", "mine").is_ok());
        for name in ["mine", "cpu", "limit", "Main", "a/b", "..", ""] {
            assert!(check_name(name, "mine").is_err(), "{name}");
        }
    }

    #[test]
    fn a_baseline_is_a_copy_of_the_binary_and_a_missing_one_is_told_from_those_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("kernels");
        fs::write(&program, "binary").unwrap();
        let home = Home {
            program,
            folder: folder.path().join("roofline"),
            bench: "kernels".to_owned(),
            provider: "mine".to_owned(),
        };
        let home = &home;
        let told = |name: &str| format!("{:?}", home.baseline(name, "here").unwrap_err());
        assert!(told("main").contains("--save-baseline main"));
        let kept = home.save("main", "here").unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "binary");
        assert_eq!(home.baseline("main", "here").unwrap(), kept);
        assert!(told("man").contains("did you mean `main`") && told("release").contains("there are main"));
        assert!(format!("{:?}", home.baseline("main", "there").unwrap_err()).contains("another machine"));
        // Another bench of the same name joins it, and the same one takes its place.
        let other = Home { bench: "More_Kernels".to_owned(), ..home.clone() };
        other.save("main", "here").unwrap();
        fs::write(&home.program, "anew").unwrap();
        let kept = home.save("main", "here").unwrap();
        assert_eq!(fs::read_to_string(home.baseline("main", "here").unwrap()).unwrap(), "anew");
        assert_eq!(home.shelf().read("main").unwrap().runners.len(), 2);
        fs::write(kept, "a").unwrap();
        assert!(told("main").contains("has 1 of its 4 bytes"));
    }
}
