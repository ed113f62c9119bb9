//! No circle between folders of a crate: of two, one can be read without the other.

use super::rust_text::code_only;
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// By folder of a crate, the folders that its code names.
type Arrows = BTreeMap<String, BTreeSet<String>>;

pub(super) fn problems(tree: &Tree) -> Vec<String> {
    let is_root = |file: &&str| file.ends_with("/src/lib.rs") || file.ends_with("/src/main.rs");
    let sources: BTreeSet<&str> =
        tree.files().filter(is_root).filter_map(|file| Some(file.rsplit_once('/')?.0)).collect();
    sources.into_iter().flat_map(|source| circles(source, &arrows(tree, source))).collect()
}

/// Folders that are seen from each other, by however many steps.
fn circles(source: &str, arrows: &Arrows) -> Vec<String> {
    let reached = |from: &String| {
        let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(next) = left.pop() {
            left.extend(arrows[next].iter().filter(|seen| reached.insert((*seen).clone())));
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        arrows.keys().map(|folder| (folder, reached(folder))).collect();
    let pairs = arrows.keys().flat_map(|one| arrows.keys().map(move |other| (one, other)));
    let circles = pairs
        .filter(|(one, other)| one < other && reached[one].contains(*other) && reached[other].contains(*one));
    circles.map(|(one, other)| format!("{source}: `{one}` and `{other}` see each other")).collect()
}

/// What the folders below `source` name of each other; what tests name does not count.
fn arrows(tree: &Tree, source: &str) -> Arrows {
    let below =
        |file: &str| file.strip_prefix(source).and_then(|file| file.strip_prefix('/')).map(str::to_owned);
    let folders = tree.files().filter_map(|file| Some(below(file)?.split_once('/')?.0.to_owned()));
    let mut arrows: Arrows = folders.map(|folder| (folder, BTreeSet::new())).collect();
    let is_code = |file: &str| {
        let is_test = file.ends_with("/tests.rs") || file.contains("/tests/");
        file.ends_with(".rs") && !is_test && below(file).is_some()
    };
    let known: BTreeSet<String> = arrows.keys().cloned().collect();
    for (file, text) in tree.texts(is_code) {
        let folder = below(file).unwrap_or_default();
        let folder = folder.split_once('/').map_or(folder.trim_end_matches(".rs"), |(first, _)| first);
        if let Some(seen) = arrows.get_mut(folder) {
            let code = code_only(text.split("#[cfg(test)]").next().unwrap_or_default());
            seen.extend(named(&code).into_iter().filter(|name| name != folder && known.contains(name)));
        }
    }
    arrows
}

/// The modules that stand after `crate::`, alone or in braces.
fn named(code: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = Vec::new();
    for (at, mark) in code.match_indices("crate::") {
        let rest = &code[at + mark.len()..];
        let Some(inside) = rest.strip_prefix('{') else {
            names.push(word(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (place, c) in inside.char_indices() {
            match c {
                '{' => depth += 1,
                ',' | '}' if depth == 0 => {
                    names.push(word(&inside[start..place]));
                    start = place + 1;
                    if c == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_alone_and_in_braces() {
        let code = "use crate::one::{Two, three::Four};\nuse crate::{Five, six, seven::{Eight, nine}};\ncrate::ten()";
        assert_eq!(named(code), ["one", "Five", "six", "seven", "ten"]);
    }

    #[test]
    fn circles_are_found_and_straight_lines_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("one/src/lib.rs", "mod a; mod b; mod c;");
        write("one/src/a.rs", "use crate::b::x;");
        write("one/src/a/more.rs", "// crate::c is not seen");
        write("one/src/b/mod.rs", "fn x() { crate::c::y() }");
        write("one/src/c/deep.rs", "#[cfg(test)]\nuse crate::a;");
        let files =
            ["one/src/lib.rs", "one/src/a.rs", "one/src/a/more.rs", "one/src/b/mod.rs", "one/src/c/deep.rs"];
        let tree = Tree::of(folder.path(), &files);
        assert_eq!(problems(&tree), Vec::<String>::new());
        write("one/src/c/deep.rs", "use crate::{d, a};");
        let found = problems(&Tree::of(folder.path(), &files));
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], "one/src: `a` and `b` see each other");
    }
}
