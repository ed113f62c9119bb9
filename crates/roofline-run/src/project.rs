//! `roofline.toml`: what a repository says of itself.

mod policy;

use self::policy::WirePolicy;
use roofline_core::policy::Policy;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The file's name, in the folder that a command is given in.
pub const FILE: &str = "roofline.toml";

/// A repository's own settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Project {
    pub build: Option<Build>,
    pub policy: Policy,
}

/// How what is measured is built.
#[derive(Clone, Debug, PartialEq)]
pub enum Build {
    /// A line for `sh`, in the folder of the file; and what it makes that is measured: shared libraries, Python files,
    /// folders with a `runner.toml`, a roofline binary.
    Command { line: String, artefacts: Vec<PathBuf> },
    /// More words for `cargo bench --no-run`.
    Cargo(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireProject {
    build: Option<WireBuild>,
    #[serde(default)]
    policy: WirePolicy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireBuild {
    command: Option<String>,
    #[serde(default)]
    artefacts: Vec<PathBuf>,
    cargo: Option<Vec<String>>,
}

/// A mistake in the file, and where.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{}:{line}:{column}: {why}", path.display())]
    Toml { path: PathBuf, line: usize, column: usize, why: String },
}

impl Project {
    /// The settings of a folder; none where there is no file.
    pub fn read(folder: &Path) -> Result<Project, ProjectError> {
        let path = folder.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Project::parse(&text, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Project::default()),
            Err(source) => Err(ProjectError::Io { path, source }),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Project, ProjectError> {
        let toml_error = |why: String, at: usize| {
            let (line, column) = roofline_core::text::line_and_column(text, at);
            ProjectError::Toml { path: path.to_owned(), line, column, why }
        };
        let wire: WireProject = toml::from_str(text).map_err(|error| {
            toml_error(error.message().to_owned(), error.span().map_or(0, |span| span.start))
        })?;
        let at = |word: &str| text.find(word).unwrap_or(0);
        let build = match wire.build {
            None => None,
            Some(WireBuild { command: Some(line), artefacts, cargo: None }) => {
                if line.trim().is_empty() {
                    return Err(toml_error(
                        "`command` is empty; write what builds".to_owned(),
                        at("command"),
                    ));
                }
                if artefacts.is_empty() {
                    let why = "`artefacts` is missing; write what is measured, such as `[\"kernels.so\"]`";
                    return Err(toml_error(why.to_owned(), at("command")));
                }
                Some(Build::Command { line, artefacts })
            }
            Some(WireBuild { command: None, artefacts, cargo: Some(words) }) if artefacts.is_empty() => {
                Some(Build::Cargo(words))
            }
            Some(_) => {
                let why = "`[build]` has either `command` and `artefacts`, or `cargo`";
                return Err(toml_error(why.to_owned(), at("[build]")));
            }
        };
        let policy = wire.policy.policy().map_err(|(why, word)| toml_error(why, at(&word)))?;
        Ok(Project { build, policy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_read_and_mistakes_have_a_place() {
        let parse = |text: &str| Project::parse(text, Path::new("roofline.toml"));
        let built = |text: &str| parse(text).unwrap().build;
        let command = Build::Command { line: "make".to_owned(), artefacts: vec!["a.so".into()] };
        assert_eq!(built("[build]\ncommand = \"make\"\nartefacts = [\"a.so\"]\n"), Some(command));
        let cargo = Build::Cargo(vec!["--bench".to_owned(), "kernels".to_owned()]);
        assert_eq!(built("[build]\ncargo = [\"--bench\", \"kernels\"]\n"), Some(cargo));
        assert_eq!(parse("").unwrap(), Project::default());
        for (text, part) in [
            ("[build]\ncomand = \"make\"\n", "roofline.toml:2:1: unknown field `comand`"),
            ("[build]\ncommand = \" \"\nartefacts = [\"a.so\"]\n", "roofline.toml:2:1: `command` is empty"),
            ("[build]\ncommand = \"make\"\nartefacts = []\n", "roofline.toml:2:1: `artefacts` is missing"),
            ("\n[build]\n", "roofline.toml:2:1: `[build]` has either"),
            ("[build]\ncommand = \"make\"\ncargo = []\n", "`[build]` has either"),
            ("[polices]\n", "unknown field `polices`"),
            ("build = ", "roofline.toml:1:"),
        ] {
            let why = parse(text).unwrap_err().to_string();
            assert!(why.contains(part), "{why}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Project::read(folder.path()).unwrap(), Project::default());
    }
}
