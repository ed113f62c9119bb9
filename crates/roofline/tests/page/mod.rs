//! Pages that tests follow to the letter: their blocks become files, changes of files, and commands.
//!
//! ```` ```c file=mine.c ```` is a file, ```` ```diff file=mine.c ```` a change of it, ```` ```sh ```` are commands,
//! which end with 0 or with the code of ```` ```sh exit=4 ````; those of ```` ```sh needs=torch ```` run where torch is.
//! Other blocks are for the eye.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

#[derive(Debug)]
pub struct Block {
    /// The heading above it.
    pub section: String,
    pub language: String,
    attributes: BTreeMap<String, String>,
    pub text: String,
}

pub fn blocks(page: &str) -> Vec<Block> {
    let (mut blocks, mut section, mut lines) = (Vec::new(), String::new(), page.lines());
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut section);
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let text: String =
            lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
        let mut words = info.split_whitespace();
        let language = words.next().unwrap_or_default().to_owned();
        let attributes = words.filter_map(|word| word.split_once('='));
        let attributes = attributes.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        blocks.push(Block { section: section.clone(), language, attributes, text });
    }
    blocks
}

impl Block {
    /// The file that it writes or changes.
    pub fn file(&self) -> Option<&str> {
        self.attributes.get("file").map(String::as_str)
    }

    pub fn is_shell(&self) -> bool {
        self.language == "sh"
    }

    pub fn is_change(&self) -> bool {
        self.language == "diff"
    }

    /// Lines that somebody who follows the recipe writes.
    pub fn lines(&self) -> usize {
        self.text.lines().filter(|line| !self.is_change() || line.starts_with('+')).count()
    }

    /// The library without which its commands are left out.
    pub fn needs(&self) -> Option<&str> {
        self.attributes.get("needs").map(String::as_str)
    }

    /// The code with which its commands end.
    pub fn exit(&self) -> i32 {
        self.attributes.get("exit").map_or(0, |code| code.parse().expect("`exit=` names a code"))
    }

    /// Makes the file, or makes the change where the lines before it stand, which is at one place.
    pub fn apply(&self, files: &mut BTreeMap<String, Vec<u8>>) {
        let path = self.file().expect("a block with `file=`");
        if !self.is_change() {
            let old = files.insert(path.to_owned(), self.text.clone().into_bytes());
            assert!(old.is_none(), "a block adds `{path}`, which is there already");
            return;
        }
        let old = files.get(path).unwrap_or_else(|| panic!("a block changes `{path}`, which is not there"));
        let mut new = String::from_utf8(old.clone()).expect("a changed file is text");
        for hunk in self.text.split("@@\n") {
            let side = |leave_out: char| -> String {
                let lines = hunk.lines().filter(|line| !line.starts_with(leave_out));
                lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
            };
            let (before, after) = (side('+'), side('-'));
            let found = new.matches(&before).count();
            assert!(
                found == 1 && !before.is_empty(),
                "a block changes `{path}` where these lines stand, which is at {found} places:\n{before}"
            );
            new = new.replace(&before, &after);
        }
        files.insert(path.to_owned(), new.into_bytes());
    }
}

/// Makes `tree` hold exactly these files, and leaves alone those that do already.
pub fn write_tree(tree: &Path, files: &BTreeMap<String, Vec<u8>>) {
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(tree).expect("a path of the tree").display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if !files.contains_key(&name) {
                fs::remove_file(path).expect("a file that can be removed");
            }
        }
    }
    for (name, content) in files {
        let path = tree.join(name);
        if fs::read(&path).is_ok_and(|old| old == *content) {
            continue;
        }
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder of the tree");
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// What a command prints, if it ends well. Where clocks doubt a row, on a machine that others use as well, it is asked again,
/// twice at most.
pub fn succeed(command: &mut Command, hint: &str) -> String {
    for tries in 0.. {
        let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| {
            panic!("`{}` could not be started: {error}", command.get_program().display())
        });
        let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        if status.success() {
            return stdout.into_owned();
        }
        let is_doubted = status.code() == Some(4) && stdout.contains("suspect");
        assert!(is_doubted && tries < 2, "{command:?}: {status}\n{stdout}\n{stderr}\nhint: {hint}");
        let _ = writeln!(std::io::stderr(), "once more: {command:?}\n{stdout}");
    }
    unreachable!("it is asked until it ends well or has failed")
}
