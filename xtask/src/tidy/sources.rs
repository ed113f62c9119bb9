//! Rules about source files.

use super::rust_text::{code_only, has_word};
use super::tree::{Tree, is_fixture};
use std::path::Path;

/// Crates that may hold unsafe code: kernels anywhere, these two in their `sys` modules.
const KERNEL_CRATES: &[&str] = &["roofline-lanes", "roofline-cpu", "roofline-cuda"];
const SYS_CRATES: &[&str] = &["roofline-runner", "roofline-conductor"];

/// Files longer than that are several things.
const MOST_LINES: usize = 600;
/// Longer files that are one thing all the same, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// A crate below this many lines is a plan, not a crate.
const FEWEST_LINES: usize = 40;

const SOURCE_ENDINGS: &[&str] =
    &["rs", "py", "pyi", "c", "h", "cpp", "hpp", "cu", "cuh", "js", "ts", "css", "html", "sql", "sh"];

pub(super) fn unsafe_outside_sys(tree: &Tree) -> Vec<String> {
    let must_be_safe = |file: &str| {
        let in_sys = file.ends_with("/sys.rs") || file.contains("/sys/");
        let is_place = KERNEL_CRATES.iter().any(|name| is_of(file, name))
            || (in_sys && SYS_CRATES.iter().any(|name| is_of(file, name)));
        // Programs under `runners/` are not trusted, so nothing rests on their being safe.
        !is_place && !file.starts_with("runners/")
    };
    rust_lines(tree, must_be_safe, |code| has_word(code, "unsafe").then(|| "unsafe code".to_string()))
}

pub(super) fn missing_forbid(tree: &Tree) -> Vec<String> {
    let is_root = |file: &str| {
        let in_crate = file.starts_with("crates/") || file.starts_with("xtask/");
        in_crate && (file.ends_with("/src/lib.rs") || file.ends_with("/src/main.rs"))
    };
    let may_hold_unsafe = |file: &str| KERNEL_CRATES.iter().chain(SYS_CRATES).any(|name| is_of(file, name));
    let roots = tree.texts(|file| is_root(file) && !may_hold_unsafe(file));
    let without = roots.filter(|(_, text)| !code_only(text).contains("#![forbid(unsafe_code)]"));
    without.map(|(file, _)| format!("{file}: add `#![forbid(unsafe_code)]`")).collect()
}

pub(super) fn impure_core(tree: &Tree) -> Vec<String> {
    const OUTSIDE: &[&str] = &[
        "std::fs",
        "std::net",
        "std::process",
        "std::env",
        "std::io",
        "std::thread",
        "Instant",
        "SystemTime",
    ];
    let is_core = |file: &str| file.starts_with("crates/roofline-core/src/") && !file.ends_with("/tests.rs");
    let mut problems = Vec::new();
    for (file, text) in tree.texts(|file| is_core(file) && is_rust(file)) {
        let code = code_only(&text);
        // Tests stand at the foot of a file and may do as they like.
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        let found = OUTSIDE.iter().filter(|name| has_word(code, name));
        problems.extend(found.map(|name| format!("{file}: uses `{name}`")));
    }
    problems
}

pub(super) fn unfinished(tree: &Tree) -> Vec<String> {
    // Written in halves, so that this file does not break its own rule.
    const MARKS: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];
    const CALLS: [&str; 3] = ["todo", "unimplemented", "dbg"];
    let mut problems = rust_lines(
        tree,
        |_| true,
        |code| {
            let call = CALLS.iter().find(|name| has_word(code, name) && code.contains(&format!("{name}!")));
            let ignored = code.contains("#[ignore").then(|| "a test is switched off".to_string());
            call.map(|name| format!("`{name}!`")).or(ignored)
        },
    );
    for (file, text) in tree.texts(|file| is_source(file) && !is_fixture(file)) {
        for (number, line) in text.lines().enumerate() {
            let marks = MARKS.iter().filter(|mark| has_word(line, mark));
            problems.extend(marks.map(|mark| format!("{file}:{}: `{mark}`", number + 1)));
        }
    }
    problems
}

pub(super) fn machine_paths(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, text) in tree.texts(|file| file != "Cargo.lock") {
        for (number, line) in text.lines().enumerate() {
            if let Some(path) = machine_path(line) {
                problems.push(format!("{file}:{}: `{path}`", number + 1));
            }
        }
    }
    problems
}

/// The beginning of a path into somebody's folders.
fn machine_path(line: &str) -> Option<&'static str> {
    const FOLDERS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/")];
    // After a letter or a dot it is the middle of another path, or of an address.
    let continues = |before: &str| {
        before
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '~' | '*'))
    };
    FOLDERS.into_iter().find(|folder| line.match_indices(folder).any(|(at, _)| !continues(&line[..at])))
}

pub(super) fn long_files(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, text) in tree.texts(|file| is_source(file) && !is_fixture(file)) {
        let lines = text.lines().count();
        let excused = LONG_FILES.iter().any(|(name, _)| *name == file);
        match (lines > MOST_LINES, excused) {
            (true, false) => problems.push(format!("{file}: {lines} lines")),
            (false, true) => problems.push(format!("{file}: no longer long, take it off the list")),
            _ => {}
        }
    }
    let gone = LONG_FILES.iter().filter(|(name, _)| !tree.contains(name));
    problems.extend(gone.map(|(name, _)| format!("{name}: is gone, take it off the list")));
    problems
}

pub(super) fn trailing_blanks(tree: &Tree) -> Vec<String> {
    let is_ours = |file: &str| {
        let written =
            is_source(file) || has_ending(file, &["md", "toml", "yml", "yaml"]) || file == ".ci/run";
        written && !is_fixture(file)
    };
    let mut problems = Vec::new();
    for (file, text) in tree.texts(is_ours) {
        let blank = text.split('\n').enumerate().filter(|(_, line)| line.ends_with([' ', '\t', '\r']));
        problems.extend(blank.map(|(number, _)| format!("{file}:{}", number + 1)));
    }
    problems
}

pub(super) fn empty_crates(tree: &Tree) -> Vec<String> {
    let manifests = tree.files().filter(|file| file.starts_with("crates/") && file.ends_with("/Cargo.toml"));
    let mut problems = Vec::new();
    for folder in manifests.filter_map(|file| file.strip_suffix("Cargo.toml")) {
        let sources: Vec<String> =
            tree.texts(|file| file.starts_with(folder) && is_rust(file)).map(|(_, text)| text).collect();
        let lines: usize = sources.iter().map(|text| text.lines().count()).sum();
        let tested = sources.iter().any(|text| code_only(text).contains("#[test]"));
        if lines < FEWEST_LINES {
            problems.push(format!("{folder}: {lines} lines of Rust"));
        }
        if !tested {
            problems.push(format!("{folder}: no test"));
        }
    }
    problems
}

pub(super) fn broken_toml(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, text) in tree.texts(|file| has_ending(file, &["toml"]) && !is_fixture(file)) {
        match text.parse::<toml::Table>() {
            Err(error) => {
                problems.push(format!("{file}: {}", error.to_string().trim().replace('\n', "\n    ")));
            }
            Ok(table) if file.ends_with("/runner.toml") => {
                let missing = ["name", "command"].into_iter().filter(|key| !table.contains_key(*key));
                problems.extend(missing.map(|key| format!("{file}: no `{key}`")));
            }
            Ok(_) => {}
        }
    }
    problems
}

/// Looks at each line of code in the Rust files that `choose` takes.
fn rust_lines(
    tree: &Tree,
    choose: impl Fn(&str) -> bool,
    look: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, text) in tree.texts(|file| is_rust(file) && choose(file)) {
        for (number, code) in code_only(&text).lines().enumerate() {
            problems.extend(look(code).map(|problem| format!("{file}:{}: {problem}", number + 1)));
        }
    }
    problems
}

fn is_of(file: &str, name: &str) -> bool {
    file.strip_prefix("crates/")
        .and_then(|file| file.strip_prefix(name))
        .is_some_and(|rest| rest.starts_with('/'))
}

fn is_rust(file: &str) -> bool {
    has_ending(file, &["rs"])
}

fn is_source(file: &str) -> bool {
    has_ending(file, SOURCE_ENDINGS)
}

fn has_ending(file: &str, endings: &[&str]) -> bool {
    Path::new(file).extension().is_some_and(|own| endings.iter().any(|ending| own == *ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A tree with these files, and a rule's view of it.
    fn problems(rule: fn(&Tree) -> Vec<String>, files: &[(&str, &str)]) -> Vec<String> {
        let folder = TempDir::new().expect("temporary folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
            std::fs::write(path, text).expect("file");
        }
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        rule(&Tree::of(folder.path(), &names))
    }

    #[test]
    fn unsafe_code_has_its_places() {
        let code = "fn f() { unsafe { g() } }\n";
        for place in [
            "crates/roofline-cpu/src/add.rs",
            "crates/roofline-runner/src/sys.rs",
            "crates/roofline-conductor/src/sys/memory.rs",
            "runners/saboteur/src/crash.rs",
        ] {
            assert!(problems(unsafe_outside_sys, &[(place, code)]).is_empty(), "{place}");
        }
        for place in
            ["crates/roofline-runner/src/serve.rs", "crates/roofline-core/src/sys.rs", "xtask/src/main.rs"]
        {
            assert_eq!(problems(unsafe_outside_sys, &[(place, code)]).len(), 1, "{place}");
        }
    }

    #[test]
    fn safe_crates_say_so() {
        let root = "crates/roofline-store/src/lib.rs";
        assert_eq!(problems(missing_forbid, &[(root, "// #![forbid(unsafe_code)]\n")]).len(), 1);
        assert!(problems(missing_forbid, &[(root, "#![forbid(unsafe_code)]\n")]).is_empty());
        assert!(problems(missing_forbid, &[("crates/roofline-cpu/src/lib.rs", "")]).is_empty());
    }

    #[test]
    fn the_core_stays_pure_but_for_its_tests() {
        let file = "crates/roofline-core/src/case.rs";
        assert_eq!(problems(impure_core, &[(file, "use std::fs;\n")]).len(), 1);
        assert!(
            problems(impure_core, &[(file, "// std::fs\n#[cfg(test)]\nmod tests { use std::fs; }\n")])
                .is_empty()
        );
    }

    #[test]
    fn marks_of_unfinished_work_are_found() {
        for (text, count) in [
            ("fn f() { todo!() }", 1),
            ("#[test]\n#[ignore = \"slow\"]\nfn f() {}", 1),
            (concat!("// FIX", "ME later"), 1),
            ("// todo! is a word here", 0),
            ("let todo_list = 1;", 0),
        ] {
            assert_eq!(problems(unfinished, &[("crates/a/src/lib.rs", text)]).len(), count, "{text}");
        }
    }

    #[test]
    fn paths_of_machines_are_told_from_other_paths() {
        for line in [concat!("see /wo", "rk/x"), concat!("\"/ho", "me/me/x\""), concat!("(/ro", "ot/.cargo)")]
        {
            assert!(machine_path(line).is_some(), "{line}");
        }
        for line in
            ["docs/work/x", "https://example.org/home/x", "${prefix}/root/x", "/proc/self", "a /workshop"]
        {
            assert!(machine_path(line).is_none(), "{line}");
        }
    }

    #[test]
    fn length_blanks_content_and_toml_are_seen() {
        let long = "x\n".repeat(MOST_LINES + 1);
        assert_eq!(problems(long_files, &[("a.py", &long), ("b.md", &long)]).len(), 1);
        assert_eq!(
            problems(trailing_blanks, &[("a.rs", "x \ny\n"), ("tests/fixtures/a.rs", "x \n")]).len(),
            1
        );
        assert_eq!(
            problems(empty_crates, &[("crates/a/Cargo.toml", ""), ("crates/a/src/lib.rs", "x")]).len(),
            2
        );
        assert_eq!(
            problems(broken_toml, &[("a.toml", "a = "), ("runners/x/runner.toml", "name = \"x\"")]).len(),
            2
        );
    }
}
