//! A file that studies of one revision on one machine add to, line by line, so that hours can be spent in parts:
//! `results/MACHINE/NAME.jsonl`, and the page that is made from it.
//!
//! A study at another revision of what it studies starts the file anew, for what two revisions found is not added up. What the
//! other one found is kept beside it, under its revision.

use crate::facts::{revision, setting};
use roofline_conductor::machine::Machine;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A line says at which revision it was found.
pub(crate) trait Line: Serialize + DeserializeOwned {
    fn revision(&self) -> &str;
}

pub(crate) struct Journal<L> {
    path: PathBuf,
    machine: Machine,
    pub(crate) revision: String,
    lines: PhantomData<L>,
}

impl<L: Line> Journal<L> {
    /// That of this machine and of the revision of these sources.
    pub(crate) fn open(name: &str, of: &[&str]) -> io::Result<Journal<L>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let machine = Machine::read();
        let folder = root.join("results").join(machine.fingerprint());
        Journal::open_in(&folder, name, machine, revision(&root, of))
    }

    fn open_in(folder: &Path, name: &str, machine: Machine, revision: String) -> io::Result<Journal<L>> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("{name}.jsonl"));
        let journal = Journal { path, machine, revision, lines: PhantomData };
        let lines = journal.lines()?;
        if let Some(other) = lines.iter().find(|line: &&L| line.revision() != journal.revision) {
            for path in [&journal.path, &journal.path.with_extension("md")] {
                // Several studies may start beside each other, and another be first.
                match std::fs::rename(path, aside(path, other.revision())) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(journal)
    }

    pub(crate) fn add(&self, line: &L) -> io::Result<()> {
        let mut file = File::options().append(true).create(true).open(&self.path)?;
        file.write_all((serde_json::to_string(line)? + "\n").as_bytes())
    }

    pub(crate) fn lines(&self) -> io::Result<Vec<L>> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let read = |(number, line): (usize, &str)| {
            let place = || format!("{}, line {}", self.path.display(), number + 1);
            serde_json::from_str(line).map_err(|error| io::Error::other(format!("{}: {error}", place())))
        };
        text.lines().enumerate().map(read).collect()
    }

    /// Writes the page: its title, how it was made, and `tables`.
    pub(crate) fn publish(&self, title: &str, command: &str, tables: &str) -> io::Result<String> {
        let mut page = format!("# {title}\n\n- last command: `{command}`\n");
        for (name, fact) in setting(&self.machine, &self.revision) {
            page += &format!("- {name}: {fact}\n");
        }
        page += tables;
        std::fs::write(self.path.with_extension("md"), &page)?;
        Ok(page)
    }
}

/// A name beside a file's, with the revision that wrote it, that nothing has yet.
pub(crate) fn aside(path: &Path, revision: &str) -> PathBuf {
    let [stem, ending] =
        [path.file_stem(), path.extension()].map(|part| part.unwrap_or_default().to_string_lossy());
    let name = |number: usize| match number {
        0 => format!("{stem}-{revision}.{ending}"),
        _ => format!("{stem}-{revision}-{number}.{ending}"),
    };
    let mut paths = (0..).map(|number| path.with_file_name(name(number)));
    paths.find(|path| !path.exists()).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Serialize, Deserialize)]
    struct Found(String, u32);

    impl Line for Found {
        fn revision(&self) -> &str {
            &self.0
        }
    }

    #[test]
    fn runs_of_one_revision_add_up_and_another_starts_anew() {
        let folder = tempfile::tempdir().unwrap();
        let open = |revision: &str| {
            let machine = Machine::read();
            Journal::<Found>::open_in(folder.path(), "study", machine, revision.to_owned()).unwrap()
        };
        for _ in 0..2 {
            open("a").add(&Found("a".to_owned(), 1)).unwrap();
        }
        let journal = open("a");
        assert_eq!(journal.lines().unwrap().len(), 2);
        let page = journal.publish("A study", "cargo xtask study", "\n2 lines\n").unwrap();
        assert!(page.contains("revision a") && page.ends_with("\n2 lines\n"), "{page}");
        assert!(open("b").lines().unwrap().is_empty());
        let kept = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(kept("study-a.jsonl").lines().count(), 2);
        assert!(kept("study-a.md").ends_with("2 lines\n"));
        // Once more of the same revision, as of one with changes: what is there already stays.
        open("b").add(&Found("a".to_owned(), 2)).unwrap();
        assert!(open("b").lines().unwrap().is_empty());
        assert_eq!((kept("study-a.jsonl").lines().count(), kept("study-a-1.jsonl").lines().count()), (2, 1));
        std::fs::write(folder.path().join("study.jsonl"), "{\n").unwrap();
        let broken = Journal::<Found>::open_in(folder.path(), "study", Machine::read(), "b".to_owned());
        assert!(broken.is_err_and(|error| error.to_string().contains("line 1")));
    }
}
