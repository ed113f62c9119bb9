//! A file that studies of one revision on one machine add to, line by line, so that hours can be spent in parts:
//! `results/MACHINE/NAME.jsonl`, and the page that is made from it.
//!
//! A study at another revision of what it studies starts the file anew: what two revisions found is not added up.

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
        if journal.lines()?.iter().any(|line: &L| line.revision() != journal.revision) {
            // Several studies may start beside each other, and another be first.
            match std::fs::remove_file(&journal.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
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
        std::fs::write(folder.path().join("study.jsonl"), "{\n").unwrap();
        let broken = Journal::<Found>::open_in(folder.path(), "study", Machine::read(), "b".to_owned());
        assert!(broken.is_err_and(|error| error.to_string().contains("line 1")));
    }
}
