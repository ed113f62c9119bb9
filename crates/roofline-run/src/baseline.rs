//! Baselines: what a run measured, kept under a name to be measured again beside what comes after it.
//!
//! In the store's folder `.roofline` lie `baselines/NAME.json`, which says what belongs to a baseline, and `artefacts/`, the files by their
//! content: two baselines that share some keep them once.

use crate::artefact::{Artefact, Kind};
use crate::environment::Environment;
use crate::now;
use roofline_core::names::is_kebab;
use roofline_core::nearest::nearest;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The form of `NAME.json` that this version writes and reads.
const SCHEMA: u32 = 1;

/// What was kept under a name, and where it ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    pub schema: u32,
    /// RFC 3339.
    pub saved: String,
    /// The machine's fingerprint: what was built for another may not run, and nobody measured it here.
    pub machine: String,
    pub runners: Vec<Kept>,
}

/// One runner of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// What it was called in the run.
    pub runner: String,
    /// What it said of itself: the version of its library, say.
    pub version: String,
    pub artefact: Artefact,
    /// What it needed beside its files; baselines of before do not say.
    #[serde(default)]
    pub environment: Environment,
    /// What the command line had added to the variables of its process.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
}

/// Where baselines lie.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
}

/// Why there is no such baseline to compare with, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    #[error("there is no baseline `{name}`")]
    Absent { name: String, hint: String },
    #[error("a baseline cannot be called `{0}`")]
    Name(String),
    #[error("baseline `{name}`: {why}")]
    Damaged { name: String, why: String },
    #[error("baseline `{name}`: its schema is {found}, and this version knows {SCHEMA}")]
    Version { name: String, found: u64 },
    #[error("baseline `{name}` was kept on another machine: `machine` is {then} there and {now} here")]
    Machine { name: String, then: String, now: String },
    #[error("baseline `{name}`: {source}")]
    Io { name: String, source: io::Error },
}

impl Unusable {
    pub fn hint(&self) -> String {
        match self {
            Unusable::Absent { hint, .. } => hint.clone(),
            Unusable::Name(_) => "write lowercase letters, digits and `-`".to_owned(),
            Unusable::Damaged { name, .. } => {
                format!(
                    "keep it again by `roofline run --save {name}`; `roofline baselines remove {name}` forgets it"
                )
            }
            Unusable::Version { .. } => {
                "use the version of Roofline that kept it, or keep it again".to_owned()
            }
            Unusable::Machine { .. } => {
                "keep one here; times of two machines say nothing together".to_owned()
            }
            Unusable::Io { .. } => "look at the folder `baselines` beside the store".to_owned(),
        }
    }
}

impl Shelf {
    /// The baselines beside a store.
    pub fn beside(store: &Path) -> Shelf {
        Shelf { folder: own_folder(store) }
    }

    /// Where files lie by their content.
    pub fn vault(&self) -> PathBuf {
        self.folder.join("artefacts")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join("baselines").join(format!("{name}.json"))
    }

    /// Names of the baselines there are, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.join("baselines")).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| {
            Some(entry.file_name().to_str()?.strip_suffix(".json")?.to_owned()).filter(|name| is_kebab(name))
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Keeps runners under a name, all or nothing; an older baseline of the name stays until then.
    pub fn save(&self, name: &str, baseline: &Baseline) -> Result<(), Unusable> {
        check_name(name)?;
        let path = self.file(name);
        let write = || {
            fs::create_dir_all(self.folder.join("baselines"))?;
            let fresh = path.with_extension(format!("{}.new", std::process::id()));
            let text = serde_json::to_string_pretty(baseline).map_err(io::Error::other)?;
            let written = fs::write(&fresh, text + "\n").and_then(|()| fs::rename(&fresh, &path));
            written.inspect_err(|_| drop(fs::remove_file(&fresh)))
        };
        write().map_err(|source| Unusable::Io { name: name.to_owned(), source })
    }

    /// Keeps one more runner under a name, in the place of an older one that is called so; what was kept on another machine, or
    /// cannot be read, makes room for it.
    pub fn add(&self, name: &str, machine: &str, kept: Kept) -> Result<(), Unusable> {
        check_name(name)?;
        let there = self.read(name).ok().filter(|there| there.machine == machine);
        let mut runners = there.map(|there| there.runners).unwrap_or_default();
        runners.retain(|older| older.runner != kept.runner);
        runners.push(kept);
        self.save(name, &Baseline::new(now(), machine.to_owned(), runners))?;
        self.sweep();
        Ok(())
    }

    /// A baseline as its file says, whether it can be used or not.
    pub fn read(&self, name: &str) -> Result<Baseline, Unusable> {
        check_name(name)?;
        let text = fs::read_to_string(self.file(name)).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => self.absent(name),
            _ => Unusable::Io { name: name.to_owned(), source },
        })?;
        let damaged =
            |error: serde_json::Error| Unusable::Damaged { name: name.to_owned(), why: error.to_string() };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(damaged)?;
        match value.get("schema").and_then(serde_json::Value::as_u64) {
            Some(found) if found != u64::from(SCHEMA) => {
                return Err(Unusable::Version { name: name.to_owned(), found });
            }
            _ => {}
        }
        let baseline: Baseline = serde_json::from_value(value).map_err(damaged)?;
        let mut names = BTreeSet::new();
        match baseline.runners.iter().find(|kept| !is_kebab(&kept.runner) || !names.insert(&kept.runner)) {
            Some(kept) => {
                let why = format!("a runner is called {:?}, or two are", kept.runner);
                Err(Unusable::Damaged { name: name.to_owned(), why })
            }
            None => Ok(baseline),
        }
    }

    /// A baseline that can be measured on this machine: all of its files are there as they were kept.
    pub fn usable(&self, name: &str, machine: &str) -> Result<Baseline, Unusable> {
        let baseline = self.read(name)?;
        if baseline.machine != machine {
            let (then, now) = (baseline.machine, machine.to_owned());
            return Err(Unusable::Machine { name: name.to_owned(), then, now });
        }
        for kept in &baseline.runners {
            let why = |why| Unusable::Damaged {
                name: name.to_owned(),
                why: format!("runner `{}`: {why}", kept.runner),
            };
            kept.artefact.check(&self.vault()).map_err(why)?;
        }
        Ok(baseline)
    }

    /// Forgets a baseline, and the files that no other one has.
    pub fn remove(&self, name: &str) -> Result<(), Unusable> {
        check_name(name)?;
        fs::remove_file(self.file(name)).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => self.absent(name),
            _ => Unusable::Io { name: name.to_owned(), source },
        })?;
        self.sweep();
        Ok(())
    }

    /// Removes files that no baseline has. One that cannot be read may have any: then all stay.
    fn sweep(&self) {
        let mut used = BTreeSet::new();
        for name in self.names() {
            let Ok(baseline) = self.read(&name) else { return };
            used.extend(baseline.runners.iter().map(|kept| kept.artefact.id()));
        }
        for entry in fs::read_dir(self.vault()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_content = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_content && !used.contains(&name) {
                // What is left behind takes room and does no harm.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn absent(&self, name: &str) -> Unusable {
        let names = self.names();
        let hint = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => format!("there is none yet; `roofline run --save {name}` keeps one"),
            None => format!("there are {}", names.join(", ")),
        };
        Unusable::Absent { name: name.to_owned(), hint }
    }
}

impl Baseline {
    pub fn new(saved: String, machine: String, runners: Vec<Kept>) -> Baseline {
        Baseline { schema: SCHEMA, saved, machine, runners }
    }

    pub fn bytes(&self) -> u64 {
        self.runners.iter().fold(0, |sum, kept| sum.saturating_add(kept.artefact.bytes()))
    }
}

impl Kept {
    /// What kind of thing it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self.artefact.kind {
            Kind::Library => "library",
            Kind::Python => "Python file",
            Kind::Runner => "runner folder",
            Kind::Cuda => "CUDA file",
            Kind::House => "kernels of the house",
            Kind::HouseCuda => "CUDA kernels of the house",
            Kind::Bench => "bench",
        }
    }
}

/// The folder `.roofline` beside a store, or the one that it lies in: nobody else keeps anything there. From the root, for
/// what lies there is started from elsewhere.
pub fn own_folder(store: &Path) -> PathBuf {
    const NAME: &str = ".roofline";
    let beside = store.parent().unwrap_or(Path::new("."));
    let own = if beside.ends_with(NAME) { beside.to_owned() } else { beside.join(NAME) };
    std::path::absolute(&own).unwrap_or(own)
}

/// Whether a baseline can have this name.
pub fn check_name(name: &str) -> Result<(), Unusable> {
    // A name stands before the slash of rows, where `old` and `new` are the sides of `ab`.
    let is_taken = roofline_conductor::runners::RESERVED.contains(&name) || ["old", "new"].contains(&name);
    if is_kebab(name) && !is_taken { Ok(()) } else { Err(Unusable::Name(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf() -> (tempfile::TempDir, Shelf) {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::beside(&folder.path().join("roofline.db"));
        (folder, shelf)
    }

    fn baseline(shelf: &Shelf, folder: &Path, content: &str) -> Baseline {
        let file = folder.join("mine.so");
        fs::write(&file, content).unwrap();
        let artefact = Artefact::keep(Kind::Library, &file, &shelf.vault()).unwrap();
        let kept = Kept {
            runner: "mine".to_owned(),
            version: "1".to_owned(),
            artefact,
            environment: Environment::new(),
            variables: BTreeMap::new(),
        };
        Baseline::new("2026-11-17T00:00:00Z".to_owned(), "here".to_owned(), vec![kept])
    }

    #[test]
    fn what_is_kept_comes_back_and_what_nobody_has_is_swept() {
        let (folder, shelf) = shelf();
        let (first, second) =
            (baseline(&shelf, folder.path(), "one"), baseline(&shelf, folder.path(), "two"));
        shelf.save("main", &first).unwrap();
        shelf.save("next", &second).unwrap();
        shelf.save("again", &second).unwrap();
        assert_eq!(shelf.names(), ["again", "main", "next"]);
        assert_eq!(shelf.usable("main", "here").unwrap(), first);
        shelf.remove("next").unwrap();
        assert_eq!(shelf.usable("again", "here").unwrap(), second);
        shelf.remove("again").unwrap();
        assert_eq!(fs::read_dir(shelf.vault()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_compared_with_is_refused_with_the_reason() {
        let (folder, shelf) = shelf();
        shelf.save("main", &baseline(&shelf, folder.path(), "one")).unwrap();
        let told = |name: &str, machine: &str| shelf.usable(name, machine).unwrap_err();
        assert!(told("main", "there").to_string().contains("`machine` is here there and there here"));
        assert!(told("man", "here").hint().contains("did you mean `main`"));
        for name in ["", "..", "a/b", "Main", "cpu", "old"] {
            assert!(matches!(told(name, "here"), Unusable::Name(_)), "{name}");
        }
        let kept = shelf.read("main").unwrap().runners[0].artefact.path(&shelf.vault());
        fs::write(kept, "o").unwrap();
        assert!(told("main", "here").to_string().contains("runner `mine`: `mine.so` has 1 of its 3 bytes"));
        let file = shelf.file("main");
        let text = fs::read_to_string(&file).unwrap();
        for (text, part) in [
            (text.replace("\"schema\": 1", "\"schema\": 9"), "its schema is 9"),
            (text.replace("\"saved\"", "\"kept\""), "unknown field `kept`"),
            (text.replace("\"runner\": \"mine\"", "\"runner\": \"a\\u001bb\""), "a runner is called"),
            (text[..40].to_owned(), "EOF"),
            (String::new(), "EOF"),
        ] {
            fs::write(&file, &text).unwrap();
            assert!(told("main", "here").to_string().contains(part), "{}", told("main", "here"));
            assert_eq!(fs::read_to_string(&file).unwrap(), text, "nothing is overwritten");
        }
    }
}
