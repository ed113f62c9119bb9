//! The file that studies of one revision on one machine add to: `results/MACHINE/noise-study.jsonl`.
//!
//! A line is a study that began, one comparison, or what Criterion said of a kernel. A study at another
//! revision starts the file anew: what two revisions found is not added up.

use super::{KINDS, LEGS};
use crate::journal::aside;
use roofline_core::verdict::{FEWEST_SETS, Word};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What the file is called in the folder of a machine, and the page that is made from it.
const FILE: &str = "noise-study.jsonl";
const PAGE: &str = "noise-study.md";

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    Study(Study),
    Try(Try),
    Rival(Rival),
}

/// A study: one start of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// What the lines of this study name it by.
    pub id: String,
    pub revision: String,
    pub command: String,
    /// What else the machine did meanwhile, in words.
    pub beside: String,
    /// The case that each of its kinds was: it may be another at another revision.
    pub kinds: BTreeMap<String, String>,
    /// What the page says of program and machine.
    pub facts: Vec<(String, String)>,
}

/// What one comparison came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Try {
    pub study: String,
    pub finished: String,
    pub kind: String,
    /// Time for the comparison, in seconds, and whether another load ran.
    pub budget: u64,
    pub loaded: bool,
    pub name: String,
    /// `None` below six sets, or when the row failed.
    pub word: Option<Word>,
    /// ln(time / time of `a`), and how far it may be off; as `word`.
    pub mean: Option<f64>,
    pub half: Option<f64>,
    /// Spent on this row in all sets.
    pub seconds: f64,
    /// The value of each set, to a millionth.
    pub sets: Vec<f64>,
    /// Why the row failed; empty for `ok`.
    pub failure: String,
}

/// Verdicts of Criterion on one kernel, each run against the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rival {
    pub study: String,
    pub finished: String,
    pub kind: String,
    pub comparisons: u32,
    pub regressed: u32,
    pub improved: u32,
}

/// What one or more studies found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub studies: Vec<Study>,
    pub tries: Vec<Try>,
    pub rivals: Vec<Rival>,
}

impl Outcome {
    /// Reads the bytes of a file.
    pub fn read(bytes: &[u8]) -> Result<Outcome, String> {
        let mut outcome = Outcome::default();
        let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|byte| *byte == b'\n');
        for (number, line) in lines.enumerate().filter(|_| !bytes.is_empty()) {
            let line = serde_json::from_slice(line).map_err(|error| error.to_string());
            line.and_then(|line| outcome.add(line)).map_err(|why| format!("line {}: {why}", number + 1))?;
        }
        Ok(outcome)
    }

    /// Takes one more line, or says what is wrong with it.
    pub fn add(&mut self, line: Line) -> Result<(), String> {
        match line {
            Line::Study(study) => {
                if self.studies.iter().any(|other| other.id == study.id) {
                    return Err(format!("a second study `{}`", study.id));
                }
                if let Some(other) = self.studies.iter().find(|other| other.revision != study.revision) {
                    return Err(format!("revision {} after {}", study.revision, other.revision));
                }
                self.studies.push(study);
            }
            Line::Try(one) => {
                self.know(&one.study, &one.kind)?;
                let is_leg = LEGS.iter().any(|leg| {
                    (leg.budget, leg.loaded) == (one.budget, one.loaded)
                        && leg.names.contains(&one.name.as_str())
                });
                if !is_leg {
                    return Err(format!("`{}` is not compared in {} s", one.name, one.budget));
                }
                let is_decided = one.word.is_some();
                if (one.mean.is_some(), one.half.is_some()) != (is_decided, is_decided)
                    || is_decided && one.sets.len() < FEWEST_SETS
                    || one.half.is_some_and(|half| half < 0.0)
                    || one.seconds < 0.0
                {
                    return Err("its word, interval, sets and time do not fit each other".to_owned());
                }
                self.tries.push(one);
            }
            Line::Rival(rival) => {
                self.know(&rival.study, &rival.kind)?;
                if u64::from(rival.regressed) + u64::from(rival.improved) > u64::from(rival.comparisons) {
                    return Err("more verdicts than comparisons".to_owned());
                }
                self.rivals.push(rival);
            }
        }
        Ok(())
    }

    fn know(&self, study: &str, kind: &str) -> Result<(), String> {
        let told = self.studies.iter().find(|other| other.id == study);
        let told = told.ok_or_else(|| format!("no line before it tells of a study `{study}`"))?;
        let is_kind = told.kinds.contains_key(kind) && KINDS.iter().any(|other| other.name == kind);
        if is_kind { Ok(()) } else { Err(format!("no kind `{kind}`")) }
    }

    /// The case that a kind was.
    pub fn case(&self, kind: &str) -> &str {
        self.studies.iter().find_map(|study| study.kinds.get(kind)).map_or("", String::as_str)
    }
}

/// The file, open for one study to add to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the file in the folder of a machine and begins a study in it.
    pub fn begin(folder: &Path, study: &Study) -> io::Result<Journal> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(FILE);
        let mut file = File::options().read(true).append(true).create(true).open(&path)?;
        // Studies may begin at the same moment, each on cores of its own.
        file.lock()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let there = Outcome::read(&bytes).map_err(|why| unreadable(&path, &why))?;
        // What two revisions found is not added up, and not lost.
        if let Some(other) = there.studies.iter().find(|other| other.revision != study.revision) {
            std::fs::write(aside(&path, &other.revision), &bytes)?;
            file.set_len(0)?;
        }
        file.unlock()?;
        let mut journal = Journal { path, file };
        journal.add(&Line::Study(study.clone()))?;
        Ok(journal)
    }

    /// Adds a line, so that whatever ends the study, what it found until then is there.
    pub fn add(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())
    }

    /// Where the file lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes the page beside a file anew, from all of its lines; answers with the page and what it stands on.
pub fn publish(path: &Path) -> io::Result<(String, Outcome)> {
    let bytes = std::fs::read(path)
        .map_err(|error| io::Error::other(format!("{} cannot be read: {error}", path.display())))?;
    let outcome = Outcome::read(&bytes).map_err(|why| unreadable(path, &why))?;
    let page = super::table::page(&outcome);
    std::fs::write(path.with_file_name(PAGE), &page)?;
    Ok((page, outcome))
}

fn unreadable(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!(
        "{}, {why}\n  no study can add to this file: mend or delete the line, or move the file away",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = concat!(
        r#"{"study":{"id":"s","revision":"r1","command":"c","beside":"nothing","#,
        r#""kinds":{"long":"matmul/f32/m=1,n=1,k=1","short":"softmax/f32/rows=1,cols=1"},"#,
        r#""facts":[["system","x"]]}}"#
    );
    const RIVAL: &str =
        r#"{"rival":{"study":"s","finished":"t","kind":"short","comparisons":3,"regressed":1,"improved":1}}"#;

    fn one(change: impl Fn(&mut Try)) -> String {
        let mut one = Try {
            study: "s".to_owned(),
            finished: "t".to_owned(),
            kind: "long".to_owned(),
            budget: 3,
            loaded: true,
            name: "b".to_owned(),
            word: Some(Word::Same),
            mean: Some(0.001),
            half: Some(0.002),
            seconds: 1.5,
            sets: vec![0.001; 6],
            failure: String::new(),
        };
        change(&mut one);
        serde_json::to_string(&Line::Try(one)).unwrap()
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let text = format!("{STUDY}\n{}\n{RIVAL}\n", one(|_| ()));
        let outcome = Outcome::read(text.as_bytes()).unwrap();
        assert_eq!((outcome.studies.len(), outcome.tries.len(), outcome.rivals.len()), (1, 1, 1));
        let again = [
            Line::Study(outcome.studies[0].clone()),
            Line::Try(outcome.tries[0].clone()),
            Line::Rival(outcome.rivals[0].clone()),
        ];
        let lines: Vec<String> = again.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        assert_eq!(lines.join("\n") + "\n", text);
        assert!(Outcome::read(b"").unwrap().studies.is_empty());
    }

    #[test]
    fn hostile_lines_are_refused_with_their_number() {
        let other = STUDY.replace("\"s\"", "\"s2\"").replace("r1", "r2");
        let rows = [
            ("{\"study\":".to_owned(), "EOF"),
            (String::new(), "EOF"),
            ("\u{feff}{}".to_owned(), "expected value"),
            ("[".repeat(10_000), "expected value"),
            (STUDY.to_owned(), "a second study"),
            (other, "revision r2 after r1"),
            (STUDY.replace("\"facts\"", "\"tales\""), "unknown field"),
            (one(|one| one.study = "who".to_owned()), "tells of a study"),
            (one(|one| one.kind = "quantum".to_owned()), "no kind"),
            (one(|one| one.kind = "mem-1t".to_owned()), "no kind"),
            (one(|one| one.name = "b-5".to_owned()), "not compared in 3 s"),
            (one(|one| one.budget = 99), "not compared in 99 s"),
            (one(|one| one.half = None), "do not fit"),
            (one(|one| one.half = Some(-1.0)), "do not fit"),
            (one(|one| one.sets.truncate(5)), "do not fit"),
            (one(|_| ()).replace("1.5", "1e999"), "out of range"),
            (one(|_| ()).replace("same", "perhaps"), "unknown variant"),
            (RIVAL.replace("\"comparisons\":3", "\"comparisons\":1"), "more verdicts"),
            (RIVAL.replace("\"regressed\":1", "\"regressed\":-1"), "invalid value"),
        ];
        for (line, why) in rows {
            let error = Outcome::read(format!("{STUDY}\n{line}\n{RIVAL}\n").as_bytes()).unwrap_err();
            assert!(error.starts_with("line 2: ") && error.contains(why), "{line:.80}: {error}");
        }
        assert!(Outcome::read(b"\xff\xfe\n").unwrap_err().starts_with("line 1: "));
    }

    #[test]
    fn studies_of_one_revision_add_up_and_another_starts_anew() {
        let folder = std::env::temp_dir().join(format!("roofline-journal-{}", std::process::id()));
        let study = |id: &str, revision: &str| Study {
            id: id.to_owned(),
            revision: revision.to_owned(),
            command: "cargo xtask noise-study".to_owned(),
            beside: "nothing".to_owned(),
            kinds: BTreeMap::new(),
            facts: Vec::new(),
        };
        let ids = || {
            let (_, outcome) = publish(&folder.join(FILE)).unwrap();
            outcome.studies.into_iter().map(|study| study.id).collect::<Vec<_>>()
        };
        Journal::begin(&folder, &study("a", "r1")).unwrap();
        Journal::begin(&folder, &study("b", "r1")).unwrap();
        assert_eq!(ids(), ["a", "b"]);
        Journal::begin(&folder, &study("c", "r2")).unwrap();
        assert_eq!(ids(), ["c"]);
        assert!(
            Outcome::read(&std::fs::read(folder.join("noise-study-r1.jsonl")).unwrap())
                .unwrap()
                .studies
                .len()
                == 2
        );
        assert!(folder.join(PAGE).exists());

        std::fs::write(folder.join(FILE), "garbage\n").unwrap();
        let error = Journal::begin(&folder, &study("d", "r2")).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("move the file away"), "{error}");
        assert_eq!(std::fs::read(folder.join(FILE)).unwrap(), b"garbage\n");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
