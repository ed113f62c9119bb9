//! Rules of the tree that no compiler holds: who may depend on whom, where `unsafe` may stand, what
//! must not be left behind, documents that lead somewhere.
//!
//! A rule is a function from the tree to its problems and a row in `RULES`. `cargo test -p xtask`
//! holds all of them; `cargo xtask tidy` prints what is wrong.

mod arrows;
mod circles;
mod documents;
mod locks;
mod rust_text;
mod sources;
mod tree;

pub(crate) use documents::fenced_lines;
pub(crate) use tree::Tree;

use crate::step::{self, Failure};
use std::path::Path;
use std::process::ExitCode;

/// A rule and how to find what breaks it.
struct Rule {
    name: &'static str,
    about: &'static str,
    problems: fn(&Tree) -> Vec<String>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "arrows",
        about: "crates see only what ARCHITECTURE allows: the judge cannot call what it judges",
        problems: arrows::problems,
    },
    Rule {
        name: "circles",
        about: "of two folders of a crate, one can be read without the other",
        problems: circles::problems,
    },
    Rule {
        name: "unsafe",
        about: "`unsafe` stands in kernel crates and in `sys` modules only",
        problems: sources::unsafe_outside_sys,
    },
    Rule { name: "forbid", about: "crates without unsafe code forbid it", problems: sources::missing_forbid },
    Rule {
        name: "pure",
        about: "the core reads no clock, no file, no environment",
        problems: sources::impure_core,
    },
    Rule {
        name: "finished",
        about: "no marks of unfinished work, no test that is switched off",
        problems: sources::unfinished,
    },
    Rule { name: "paths", about: "no path of somebody's machine", problems: sources::machine_paths },
    Rule { name: "length", about: "a file is one thing: at most 600 lines", problems: sources::long_files },
    Rule { name: "blanks", about: "no blanks at the end of a line", problems: sources::trailing_blanks },
    Rule {
        name: "content",
        about: "a crate is made when it has content and a test",
        problems: sources::empty_crates,
    },
    Rule {
        name: "toml",
        about: "TOML files parse; a runner has a name and a command",
        problems: sources::broken_toml,
    },
    Rule {
        name: "locks",
        about: "lock files outside the workspace know what our crates need",
        problems: locks::problems,
    },
    Rule {
        name: "links",
        about: "links to files and headings lead somewhere",
        problems: documents::broken_links,
    },
    Rule {
        name: "orphans",
        about: "every document can be reached from the README, ARCHITECTURE or the guide",
        problems: documents::orphans,
    },
];

pub(crate) fn run(_: &[String]) -> Result<ExitCode, Failure> {
    hold(&step::workspace_root()).map(|()| ExitCode::SUCCESS)
}

/// Fails with the list of everything that breaks a rule.
pub(crate) fn hold(root: &Path) -> Result<(), Failure> {
    let tree = Tree::read(root)?;
    let mut broken = Vec::new();
    for rule in RULES {
        let problems = (rule.problems)(&tree);
        if !problems.is_empty() {
            broken.push(format!("{}: {}\n  {}", rule.name, rule.about, problems.join("\n  ")));
        }
    }
    if broken.is_empty() {
        return Ok(());
    }
    let hint = "mend them, or change the rule in `xtask/src/tidy` with a reason";
    Err(Failure::new("tidy", format!("rules of the tree are broken\n\n{}", broken.join("\n\n")), hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        if let Err(failure) = hold(&step::workspace_root()) {
            panic!("{failure}");
        }
    }

    #[test]
    fn rules_have_different_names() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
    }
}
