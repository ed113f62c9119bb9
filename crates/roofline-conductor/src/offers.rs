//! What runners offer: asked once, remembered under the content of the runner's folder.

use crate::failure::Stop;
use crate::keeper::Keeper;
use crate::runners::RunnerSpec;
use crate::session::{Limits, Session};
use crate::stage::cores_for;
use roofline_core::protocol::Hello;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

/// Answers to `hello` by runner name, as a file beside the store.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct OfferCache {
    runners: BTreeMap<String, Remembered>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    content: u64,
    hello: Hello,
}

impl OfferCache {
    /// What was remembered; nothing if the file is absent or damaged.
    pub fn read(path: &Path) -> OfferCache {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, serde_json::to_string_pretty(self).map_err(io::Error::other)?)
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
    let mut keeper = Keeper::start(program).map_err(|error| error.to_string())?;
    let cores = cores_for(1).unwrap_or_default();
    match Session::start(&mut keeper, spec, 1, &cores, limits) {
        Ok(mut session) => {
            let mut hello = session.hello.clone();
            let told = session.bye();
            session.end(&mut keeper, told);
            spec.add_conditions(&mut hello)?;
            Ok(hello)
        }
        Err(Stop::Row(failure)) => Err(failure.why),
        Err(Stop::Interrupted) => Err("interrupted".to_owned()),
        Err(Stop::Own(error)) => Err(error.to_string()),
    }
}

/// A number for the command, the files that it names and those of a runner's own folder: names, sizes, times.
fn content_of(spec: &RunnerSpec) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in &spec.command {
        (word, stamp(Path::new(word))).hash(&mut hasher);
    }
    // Another installation may have brought other versions to the same interpreter.
    crate::home::marker(&spec.name).and_then(|marker| stamp(&marker)).hash(&mut hasher);
    if spec.folder.join("runner.toml").is_file() {
        let mut entries: Vec<_> = std::fs::read_dir(&spec.folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        entries.sort();
        // Beside a single file may lie anything; what it imports is Python too.
        let is_python = |path: &Path| path.extension().is_some_and(|ending| ending == "py");
        let is_part = |path: &Path| path.is_file() && (!spec.is_python_file() || is_python(path));
        for path in entries.iter().filter(|path| is_part(path)) {
            (path, stamp(path)).hash(&mut hasher);
        }
    }
    hasher.finish()
}

fn stamp(path: &Path) -> Option<(u64, std::time::SystemTime)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
