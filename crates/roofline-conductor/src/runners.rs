//! Runners: folders with a `runner.toml`, and the one inside this binary.

mod parameters;
mod python;
mod side;

pub use parameters::variable;
pub use python::{Modules, imported};
pub use side::bare_names;

use crate::home;
use roofline_core::nearest::nearest;
use roofline_core::protocol::{Hello, Offer, condition};
use roofline_core::text::line_and_column;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// How to start a runner.
#[derive(Clone, Debug, PartialEq)]
pub struct RunnerSpec {
    pub name: String,
    pub about: String,
    /// Program and arguments, placeholders replaced.
    pub command: Vec<String>,
    pub folder: PathBuf,
    /// The option and the path that named it, if it was not found by its name: `--runner FOLDER`,
    /// `--python FILE`, `--lib FILE`.
    pub named: Option<(&'static str, PathBuf)>,
    /// What to do when it does not start.
    pub hint: String,
    /// The packages that it needs, for pip, and about how much they are to download.
    pub requirements: Option<PathBuf>,
    pub download: String,
    environment: BTreeMap<String, String>,
    /// What the command line adds to that: parameters of one's own kernels.
    pub asked: BTreeMap<String, String>,
    /// Parameters of its kernels as `tile=8`, which stand behind the names of all that it offers.
    parameters: Vec<String>,
    /// Whether it runs isolated; only studies set it free.
    pub isolated: bool,
    /// Whether it is a side of a comparison, and its name that of all that it offers.
    is_side: bool,
    /// What its implementations require beyond what they say themselves, by `provider/name` or
    /// `operation@provider/name`.
    requires: BTreeMap<String, String>,
}

/// Programs that run others' code, slowly enough to show in a conversation; and those that have it run by another process.
const INTERPRETERS: [&str; 7] = ["python", "pypy", "julia", "node", "java", "ruby", "perl"];
const LAUNCHERS: [&str; 6] = ["sh", "bash", "dash", "zsh", "busybox", "uv"];
/// Providers of the house: no other runner may offer implementations of theirs.
pub const RESERVED: [&str; 3] = ["cpu", "cuda", "limit"];

/// Variables of the user that a runner may see; everything else is cleared.
const PASSED: [&str; 8] =
    ["PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR", "CUDA_VISIBLE_DEVICES", "ROOFLINE_NVRTC"];

impl RunnerSpec {
    /// The runner of the house: this binary, `runner cpu`.
    pub fn built_in(program: &Path) -> RunnerSpec {
        RunnerSpec {
            name: "cpu".to_owned(),
            about: "the CPU kernels of the house".to_owned(),
            command: vec![program.display().to_string(), "runner".to_owned(), "cpu".to_owned()],
            folder: PathBuf::from("/"),
            named: None,
            hint: "it is part of this binary".to_owned(),
            requirements: None,
            download: String::new(),
            environment: BTreeMap::new(),
            isolated: true,
            is_side: false,
            asked: BTreeMap::new(),
            parameters: Vec::new(),
            requires: BTreeMap::new(),
        }
    }

    /// The other runner of the house: this binary, `runner cuda`. What it compiles is kept in Roofline's cache.
    pub fn built_in_cuda(program: &Path) -> RunnerSpec {
        let cache = ("ROOFLINE_CUDA_CACHE".to_owned(), "{cache}/cuda".to_owned());
        RunnerSpec {
            name: "cuda".to_owned(),
            about: "the CUDA kernels of the house".to_owned(),
            command: vec![program.display().to_string(), "runner".to_owned(), "cuda".to_owned()],
            environment: BTreeMap::from([cache]),
            ..RunnerSpec::built_in(program)
        }
    }

    /// The runner in this binary over a user's shared library, called `name`.
    pub fn library(program: &Path, name: &str, file: &Path) -> io::Result<RunnerSpec> {
        let file = file.canonicalize()?;
        let path = file.display().to_string();
        Ok(RunnerSpec {
            name: name.to_owned(),
            about: format!("kernels of {path}"),
            command: vec![program.display().to_string(), "runner".to_owned(), "lib".to_owned(), path],
            folder: file.parent().unwrap_or(Path::new("/")).to_owned(),
            named: Some(("--lib", file)),
            hint: "`roofline header` prints the interface, `roofline new kernel NAME` writes a kernel that is built with it"
                .to_owned(),
            requirements: None,
            download: String::new(),
            environment: BTreeMap::new(),
            isolated: true,
            is_side: false,
            asked: BTreeMap::new(),
            parameters: Vec::new(),
            requires: BTreeMap::new(),
        })
    }

    /// The runner in this binary over a user's CUDA kernels, called `name`.
    pub fn cuda_file(program: &Path, name: &str, file: &Path) -> io::Result<RunnerSpec> {
        let spec = RunnerSpec::library(program, name, file)?;
        let path = spec.command.last().cloned().unwrap_or_default();
        Ok(RunnerSpec {
            command: vec![program.display().to_string(), "runner".to_owned(), "cuda-file".to_owned(), path],
            named: spec.named.map(|(_, file)| ("--cuda", file)),
            hint: "comments in it say how it is launched, `// roofline: …`; for a cubin a `.toml` beside it does"
                .to_owned(),
            environment: RunnerSpec::built_in_cuda(program).environment,
            ..spec
        })
    }

    pub fn is_built_in(&self) -> bool {
        !self.is_side && self.named.is_none() && self.folder == Path::new("/")
    }

    /// Whether what a runner offers is its own to offer.
    pub fn may_offer(&self, hello: &Hello) -> Result<(), String> {
        let provider = |offer: &&Offer| offer.implementation.split('/').next().unwrap_or_default().to_owned();
        let is_reserved =
            |offer: &&Offer| RESERVED.iter().any(|name| name.eq_ignore_ascii_case(&provider(offer)));
        match hello.offers.iter().find(is_reserved).filter(|_| !self.is_built_in() && !self.is_side) {
            None => Ok(()),
            Some(offer) => Err(format!(
                "offers `{}`: the provider `{}` is the house's own; give it another name{}",
                offer.implementation,
                provider(&offer),
                if self.named.is_some() {
                    ", and its file or folder too if the name comes from there"
                } else {
                    ""
                }
            )),
        }
    }

    /// Folders that it may write to: its own, if it has one, and the caches that its environment names.
    pub fn writable_folders(&self, threads: u32) -> Vec<PathBuf> {
        // Beside a single file may lie anything; and nobody writes where a store is.
        let own = self.folder.join("runner.toml").is_file() && !self.folder.join(".roofline").exists();
        let cache = home::cache();
        let caches = self.of_its_file(threads).into_values().map(PathBuf::from);
        let caches = caches.filter(|path| path.starts_with(&cache) && *path != cache);
        // One that cannot be made cannot be written to either: its library says so, or does without.
        let made = caches.filter(|path| std::fs::create_dir_all(path).is_ok());
        own.then(|| self.folder.clone()).into_iter().chain(made).collect()
    }

    /// Adds what `[requires]` of its file says to the offers of its answer.
    pub fn add_conditions(&self, hello: &mut Hello) -> Result<(), String> {
        for (name, text) in &self.requires {
            let (operation, implementation) = match name.split_once('@') {
                Some((operation, implementation)) => (Some(operation), implementation),
                None => (None, name.as_str()),
            };
            let mut offers = hello.offers.iter_mut().filter(|offer| offer.implementation == implementation);
            let mut found = false;
            for offer in offers.by_ref().filter(|offer| operation.is_none_or(|form| form == offer.operation))
            {
                found = true;
                let own = condition(offer).map_err(|breach| breach.to_string())?;
                offer.requires.clone_from(text);
                let more =
                    condition(offer).map_err(|breach| format!("`[requires]` of runner.toml {breach}"))?;
                offer.requires = own.and(&more).to_string();
            }
            if !found {
                return Err(format!(
                    "`[requires]` of runner.toml names `{name}`, which the runner does not offer"
                ));
            }
        }
        Ok(())
    }

    /// The whole environment of a process that may use `threads` threads.
    pub fn environment_for(&self, threads: u32) -> BTreeMap<String, String> {
        let passed = PASSED.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
        passed.chain(self.own_environment(threads)).collect()
    }

    /// What the runner's own file sets, and what the command line adds.
    pub fn own_environment(&self, threads: u32) -> BTreeMap<String, String> {
        self.of_its_file(threads).into_iter().chain(self.asked.clone()).collect()
    }

    fn of_its_file(&self, threads: u32) -> BTreeMap<String, String> {
        let (threads, cache) = (threads.to_string(), home::cache().display().to_string());
        let replaced = |(name, value): (&String, &String)| {
            (name.clone(), value.replace("{threads}", &threads).replace("{cache}", &cache))
        };
        self.environment.iter().map(replaced).collect()
    }
}

/// What is wrong with a `runner.toml`.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}:{line}:{column}: {why}", path.display())]
    Toml { path: PathBuf, line: usize, column: usize, why: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRunner {
    name: String,
    #[serde(default)]
    about: String,
    command: Vec<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "for people who read the file; checked, not used")]
    needs: String,
    #[serde(default)]
    hint: String,
    #[serde(default)]
    download: String,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default)]
    requires: BTreeMap<String, String>,
}

/// Reads one runner's folder. `binaries` stands for `{target}` in commands.
pub fn read(folder: &Path, binaries: &Path) -> Result<RunnerSpec, RunnerError> {
    let path = folder.join("runner.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|source| RunnerError::Io { path: path.clone(), source })?;
    let toml_error = |why: String, at: usize| {
        let (line, column) = line_and_column(&text, at);
        RunnerError::Toml { path: path.clone(), line, column, why }
    };
    let wire: WireRunner = toml::from_str(&text)
        .map_err(|error| toml_error(error.message().to_owned(), error.span().map_or(0, |span| span.start)))?;
    if wire.command.is_empty() {
        return Err(toml_error("`command` is empty; write the program and its arguments".to_owned(), 0));
    }
    if !is_name(&wire.name) {
        let why = format!("the name `{}` is not in kebab-case: letters a to z, digits, `-`", wire.name);
        return Err(toml_error(why, text.find("name").unwrap_or(0)));
    }
    let python = python::interpreter(&[&wire.name]);
    let folder =
        folder.canonicalize().map_err(|source| RunnerError::Io { path: folder.to_owned(), source })?;
    let mut command: Vec<String> = wire
        .command
        .iter()
        .map(|part| part.replace("{python}", &python).replace("{target}", &binaries.display().to_string()))
        .collect();
    // A program with a slash is meant relative to the runner's folder, whatever the shell's is.
    if command[0].contains('/') && !Path::new(&command[0]).is_absolute() {
        let program = command[0].trim_start_matches("./");
        command[0] = folder.join(program).display().to_string();
    }
    let requirements = Some(folder.join("requirements.txt")).filter(|path| path.is_file());
    Ok(RunnerSpec {
        name: wire.name,
        about: wire.about,
        command,
        folder,
        named: None,
        hint: if wire.hint.is_empty() { "check its runner.toml".to_owned() } else { wire.hint },
        requirements,
        download: wire.download,
        environment: wire.environment,
        isolated: true,
        is_side: false,
        asked: BTreeMap::new(),
        parameters: Vec::new(),
        requires: wire.requires,
    })
}

/// Every runner: the built-in one, then the folders below each of `places` that have a `runner.toml`,
/// and places that are such a folder themselves.
///
/// A mistake in a folder that was named is an error; one that was merely found goes to `left_out`, so that
/// it costs nobody else.
pub fn discover(
    program: &Path,
    places: &[PathBuf],
    mut left_out: impl FnMut(RunnerError),
) -> Result<Vec<RunnerSpec>, RunnerError> {
    let binaries = program.parent().unwrap_or(Path::new("."));
    let mut specs = vec![RunnerSpec::built_in(program), RunnerSpec::built_in_cuda(program)];
    for place in places {
        if place.join("runner.toml").is_file() {
            let spec = read(place, binaries)?;
            specs.push(RunnerSpec { named: Some(("--runner", spec.folder.clone())), ..spec });
            continue;
        }
        let mut folders: Vec<PathBuf> = std::fs::read_dir(place)
            .map_err(|source| RunnerError::Io { path: place.clone(), source })?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.join("runner.toml").is_file())
            .collect();
        folders.sort();
        for folder in folders {
            match read(&folder, binaries) {
                Ok(spec) => specs.push(spec),
                Err(error) => left_out(error),
            }
        }
    }
    Ok(specs)
}

/// Whether what a process runs now, whatever started it, is machine code and no interpreter: conversations with it are
/// short.
pub fn is_native(pid: i32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| runs_itself(&program))
}

fn runs_itself(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    !INTERPRETERS.iter().any(|one| name.starts_with(one)) && !LAUNCHERS.contains(&&*name)
}

/// Whether a text can name a runner, and with it a folder and the provider of implementations.
fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// The runner of a name, or the nearest name there is.
pub fn find<'a>(specs: &'a [RunnerSpec], name: &str) -> Result<&'a RunnerSpec, Option<&'a str>> {
    specs
        .iter()
        .find(|spec| spec.name == name)
        .ok_or_else(|| nearest(name, specs.iter().map(|spec| spec.name.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("runner.toml"), text).unwrap();
        folder
    }

    #[test]
    fn placeholders_and_environment() {
        let folder = write(
            "name = \"mine\"\ncommand = [\"./go\", \"{target}\"]\n[environment]\nOMP_NUM_THREADS = \"{threads}\"\n",
        );
        let spec = read(folder.path(), Path::new("/bin")).unwrap();
        assert_eq!(Path::new(&spec.command[0]), folder.path().canonicalize().unwrap().join("go"));
        assert!(!spec.command[0].contains("/./"), "{}", spec.command[0]);
        assert_eq!(spec.command[1], "/bin");
        let environment = spec.environment_for(3);
        assert_eq!(environment["OMP_NUM_THREADS"], "3");
        assert!(environment.keys().all(|key| PASSED.contains(&key.as_str()) || key == "OMP_NUM_THREADS"));
    }

    #[test]
    fn a_runners_file_adds_conditions() {
        let offer = |operation: &str| roofline_core::protocol::Offer {
            implementation: "mine/fast".to_owned(),
            operation: operation.to_owned(),
            dtypes: Vec::new(),
            params: Vec::new(),
            about: String::new(),
            parallel: false,
            devices: Vec::new(),
            requires: "finite".to_owned(),
        };
        let hello = |requires: &str| -> Result<Vec<String>, String> {
            let folder = write(&format!("name = \"mine\"\ncommand = [\"x\"]\n[requires]\n{requires}\n"));
            let mut hello = Hello {
                protocol: 1,
                runner: "mine".to_owned(),
                version: "1".to_owned(),
                devices: Vec::new(),
                offers: vec![offer("softmax"), offer("matmul")],
                operations: Vec::new(),
                notes: BTreeMap::new(),
            };
            read(folder.path(), Path::new("/bin")).unwrap().add_conditions(&mut hello)?;
            Ok(hello.offers.into_iter().map(|offer| offer.requires).collect())
        };
        assert_eq!(hello("\"mine/fast\" = \"align 32\"").unwrap(), ["align 32, finite"; 2]);
        let one = hello("\"softmax@mine/fast\" = \"cols % 16 == 0\"").unwrap();
        assert_eq!(one, ["cols % 16 == 0, finite", "finite"]);
        for (requires, part) in [
            ("\"mine/fast\" = \"cols % 16 == 0\"", "`mine/fast` for \"matmul\""),
            ("\"mine/fast\" = \"quickly\"", "\"quickly\""),
            ("\"mine/slow\" = \"finite\"", "names `mine/slow`"),
            ("\"add@mine/fast\" = \"finite\"", "names `add@mine/fast`"),
        ] {
            let why = hello(requires).unwrap_err();
            assert!(why.contains(part) && why.contains("[requires]"), "{why}");
        }
    }

    #[test]
    fn a_program_is_what_runs_and_not_what_started_it() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(is_native(own) && !is_native(-1));
        let of = |name: &str| runs_itself(Path::new(name));
        assert!(of("/usr/bin/mine") && of("/opt/shader") && !of("/usr/bin/python3.12") && !of("/bin/dash"));
    }

    #[test]
    fn mistakes_have_a_place() {
        let folder = write("name = \"mine\"\ncommand = [\"x\"]\ncomand = 1\n");
        let message = read(folder.path(), Path::new("/bin")).unwrap_err().to_string();
        assert!(message.contains("runner.toml:3:1") && message.contains("comand"), "{message}");
        assert!(read(Path::new("/nonexistent"), Path::new("/")).is_err());
    }
}
