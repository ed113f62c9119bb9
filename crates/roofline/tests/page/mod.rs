//! Pages that tests follow to the letter: their blocks become files, their commands are run.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A code block with `file=PATH` in its first line: a whole file, or a `diff` that changes one.
#[derive(Debug)]
pub struct Block {
    pub section: String,
    pub path: String,
    is_change: bool,
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
        let Some((language, path)) = info.split_once(" file=") else { continue };
        let is_change = language == "diff";
        blocks.push(Block { section: section.clone(), path: path.trim().to_owned(), is_change, text });
    }
    blocks
}

impl Block {
    /// Lines that somebody who follows the recipe writes.
    pub fn lines(&self) -> usize {
        self.text.lines().filter(|line| !self.is_change || line.starts_with('+')).count()
    }

    pub fn apply(&self, page: &str, files: &mut BTreeMap<String, Vec<u8>>) {
        let Block { path, text, .. } = self;
        if !self.is_change {
            let old = files.insert(path.clone(), text.clone().into_bytes());
            assert!(old.is_none(), "{page} adds `{path}`, which is there already");
            return;
        }
        let old =
            files.get(path).unwrap_or_else(|| panic!("{page} changes `{path}`, which is not there"));
        let mut new = String::from_utf8(old.clone()).expect("a changed file is text");
        for hunk in text.split("@@\n") {
            let side = |leave_out: char| -> String {
                let lines = hunk.lines().filter(|line| !line.starts_with(leave_out));
                lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
            };
            let (before, after) = (side('+'), side('-'));
            let found = new.matches(&before).count();
            assert!(
                found == 1 && !before.is_empty(),
                "{page} changes `{path}` where these lines stand, which is at {found} places:\n{before}"
            );
            new = new.replace(&before, &after);
        }
        files.insert(path.clone(), new.into_bytes());
    }
}

/// The lines of the blocks in shell under one heading.
pub fn commands(page: &str, section: &str) -> Vec<String> {
    let (mut commands, mut inside, mut shell) = (Vec::new(), false, false);
    for line in page.lines() {
        match line.strip_prefix("## ") {
            Some(heading) => inside = heading == section,
            None if line.starts_with("```") => shell = line == "```sh",
            None if inside && shell => commands.push(line.to_owned()),
            None => {}
        }
    }
    commands
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

/// What a command prints, if it ends well.
pub fn succeed(command: &mut Command, hint: &str) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| {
        panic!("`{}` could not be started: {error}", command.get_program().display())
    });
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}\nhint: {hint}");
    stdout.into_owned()
}
