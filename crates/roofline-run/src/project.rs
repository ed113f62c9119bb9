//! `roofline.toml`: what a repository says of itself.

use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The file's name, in the folder that a command is given in.
pub const FILE: &str = "roofline.toml";

/// A repository's own settings.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    #[serde(default)]
    pub build: Option<Build>,
}

/// How what is measured is built.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// For `sh`, in the folder of the file.
    pub command: String,
    /// What it makes that is measured: shared libraries, Python files, folders with a `runner.toml`, a roofline binary.
    pub artefacts: Vec<PathBuf>,
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
        let project: Project = toml::from_str(text).map_err(|error| {
            toml_error(error.message().to_owned(), error.span().map_or(0, |span| span.start))
        })?;
        if let Some(build) = &project.build {
            let at = |word: &str| text.find(word).unwrap_or(0);
            if build.command.trim().is_empty() {
                return Err(toml_error("`command` is empty; write what builds".to_owned(), at("command")));
            }
            if build.artefacts.is_empty() {
                let why = "`artefacts` is empty; write what is measured, such as `[\"kernels.so\"]`";
                return Err(toml_error(why.to_owned(), at("artefacts")));
            }
        }
        Ok(project)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_read_and_mistakes_have_a_place() {
        let parse = |text: &str| Project::parse(text, Path::new("roofline.toml"));
        let build = parse("[build]\ncommand = \"make\"\nartefacts = [\"a.so\"]\n").unwrap().build.unwrap();
        assert_eq!(
            (build.command.as_str(), build.artefacts.as_slice()),
            ("make", &[PathBuf::from("a.so")][..])
        );
        assert_eq!(parse("").unwrap(), Project::default());
        for (text, part) in [
            ("[build]\ncomand = \"make\"\n", "roofline.toml:2:1: unknown field `comand`"),
            ("[build]\ncommand = \" \"\nartefacts = [\"a.so\"]\n", "roofline.toml:2:1: `command` is empty"),
            ("[build]\ncommand = \"make\"\nartefacts = []\n", "roofline.toml:3:1: `artefacts` is empty"),
            ("[build]\ncommand = \"make\"\n", "missing field `artefacts`"),
            ("build = ", "roofline.toml:1:"),
        ] {
            let why = parse(text).unwrap_err().to_string();
            assert!(why.contains(part), "{why}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Project::read(folder.path()).unwrap(), Project::default());
    }
}
