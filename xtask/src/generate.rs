//! `cargo xtask generate`: parts of documents that are made from the program or from results.
//!
//! In a document, a part stands between a line `<!-- generated: NAME -->` and a line `<!-- end -->`; a
//! word after the name is the generator's to understand. A generator is a function and a row in
//! `GENERATORS`; one that has nothing to work from here leaves the part as it is. `--check` writes
//! nothing and fails when a part is stale.

mod cli_help;
mod readme_table;
mod support;

use crate::step::{self, Failure};
use crate::tidy::{Tree, fenced_lines};
use std::path::Path;
use std::process::ExitCode;

/// Makes one named part.
struct Generator {
    name: &'static str,
    make: fn(&Path, word: &str) -> Result<Option<String>, Failure>,
    /// Where the part as it stands is at odds with what is made here.
    at_odds: Compare,
}

/// What two versions of a part disagree about, a line each.
type Compare = fn(old: &str, new: &str) -> Vec<String>;

const GENERATORS: &[Generator] = &[
    Generator { name: "readme-table", make: readme_table::make, at_odds: differs },
    Generator { name: "cli-help", make: cli_help::make, at_odds: differs },
    Generator { name: "support", make: support::make, at_odds: support::at_odds },
];

/// Everything is made alike on every machine.
fn differs(old: &str, new: &str) -> Vec<String> {
    let difference = (old.trim() != new.trim()).then(|| "it is made otherwise now".to_owned());
    difference.into_iter().collect()
}

const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end -->";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let root = step::workspace_root();
    match arguments {
        [] => write(&root)?,
        [flag] if flag == "--check" => compare(&root)?,
        _ => {
            let hint = "run `cargo xtask generate`";
            return Err(Failure::new("generate", "the only argument is `--check`", hint));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails when a part is not what its generator makes now.
pub(crate) fn compare(root: &Path) -> Result<(), Failure> {
    let stale = changed_documents(root, |generator| generator.at_odds)?;
    if stale.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = stale.iter().flat_map(|document| document.why.clone()).collect();
    let why = format!("generated parts are stale:\n  {}", lines.join("\n  "));
    Err(Failure::new("generated", why, "run `cargo xtask generate` and commit what it changes"))
}

fn write(root: &Path) -> Result<(), Failure> {
    for Changed { path, text, .. } in changed_documents(root, |_| differs)? {
        std::fs::write(root.join(&path), text).map_err(|error| {
            Failure::new("generate", format!("`{path}`: {error}"), "make the file writable")
        })?;
        println!("wrote {path}");
    }
    Ok(())
}

/// A document with a part that is not as it is made now.
struct Changed {
    path: String,
    /// The text that it should have.
    text: String,
    /// What is at odds, a line each.
    why: Vec<String>,
}

/// Documents with parts that are at odds with what is made now, as `compare` chooses for a generator.
fn changed_documents(root: &Path, compare: fn(&Generator) -> Compare) -> Result<Vec<Changed>, Failure> {
    let tree = Tree::read(root)?;
    let mut changed = Vec::new();
    for path in tree.files_named(&["md"]) {
        let Some(text) = tree.text(path) else { continue };
        let mut why = Vec::new();
        let new = regenerate(&text, &mut |part, old| {
            let (name, word) = part.split_once(' ').unwrap_or((part, ""));
            let generator = GENERATORS.iter().find(|generator| generator.name == name).ok_or_else(|| {
                let known: Vec<&str> = GENERATORS.iter().map(|generator| generator.name).collect();
                let hint = format!("known generators: {}", known.join(", "));
                Failure::new("generate", format!("`{path}` asks for `{name}`, which nothing makes"), hint)
            })?;
            let Some(new) = (generator.make)(root, word)? else { return Ok(None) };
            let odds = compare(generator)(old, &new);
            let is_changed = !odds.is_empty();
            why.extend(odds.iter().map(|odd| format!("{path}, part `{part}`: {odd}")));
            Ok(is_changed.then_some(new))
        })
        .map_err(|failure| Failure { why: format!("`{path}`: {}", failure.why), ..failure })?;
        if new != text {
            changed.push(Changed { path: path.to_string(), text: new, why });
        }
    }
    Ok(changed)
}

/// Makes a part from what stands after `generated:` and the part as it is; `None` leaves it.
type Make<'a> = dyn FnMut(&str, &str) -> Result<Option<String>, Failure> + 'a;

/// `text` with each part made anew. Markers inside code blocks are text about markers.
fn regenerate(text: &str, make: &mut Make) -> Result<String, Failure> {
    let fenced = fenced_lines(text);
    let mut lines = text.lines().enumerate();
    let mut new = String::new();
    while let Some((number, line)) = lines.next() {
        new += line;
        new.push('\n');
        let name = line.trim().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(" -->"));
        let Some(name) = name.filter(|_| !fenced[number]) else { continue };
        // What was generated may hold code blocks of its own: only the end marker counts here.
        let old: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != END).collect();
        let closed = text.lines().nth(number + 1 + old.len()).is_some();
        if !closed {
            let hint = format!("write `{END}` on its own line after it");
            return Err(Failure::new("generate", format!("line {}: `{name}` has no end", number + 1), hint));
        }
        match make(name, &old.join("\n"))? {
            Some(part) => new += &format!("\n{}\n\n", part.trim()),
            None => old.iter().for_each(|line| new += &format!("{line}\n")),
        }
        new += END;
        new.push('\n');
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shout(name: &str, _: &str) -> Result<Option<String>, Failure> {
        match name {
            "empty" => Ok(None),
            "broken" => Err(Failure::new("generate", "broken", "")),
            name => Ok(Some(format!("{}!\n", name.to_uppercase()))),
        }
    }

    #[test]
    fn parts_are_replaced_and_the_rest_stays() {
        let text = "a\n<!-- generated: x -->\nold\n```\nold\n<!-- end -->\nb\n";
        let new = regenerate(text, &mut shout).expect("generates");
        assert_eq!(new, "a\n<!-- generated: x -->\n\nX!\n\n<!-- end -->\nb\n");
        assert_eq!(regenerate(&new, &mut shout).expect("generates"), new);
    }

    #[test]
    fn nothing_to_work_from_leaves_the_part() {
        let text = "<!-- generated: empty -->\n\nold\n<!-- end -->\n";
        assert_eq!(regenerate(text, &mut shout).expect("generates"), text);
    }

    #[test]
    fn markers_in_code_blocks_are_text() {
        let text = "```\n<!-- generated: x -->\n```\n";
        assert_eq!(regenerate(text, &mut shout).expect("generates"), text);
    }

    #[test]
    fn a_part_without_an_end_and_a_broken_generator_fail() {
        assert!(regenerate("<!-- generated: x -->\nold\n", &mut shout).is_err());
        assert!(regenerate("<!-- generated: x -->", &mut shout).is_err());
        assert!(regenerate("<!-- generated: broken -->\n<!-- end -->\n", &mut shout).is_err());
    }
}
