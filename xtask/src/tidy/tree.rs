//! The files of the workspace that are, or are about to be, under version control.

use crate::step::{self, Failure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Paths are relative to the root, with `/` between parts.
pub(crate) struct Tree {
    root: PathBuf,
    files: Vec<String>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Result<Tree, Failure> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed =
            step::answer(Command::new("git").current_dir(root).args(arguments)).ok_or_else(|| {
                Failure::new("tidy", "`git ls-files` fails", "run it in a clone, with git installed")
            })?;
        let mut files: Vec<String> = listed.split('\0').map(String::from).collect();
        files.retain(|file| root.join(file).is_file());
        files.sort();
        files.dedup();
        Ok(Tree { root: root.to_path_buf(), files })
    }

    #[cfg(test)]
    pub(super) fn of(root: &Path, files: &[&str]) -> Tree {
        Tree { root: root.to_path_buf(), files: files.iter().map(ToString::to_string).collect() }
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Files with one of these endings.
    pub(crate) fn files_named(&self, endings: &'static [&str]) -> impl Iterator<Item = &str> {
        self.files().filter(|file| {
            Path::new(file).extension().is_some_and(|own| endings.iter().any(|ending| own == *ending))
        })
    }

    pub(crate) fn contains(&self, file: &str) -> bool {
        self.files.iter().any(|own| own == file)
    }

    /// Whether something lies there, under version control or not.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// `None` when the file is not text.
    pub(crate) fn text(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(file)).ok().filter(|text| !text.contains('\0'))
    }

    /// Every text file that `choose` takes, with its text.
    pub(super) fn texts(&self, choose: impl Fn(&str) -> bool) -> impl Iterator<Item = (&str, String)> {
        self.files().filter(move |file| choose(file)).filter_map(|file| Some((file, self.text(file)?)))
    }

    /// What cargo says of the workspace's own packages.
    pub(super) fn packages(&self) -> Result<Vec<Value>, String> {
        let arguments = ["metadata", "--no-deps", "--format-version", "1"];
        let text = step::answer(step::cargo(&self.root).args(arguments)).ok_or("`cargo metadata` fails")?;
        let metadata: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        metadata["packages"]
            .as_array()
            .cloned()
            .ok_or_else(|| "`cargo metadata` lists no packages".to_string())
    }
}

/// Whether a file is kept exactly as something else wrote it.
pub(super) fn is_fixture(file: &str) -> bool {
    file.split('/').any(|part| part == "fixtures" || part == "golden" || part == "snapshots")
}
