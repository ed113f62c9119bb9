//! What runners offer: asked once, remembered under the content of the runner's folder.

use crate::failure::Stop;
use crate::isolation::{Isolation, Sandbox};
use crate::keeper::Keeper;
use crate::runners::{Modules, RunnerSpec};
use crate::session::{Limits, Session};
use crate::stage::cores_for;
use roofline_core::protocol::{Answerable, Ask, Hello, VERSION};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

/// Answers to `hello` by runner name, as a file beside the store.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfferCache {
    /// Version of the protocol that was spoken: a runner may offer more in another one.
    #[serde(default)]
    protocol: u32,
    runners: BTreeMap<String, Remembered>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    content: u64,
    hello: Hello,
}

impl Default for OfferCache {
    fn default() -> OfferCache {
        OfferCache { protocol: VERSION, runners: BTreeMap::new() }
    }
}

impl OfferCache {
    /// What was remembered; nothing if the file is absent, damaged, or of another protocol.
    pub fn read(path: &Path) -> OfferCache {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut cache: OfferCache = serde_json::from_str(&text).unwrap_or_default();
        if cache.protocol != VERSION {
            return OfferCache::default();
        }
        // A file is no better than a runner: what it says is held to the same bounds.
        let ask = Ask::Hello { protocol: VERSION };
        cache.runners.retain(|_, remembered| remembered.hello.check(&ask).is_ok());
        cache
    }

    /// Writes the file whole or not at all: another process may be reading it.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        let own = path.with_extension(format!("{}.tmp", std::process::id()));
        let written = std::fs::write(&own, text).and_then(|()| std::fs::rename(&own, path));
        written.inspect_err(|_| {
            let _ = std::fs::remove_file(&own);
        })
    }

    /// The answer of a runner whose folder has not changed since.
    pub fn get(&self, spec: &RunnerSpec) -> Option<&Hello> {
        let remembered = self.runners.get(&spec.name)?;
        (remembered.content == content_of(spec)).then_some(&remembered.hello)
    }

    pub fn put(&mut self, spec: &RunnerSpec, hello: Hello) {
        self.runners.insert(spec.name.clone(), Remembered { content: content_of(spec), hello });
    }
}

/// Starts a runner, asks who it is, and ends it.
pub fn ask(program: &Path, spec: &RunnerSpec, limits: Limits) -> Result<Hello, String> {
    greet(program, spec, limits).map(|(hello, _)| hello)
}

/// How this system isolates runners, as one of them shows.
pub fn isolation(program: &Path, spec: &RunnerSpec, limits: Limits) -> Result<Isolation, String> {
    greet(program, spec, limits).map(|(_, isolation)| isolation)
}

fn greet(program: &Path, spec: &RunnerSpec, limits: Limits) -> Result<(Hello, Isolation), String> {
    let mut keeper = Keeper::start(program).map_err(|error| error.to_string())?;
    let cores = cores_for(1).unwrap_or_default();
    let started = Session::spawn(&mut keeper, spec, 1, &cores, limits, Sandbox::BestEffort);
    match started.and_then(|session| session.introduced(&mut keeper, spec)) {
        Ok(mut session) => {
            let mut hello = Hello::clone(&session.hello);
            let told = session.bye();
            session.end(&mut keeper, told);
            spec.add_conditions(&mut hello)?;
            spec.rename(&mut hello);
            Ok((hello, session.isolation))
        }
        Err(Stop::Row(failure)) => Err(failure.why),
        Err(Stop::Interrupted) => Err("interrupted".to_owned()),
        Err(Stop::Own(error)) => Err(error.to_string()),
    }
}

/// A number for the command, the files that it names, those that a Python file imports from beside it, and those of a
/// runner's own folder: names, sizes, times.
fn content_of(spec: &RunnerSpec) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in &spec.command {
        (word, stamp(Path::new(word))).hash(&mut hasher);
    }
    spec.asked.hash(&mut hasher);
    // Another installation may have brought other versions to the same interpreter.
    crate::home::marker(&spec.name).and_then(|marker| stamp(&marker)).hash(&mut hasher);
    if let (true, Some((_, file))) = (spec.is_python_file(), &spec.named) {
        for path in Modules::of(file).files {
            (&path, stamp(&path)).hash(&mut hasher);
        }
    } else if spec.folder.join("runner.toml").is_file() {
        let mut entries: Vec<_> = std::fs::read_dir(&spec.folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        entries.sort();
        for path in entries.iter().filter(|path| path.is_file()) {
            (path, stamp(path)).hash(&mut hasher);
        }
    }
    hasher.finish()
}

fn stamp(path: &Path) -> Option<(u64, std::time::SystemTime)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn only_what_this_protocol_said_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("offers.json");
        let spec = RunnerSpec::built_in(Path::new("/bin/true"));
        let hello = json!({"protocol": 1, "runner": "cpu", "version": "1", "offers": []});
        let mut cache = OfferCache::default();
        cache.put(&spec, serde_json::from_value(hello).unwrap());
        cache.write(&path).unwrap();
        assert!(OfferCache::read(&path).get(&spec).is_some());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        let whole: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let with = |pointer: &str, part: Value| {
            let mut changed = whole.clone();
            *changed.pointer_mut(pointer).unwrap() = part;
            std::fs::write(&path, changed.to_string()).unwrap();
            OfferCache::read(&path).get(&spec).is_some()
        };
        assert!(with("/protocol", json!(VERSION)));
        assert!(!with("/protocol", json!(VERSION - 1)));
        assert!(!with("/runners/cpu/hello/version", json!("")), "held to the bounds of an answer");
        let mut before = whole.clone();
        before.as_object_mut().unwrap().remove("protocol");
        std::fs::write(&path, before.to_string()).unwrap();
        assert!(OfferCache::read(&path).get(&spec).is_none(), "as it was written before");
    }
}
