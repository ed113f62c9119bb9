//! What files need beside themselves: the libraries that a library is linked to, the interpreter and the packages of a Python
//! file, and the Roofline that hosts them. What is kept says what it was, so that what differs later is named.

use crate::artefact::{Artefact, Kind, hash};
use roofline_conductor::runners::{RunnerSpec, imported};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What each of them is: a version, or the beginning of a hash.
pub type Environment = BTreeMap<String, String>;

/// What is said of one that is not there.
const ABSENT: &str = "absent";

/// What an artefact at a path needs now, as the runner that it is.
pub fn of(artefact: &Artefact, path: &Path, spec: &RunnerSpec) -> Environment {
    let mut found = match artefact.kind {
        Kind::Library => libraries(path),
        Kind::Python => packages(artefact, path, spec),
        // Which compiler and driver a CUDA file meets is not kept.
        Kind::Runner | Kind::Cuda => Environment::new(),
        // Another version is what it is kept for.
        Kind::House | Kind::HouseCuda | Kind::Bench => return Environment::new(),
    };
    found.insert("roofline".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    found
}

/// The first of what was needed that is another one by now, in words.
pub fn difference(then: &Environment, now: &Environment) -> Option<String> {
    let is = |key: &str| now.get(key).map_or(ABSENT, String::as_str);
    let (key, was) = then.iter().find(|(key, was)| is(key) != was.as_str())?;
    Some(format!("`{key}` was {was} when it was kept, and is {} now", is(key)))
}

/// The shared libraries that the loader finds for one, by their content.
fn libraries(path: &Path) -> Environment {
    listed(&said_of(path))
}

/// The files of these.
pub(crate) fn linked(path: &Path) -> Vec<PathBuf> {
    let said = said_of(path);
    let places = said.lines().filter_map(|line| line.split_once(" => ")?.1.split(" (").next());
    places.filter(|place| place.starts_with('/')).map(PathBuf::from).collect()
}

/// What the loader says of a library: nothing where there is none that could.
fn said_of(path: &Path) -> String {
    let said = Command::new("ldd").arg(path).stderr(Stdio::null()).output();
    said.map_or_else(|_| String::new(), |said| String::from_utf8_lossy(&said.stdout).into_owned())
}

/// Lines such as `libm.so.6 => /lib/libm.so.6 (0x…)`, `libown.so => not found` and `/lib64/ld-linux.so.2 (0x…)`; what the kernel
/// itself provides has no file.
fn listed(text: &str) -> Environment {
    let entry = |line: &str| {
        let line = line.trim();
        let (name, place) = line.split_once(" => ").unwrap_or((line, line));
        let file = Path::new(place.split(" (").next()?);
        let name = Path::new(name.split(" (").next()?).file_name()?.to_string_lossy().into_owned();
        match hash(file) {
            Ok(hash) => Some((name, hash[..12].to_owned())),
            Err(_) => place.starts_with("not found").then(|| (name, ABSENT.to_owned())),
        }
    };
    text.lines().filter_map(entry).collect()
}

/// Prints the version of the interpreter, and of what is installed of the modules that it is given.
const VERSIONS: &str = "
import sys
from importlib import metadata
print('python', sys.version.split()[0])
named = metadata.packages_distributions()
for package in sorted({package for module in sys.argv[1:] for package in named.get(module, [])}):
    print(package, metadata.version(package))
";

fn packages(artefact: &Artefact, path: &Path, spec: &RunnerSpec) -> Environment {
    let folder = path.parent().unwrap_or(Path::new("."));
    let texts: Vec<String> =
        artefact.files.keys().filter_map(|name| fs::read_to_string(folder.join(name)).ok()).collect();
    let modules: BTreeSet<&str> = texts.iter().flat_map(|text| imported(text)).collect();
    let said = Command::new(&spec.command[0]).args(["-c", VERSIONS]).args(modules).output();
    let said = said.map_or_else(|_| Vec::new(), |said| said.stdout);
    let entry =
        |line: &str| line.split_once(' ').map(|(name, version)| (name.to_owned(), version.to_owned()));
    String::from_utf8_lossy(&said).lines().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_content_and_missing_ones_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("libown.so");
        fs::write(&own, "one").unwrap();
        let text = format!(
            "\tlinux-vdso.so.1 (0x00007fff)\n\tlibown.so => {} (0x0000abcd)\n\tlibgone.so.2 => not found\n",
            own.display()
        );
        let then = listed(&text);
        assert_eq!(then.keys().collect::<Vec<_>>(), ["libgone.so.2", "libown.so"]);
        assert_eq!(then["libgone.so.2"], ABSENT);
        assert_eq!(difference(&then, &listed(&text)), None);
        fs::write(&own, "two").unwrap();
        let told = difference(&then, &listed(&text)).unwrap();
        assert!(told.starts_with("`libown.so` was ") && told.contains("when it was kept"), "{told}");
        assert!(difference(&then, &Environment::new()).unwrap().ends_with("is absent now"));
        assert_eq!(difference(&Environment::new(), &then), None, "it was not looked at then");
    }
}
