//! What is measured, as files: what a comparison with the past keeps, because stored numbers cannot decide.

use crate::environment::linked;
use roofline_conductor::runners::{self, RunnerSpec};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The most that one artefact may take.
const MOST_BYTES: u64 = 1 << 30;
/// Folders that are made by running, and not part of what is run.
const PASSING: [&str; 3] = ["__pycache__", ".roofline", ".git"];

/// How files are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A shared library with kernels by `roofline.h`.
    Library,
    /// A Python file with decorated functions, and what it imports from its own folder.
    Python,
    /// A folder with a `runner.toml`.
    Runner,
    /// A CUDA source, or a cubin with the file that says how it is launched.
    Cuda,
    /// A roofline binary, for the kernels of the house.
    House,
    /// The same, for those on a GPU.
    HouseCuda,
    /// A bench binary of a crate, which is its own runner.
    Bench,
}

impl Kind {
    /// What a path is, by its name and by what lies there.
    pub fn of(path: &Path) -> Option<Kind> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            _ if path.join("runner.toml").is_file() => Some(Kind::Runner),
            _ if path.is_file() && is_library(path) => Some(Kind::Library),
            Some("py") if path.is_file() => Some(Kind::Python),
            Some("cu" | "cubin") if path.is_file() => Some(Kind::Cuda),
            _ if path.is_file() && path.file_name().is_some_and(|name| name == "roofline") => {
                Some(Kind::House)
            }
            _ => None,
        }
    }
}

/// Whether a file is named as shared libraries are: `mine.so`, `libmine.so.1`.
fn is_library(path: &Path) -> bool {
    let name = file_name(path);
    name.ends_with(".so") || name.contains(".so.")
}

/// What starts runners, wherever their files lie.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The roofline binary.
    pub program: PathBuf,
    /// The folder of the package `roofline_runner`.
    pub sdk: PathBuf,
}

impl Tools {
    /// The runner that a file or folder is, to be a side of a comparison.
    pub fn runner(&self, kind: Kind, path: &Path) -> Result<RunnerSpec, String> {
        // It is started from a folder of its own.
        let path = &std::path::absolute(path).map_err(|error| format!("`{}`: {error}", path.display()))?;
        match kind {
            // It is a side of a comparison, and called so.
            Kind::Library => RunnerSpec::library(&self.program, "library", path)
                .map_err(|error| format!("`{}`: {error}", path.display())),
            Kind::Python => RunnerSpec::of_python_file(path, &self.sdk).map_err(|error| error.to_string()),
            Kind::Runner => {
                let binaries = self.program.parent().unwrap_or(Path::new("."));
                runners::read(path, binaries).map_err(|error| error.to_string())
            }
            Kind::Cuda => RunnerSpec::cuda_file(&self.program, "cuda-file", path)
                .map_err(|error| format!("`{}`: {error}", path.display())),
            Kind::House => Ok(RunnerSpec::built_in(path)),
            Kind::HouseCuda => Ok(RunnerSpec::built_in_cuda(path)),
            Kind::Bench => {
                Err(format!("`{}` is a bench: `cargo bench -- --baseline` measures it", path.display()))
            }
        }
    }
}

/// Files that are measured, by content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artefact {
    pub kind: Kind,
    /// The file among them that is run; empty for a folder as a whole.
    pub main: String,
    /// Hash and length of each, by its path.
    pub files: BTreeMap<String, Content>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    pub hash: String,
    pub bytes: u64,
}

impl Artefact {
    /// Copies what a path is made of below `vault`, into a folder that is named by the content.
    pub fn keep(kind: Kind, path: &Path, vault: &Path) -> io::Result<Artefact> {
        let (folder, names) = parts(kind, path)?;
        let mut files = BTreeMap::new();
        for name in names {
            files.insert(name.clone(), Content::of(&folder.join(&name))?);
        }
        let main = match kind {
            Kind::Runner => String::new(),
            _ => file_name(path),
        };
        let artefact = Artefact { kind, main, files };
        if artefact.bytes() > MOST_BYTES {
            return Err(io::Error::other(format!("`{}` is larger than a gibibyte", path.display())));
        }
        let kept = vault.join(artefact.id());
        if artefact.check(vault).is_err() {
            // A name that has all of its content, or is not there: who is killed meanwhile leaves no half of it.
            let fresh = vault.join(format!("{}.{}.new", artefact.id(), std::process::id()));
            for name in artefact.files.keys() {
                let to = fresh.join(name);
                fs::create_dir_all(to.parent().unwrap_or(&fresh))?;
                fs::copy(folder.join(name), to)?;
            }
            let _ = fs::remove_dir_all(&kept);
            fs::rename(&fresh, &kept)?;
        }
        Ok(artefact)
    }

    /// A name made of the content.
    pub fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{:?} {}\n", self.kind, self.main).as_bytes());
        for (name, content) in &self.files {
            hasher.update(format!("{name} {}\n", content.hash).as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }

    pub fn bytes(&self) -> u64 {
        self.files.values().fold(0, |sum, content| sum.saturating_add(content.bytes))
    }

    /// Where its file or folder lies below a vault.
    pub fn path(&self, vault: &Path) -> PathBuf {
        let folder = vault.join(self.id());
        if self.main.is_empty() { folder } else { folder.join(&self.main) }
    }

    /// Whether all of it is there as it was kept; else what is not.
    pub fn check(&self, vault: &Path) -> Result<(), String> {
        // What it says comes from a file that anybody may have written.
        let main = if self.kind == Kind::Runner { "runner.toml" } else { &self.main };
        if !self.files.contains_key(main) || self.kind == Kind::Runner && !self.main.is_empty() {
            return Err("it has not the file that is run".to_owned());
        }
        let folder = vault.join(self.id());
        for (name, content) in &self.files {
            if !is_below(name) {
                return Err(format!("`{name}` is no name of a kept file"));
            }
            match Content::of(&folder.join(name)) {
                Ok(found) if found == *content => {}
                Ok(found) if found.bytes != content.bytes => {
                    return Err(format!("`{name}` has {} of its {} bytes", found.bytes, content.bytes));
                }
                Ok(_) => return Err(format!("`{name}` is another one than was kept")),
                Err(error) => return Err(format!("`{name}`: {error}")),
            }
        }
        Ok(())
    }
}

impl Content {
    fn of(path: &Path) -> io::Result<Content> {
        let mut hasher = blake3::Hasher::new();
        let bytes = io::copy(&mut fs::File::open(path)?, &mut hasher)?;
        Ok(Content { hash: hasher.finalize().to_hex().to_string(), bytes })
    }
}

/// A hash of a file's content.
pub(crate) fn hash(path: &Path) -> io::Result<String> {
    Content::of(path).map(|content| content.hash)
}

/// Whether a name is that of a file below a folder.
fn is_below(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folder of a path, and the files in it that belong to the artefact.
fn parts(kind: Kind, path: &Path) -> io::Result<(PathBuf, Vec<String>)> {
    // A link keeps its name: that is what the rest of the artefact knows it by.
    let path = std::path::absolute(path)?;
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    match kind {
        Kind::House | Kind::HouseCuda | Kind::Bench => Ok((folder, vec![file_name(&path)])),
        Kind::Library => {
            let own = file_name(&path);
            let mut names: BTreeSet<String> = below(&folder, &linked(&path)).collect();
            names.insert(own);
            Ok((folder, names.into_iter().collect()))
        }
        Kind::Cuda => {
            let described = path.with_extension("toml");
            let is_cubin = path.extension().is_some_and(|ending| ending == "cubin");
            let names = [Some(&path), Some(&described).filter(|_| is_cubin)];
            Ok((folder, names.into_iter().flatten().map(|path| file_name(path)).collect()))
        }
        Kind::Python => {
            let mut names = vec![file_name(&path)];
            follow_imports(&folder, &mut names);
            Ok((folder, names))
        }
        Kind::Runner => {
            let mut names = Vec::new();
            list(&path, "", &mut names)?;
            Ok((path, names))
        }
    }
}

/// Files in a folder or below it, by their path from there: the libraries of one's own that a library finds beside itself.
fn below(folder: &Path, files: &[PathBuf]) -> impl Iterator<Item = String> {
    let name = move |file: &PathBuf| {
        Some(file.strip_prefix(folder).ok()?.components().as_path().display().to_string())
    };
    files.iter().filter_map(name).filter(|name| is_below(name))
}

/// Adds every module of the folder that a file among `names` imports, and that these import in turn.
fn follow_imports(folder: &Path, names: &mut Vec<String>) {
    let mut next = 0;
    while next < names.len() {
        let text = fs::read_to_string(folder.join(&names[next])).unwrap_or_default();
        next += 1;
        for module in runners::imported(&text) {
            let file = format!("{module}.py");
            if folder.join(&file).is_file() && !names.contains(&file) {
                names.push(file);
            }
            let mut package = Vec::new();
            if folder.join(module).is_dir() && list(folder, module, &mut package).is_ok() {
                package.retain(|name| name.ends_with(".py") && !names.contains(name));
                names.append(&mut package);
            }
        }
    }
}

/// Every file below a folder, by its path from `root`; what is made by running is left out.
fn list(root: &Path, below: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && !PASSING.contains(&name.as_str()) {
            list(root, &path, names)?;
        } else if kind.is_file() || kind.is_symlink() && entry.path().is_file() {
            names.push(path);
        }
    }
    names.sort();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn a_python_file_is_kept_with_what_it_imports_from_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("vault");
        let file = write(folder.path(), "mine.py", "import numpy\nfrom helper import x\nimport parts.deep\n");
        write(folder.path(), "helper.py", "import further\n");
        write(folder.path(), "further.py", "");
        write(folder.path(), "parts/deep.py", "");
        write(folder.path(), "other.py", "");
        let kept = Artefact::keep(Kind::Python, &file, &vault).unwrap();
        let names: Vec<&str> = kept.files.keys().map(String::as_str).collect();
        assert_eq!(names, ["further.py", "helper.py", "mine.py", "parts/deep.py"]);
        assert_eq!(kept.check(&vault), Ok(()));
        assert_eq!(kept.path(&vault), vault.join(kept.id()).join("mine.py"));
        assert_eq!(Artefact::keep(Kind::Python, &file, &vault).unwrap(), kept, "kept once");
        assert_eq!(fs::read_dir(&vault).unwrap().count(), 1);
        write(folder.path(), "further.py", "x = 1\n");
        assert_ne!(Artefact::keep(Kind::Python, &file, &vault).unwrap().id(), kept.id());
    }

    #[test]
    fn a_cubin_is_kept_with_the_file_that_says_how_it_is_launched() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("vault");
        let source = write(folder.path(), "mine.cu", "");
        let binary = write(folder.path(), "mine.cubin", "");
        let keep = |path: &Path| Artefact::keep(Kind::Cuda, path, &vault);
        assert!(keep(&binary).is_err(), "it cannot be launched without");
        write(folder.path(), "mine.toml", "");
        let names = |kept: Artefact| kept.files.into_keys().collect::<Vec<_>>();
        assert_eq!(names(keep(&binary).unwrap()), ["mine.cubin", "mine.toml"]);
        assert_eq!(names(keep(&source).unwrap()), ["mine.cu"]);
    }

    #[test]
    fn libraries_below_the_folder_come_along() {
        let files = ["/mine/lib/a.so", "/mine/./b.so", "/mine/../c.so", "/usr/lib/d.so"].map(PathBuf::from);
        assert_eq!(below(Path::new("/mine"), &files).collect::<Vec<_>>(), ["lib/a.so", "b.so"]);
    }

    #[test]
    fn what_is_not_as_it_was_kept_is_told_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let vault = folder.path().join("vault");
        let file = write(folder.path(), "mine.so", "library");
        let kept = Artefact::keep(Kind::Library, &file, &vault).unwrap();
        let told = |text: Option<&str>| {
            match text {
                Some(text) => fs::write(kept.path(&vault), text).unwrap(),
                None => fs::remove_file(kept.path(&vault)).unwrap(),
            }
            kept.check(&vault).unwrap_err()
        };
        assert_eq!(told(Some("libra")), "`mine.so` has 5 of its 7 bytes");
        assert_eq!(told(Some("LIBRARY")), "`mine.so` is another one than was kept");
        assert!(told(None).contains("`mine.so`: No such file"));
        assert_eq!(Artefact::keep(Kind::Library, &file, &vault).unwrap().check(&vault), Ok(()), "kept anew");
        let content = kept.files["mine.so"].clone();
        let hostile = |main: &str, names: &[&str]| {
            let files = names.iter().map(|name| ((*name).to_owned(), content.clone())).collect();
            Artefact { main: main.to_owned(), files, ..kept.clone() }.check(&vault).unwrap_err()
        };
        assert!(hostile("../mine.so", &["../mine.so"]).contains("no name"));
        assert!(hostile("/bin/sh", &["/bin/sh"]).contains("no name"));
        assert!(hostile("../mine.so", &["mine.so"]).contains("the file that is run"));
        assert!(hostile("mine.so", &[]).contains("the file that is run"));
    }

    #[test]
    fn kinds_are_told_by_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let of = |name: &str| Kind::of(&write(at, name, ""));
        assert_eq!(
            [of("a.so"), of("a.py"), of("roofline")],
            [Some(Kind::Library), Some(Kind::Python), Some(Kind::House)]
        );
        assert_eq!([of("a.cu"), of("a.cubin"), of("a.cuh")], [Some(Kind::Cuda), Some(Kind::Cuda), None]);
        assert_eq!([of("liba.so.1"), of("a.txt")], [Some(Kind::Library), None]);
        write(at, "mine/runner.toml", "");
        assert_eq!(Kind::of(&at.join("mine")), Some(Kind::Runner));
        assert_eq!(Kind::of(&at.join("absent.so")), None);
    }
}
