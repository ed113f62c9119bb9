//! A revision of a repository, or its working tree, as files at a place of their own.
//!
//! Both sides of a comparison are built at one and the same path, one after the other: a path is part of what a compiler
//! makes. The files of the second replace those of the first, and only where they differ, so that what builds need not
//! build all of it twice.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A repository.
#[derive(Clone, Debug)]
pub struct Repository {
    top: PathBuf,
    /// The folder inside it that a command was given in.
    below: PathBuf,
}

/// All files of a revision, by git's name for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree(String);

/// The word for the files as they are now.
pub const WORKING_TREE: &str = ".";

impl Repository {
    /// The repository of a folder, if there is one.
    pub fn of(folder: &Path) -> Option<Repository> {
        let ask = |what: &str| said(git(folder).args(["rev-parse", what])).ok();
        Some(Repository { top: ask("--show-toplevel")?.into(), below: ask("--show-prefix")?.into() })
    }

    fn git(&self) -> Command {
        git(&self.top)
    }

    /// The files of a revision, or of the working tree with all that git does not ignore.
    pub fn tree(&self, revision: &str, scratch: &Path) -> Result<Tree, String> {
        if revision != WORKING_TREE {
            let name = format!("{revision}^{{tree}}");
            let found =
                said(self.git().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &name]));
            return found.map(Tree).map_err(|_| format!("git knows no revision `{revision}`"));
        }
        std::fs::create_dir_all(scratch).map_err(|error| error.to_string())?;
        // An index of our own: what the user has staged is not touched.
        let index = scratch.join(format!("index-of-now.{}", std::process::id()));
        let index = std::path::absolute(index).map_err(|error| error.to_string())?;
        let with_index = |words: &[&str]| said(self.git().env("GIT_INDEX_FILE", &index).args(words));
        // What is tracked belongs to it, also where it is ignored. A repository without a commit tracks nothing.
        let _ = with_index(&["read-tree", "HEAD"]);
        let added = with_index(&["add", "--all", "--", ":/", ":(exclude,top,glob)**/.roofline/**"]);
        let tree = added.and_then(|_| with_index(&["write-tree"])).map(Tree);
        let _ = std::fs::remove_file(&index);
        tree
    }

    /// Puts the files of a tree, and of it alone, into a folder; what a build has left there stays. Answers with the
    /// folder in it that the command was given in.
    pub fn check_out(&self, tree: &Tree, folder: &Path) -> Result<PathBuf, String> {
        let files = folder.join("tree");
        std::fs::create_dir_all(&files).map_err(|error| error.to_string())?;
        let absolute = |path: &Path| std::path::absolute(path).map_err(|error| error.to_string());
        let (files, index) = (absolute(&files)?, absolute(&folder.join("index"))?);
        let mut git = self.git();
        git.env("GIT_INDEX_FILE", index).env("GIT_WORK_TREE", &files);
        said(git.args(["read-tree", "--reset", "-u", &tree.0]))?;
        let below = files.join(&self.below);
        if below.is_dir() {
            Ok(below)
        } else {
            Err(format!("the revision has no folder `{}`", self.below.display()))
        }
    }
}

/// Git in a folder, and nowhere else: not in the repository of a hook that this is started by.
/// The commit that a folder is at, by its short name, with a `+` where files that git tracks differ from it; empty where git
/// knows none.
pub fn revision(folder: &Path) -> String {
    let Ok(commit) = said(git(folder).args(["rev-parse", "--short=10", "--verify", "--quiet", "HEAD"]))
    else {
        return String::new();
    };
    let differs = said(git(folder).args(["status", "--porcelain", "--untracked-files=no"]));
    if differs.is_ok_and(|files| files.is_empty()) { commit } else { commit + "+" }
}

fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    forget_repository(&mut git).args(["-c", "submodule.recurse=false", "-C"]).arg(folder);
    git
}

/// Lets a command see none of what git tells its hooks.
pub fn forget_repository(command: &mut Command) -> &mut Command {
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"] {
        command.env_remove(name);
    }
    command
}

/// What a command said on standard output; else the last of what it said on standard error.
fn said(command: &mut Command) -> Result<String, String> {
    match command.output() {
        Ok(Output { status, stdout, .. }) if status.success() => {
            Ok(String::from_utf8_lossy(&stdout).trim_end_matches('\n').to_owned())
        }
        Ok(Output { stderr, .. }) => {
            let words = String::from_utf8_lossy(&stderr);
            Err(format!("git: {}", words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("failed")))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("git is not installed".to_owned()),
        Err(error) => Err(format!("git: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn git(folder: &Path, words: &[&str]) {
        let who = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        said(Command::new("git").arg("-C").arg(folder).args(who).args(words)).unwrap();
    }

    #[test]
    fn a_revision_and_the_working_tree_stand_at_one_path() {
        let folder = tempfile::tempdir().unwrap();
        let (top, build) = (folder.path().join("repository"), folder.path().join("build"));
        fs::create_dir_all(top.join("part/.roofline")).unwrap();
        git(&top, &["init", "--quiet"]);
        fs::write(top.join("tracked.log"), "kept").unwrap();
        for (name, text) in [(".gitignore", "ignored\n*.log\n"), ("part/kernel.c", "one"), ("gone.c", "old")]
        {
            fs::write(top.join(name), text).unwrap();
        }
        git(&top, &["add", "--all"]);
        git(&top, &["add", "--force", "tracked.log"]);
        git(&top, &["commit", "--quiet", "--message", "one"]);
        assert_eq!(revision(&top).len(), 10);
        for (name, text) in
            [("part/kernel.c", "two"), ("fresh.c", "new"), ("ignored", "x"), ("part/.roofline/db", "x")]
        {
            fs::write(top.join(name), text).unwrap();
        }
        fs::remove_file(top.join("gone.c")).unwrap();
        let repository = Repository::of(&top.join("part")).unwrap();
        assert!(revision(&top).ends_with('+') && revision(folder.path()).is_empty());
        let tree = |revision: &str| repository.tree(revision, &build);
        let old = repository.check_out(&tree("HEAD").unwrap(), &build).unwrap();
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        assert_eq!((read(&old.join("kernel.c")), read(&old.join("../gone.c"))), ("one".into(), "old".into()));
        fs::write(old.join("built"), "by a build").unwrap();
        let new = repository.check_out(&tree(".").unwrap(), &build).unwrap();
        assert_eq!(new, old);
        assert_eq!(
            (read(&new.join("kernel.c")), read(&new.join("../fresh.c"))),
            ("two".into(), "new".into())
        );
        assert!(
            !new.join("../gone.c").exists()
                && !new.join("../ignored").exists()
                && !new.join(".roofline").exists()
        );
        assert_eq!(
            (read(&new.join("built")), read(&new.join("../tracked.log"))),
            ("by a build".into(), "kept".into())
        );
        let elsewhere = Repository { below: "absent".into(), ..repository.clone() };
        assert!(elsewhere.check_out(&tree(".").unwrap(), &build).unwrap_err().contains("no folder `absent`"));
        assert!(tree("nothing").unwrap_err().contains("`nothing`"));
        assert!(tree("--help").is_err());
        assert_eq!(read(&top.join("part/kernel.c")), "two", "the working tree is as it was");
        assert!(Repository::of(&build).is_none());
    }
}
