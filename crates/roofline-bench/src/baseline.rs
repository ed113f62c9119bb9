//! Baselines: bench binaries kept under a name. Stored numbers cannot decide, so what is stored is what is measured.

use crate::bench::RESERVED;
use crate::mistake::Mistake;
use roofline_core::names::is_kebab;
use roofline_core::nearest::nearest;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a bench keeps its things: below cargo's target folder.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) program: PathBuf,
    folder: PathBuf,
    /// The bench target, as cargo names it.
    pub(crate) bench: String,
    provider: String,
}

impl Home {
    pub(crate) fn find(provider: &str) -> Result<Home, Mistake> {
        let program = std::env::current_exe()
            .map_err(|error| Mistake::own(format!("the binary does not know its own path: {error}")))?;
        let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let target = target_of(&program).unwrap_or_else(|| PathBuf::from("target"));
        let bench = bench_name(&stem).to_owned();
        Ok(Home { program, folder: target.join("roofline"), bench, provider: provider.to_owned() })
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join("roofline.db")
    }

    fn baselines(&self) -> PathBuf {
        self.folder.join("baselines")
    }

    /// The binary of a baseline. Benches of several crates may share a target folder.
    fn binary(&self, name: &str) -> PathBuf {
        self.baselines().join(name).join(format!("{}-{}", self.provider, self.bench))
    }

    /// Baselines that have this bench.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.baselines()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| self.binary(name).is_file()).collect();
        names.sort();
        names
    }

    /// The binary that was kept under a name.
    pub(crate) fn baseline(&self, name: &str) -> Result<PathBuf, Mistake> {
        let names = self.names();
        if names.iter().any(|known| known == name) {
            return Ok(self.binary(name));
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

    /// Keeps this binary, and the table of the run beside it.
    pub(crate) fn save(&self, name: &str, table: &str) -> Result<PathBuf, Mistake> {
        let path = self.binary(name);
        let keep = || {
            fs::create_dir_all(self.baselines().join(name))?;
            // Another bench may be running the one that is there: it keeps its file, the name gets a new one.
            let fresh = path.with_extension("new");
            fs::copy(&self.program, &fresh)?;
            fs::rename(&fresh, &path)?;
            fs::write(path.with_extension("txt"), table)
        };
        keep().map_err(|error| Mistake::own(format!("baseline `{}`: {error}", path.display())))?;
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
        assert!(format!("{:?}", home.baseline("main").unwrap_err()).contains("--save-baseline main"));
        let kept = home.save("main", "the table").unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "binary");
        assert_eq!(fs::read_to_string(kept.with_extension("txt")).unwrap(), "the table");
        assert_eq!(home.baseline("main").unwrap(), kept);
        assert!(format!("{:?}", home.baseline("man").unwrap_err()).contains("did you mean `main`"));
        assert!(format!("{:?}", home.baseline("release").unwrap_err()).contains("there are main"));
    }
}
