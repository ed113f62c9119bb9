//! The pages of docs/bring-your-own and the first hour, followed to the letter.
//!
//! Each page is followed in an empty folder, away from the repository: files are written, commands run as they
//! stand, with `roofline` in the path. What they print must show the kernel as the page says. `ROOFLINE_PROGRAM` names
//! another program to follow them with, such as that of the wheel.

mod page;

use page::blocks;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Follows a page of docs/bring-your-own, and gives what each block of commands printed to standard output.
fn follow(page: &str) -> Vec<String> {
    follow_in(tempfile::tempdir().expect("a temporary folder").path(), &format!("bring-your-own/{page}"))
        .expect("no page of these needs a package")
}

/// The same with any page of docs, in a folder; `None` where pip reaches no package index.
fn follow_in(folder: &Path, page: &str) -> Option<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut files = BTreeMap::new();
    let mut printed = Vec::new();
    for block in blocks(&text) {
        if let Some(name) = block.file() {
            let place = folder.join(name);
            // A command may have made it.
            if let (true, Ok(made)) = (block.is_change(), std::fs::read(&place)) {
                files.insert(name.to_owned(), made);
            }
            block.apply(&mut files);
            std::fs::create_dir_all(place.parent().expect("a file lies in a folder")).expect("a folder");
            std::fs::write(place, &files[name]).expect("a file that can be written");
        } else if block.is_shell() {
            if block.needs().is_some_and(|library| !has(folder, library)) {
                continue;
            }
            let output = run(folder, &block.text);
            let (stdout, stderr) = (text_of(&output.stdout), text_of(&output.stderr));
            if stderr.contains("pip could not install what `numpy` needs") {
                say(&format!("skipped: pip reaches no package index\n{stderr}"));
                return None;
            }
            let code = Some(block.exit());
            assert_eq!(output.status.code(), code, "{page}: `{}` printed\n{stdout}\n{stderr}", block.text);
            assert!(!stderr.contains("panicked"), "{stderr}");
            printed.push(stdout);
        }
    }
    Some(printed)
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Prints a line that the test harness does not hold back.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "\n{text}");
}

/// Whether `cargo xtask peers` has installed a library, which Roofline then uses in this folder.
fn has(folder: &Path, library: &str) -> bool {
    let target = Path::new(env!("CARGO_BIN_EXE_roofline")).ancestors().nth(2).expect("a target folder");
    let python = target.join("peers").join(library).join("bin/python");
    if !python.is_file() {
        say(&format!("skipped: no {library}; `cargo xtask peers` brings it"));
        return false;
    }
    let output = run(folder, &format!("roofline runners install {library} --python {}", python.display()));
    assert!(output.status.success(), "{}", text_of(&output.stderr));
    true
}

fn run(folder: &Path, commands: &str) -> Output {
    let named = std::env::var_os("ROOFLINE_PROGRAM").map(PathBuf::from);
    let program = named.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_roofline")));
    let mut path = program.parent().expect("a program lies in a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    for role in ["AUTHOR", "COMMITTER"] {
        bash.env(format!("GIT_{role}_NAME"), "A").env(format!("GIT_{role}_EMAIL"), "a@example.org");
    }
    // A lock of its own, and no home: what is measured here is thrown away.
    bash.env("ROOFLINE_LOCK", folder).env("ROOFLINE_HOME", folder.join(".roofline/home"));
    bash.args(["-e", "-c", commands]).current_dir(folder).env("PATH", path).output().expect("bash")
}

/// The row of a table that names an implementation.
#[track_caller]
fn row<'a>(table: &'a str, implementation: &str) -> &'a str {
    let mut lines = table.lines().filter(|line| line.contains(implementation));
    lines.next().unwrap_or_else(|| panic!("`{implementation}` is not in:\n{table}"))
}

#[test]
fn a_shared_library() {
    let [header, measured, wrong] = &follow("c.md")[..] else { panic!("three blocks of commands") };
    assert_eq!(header, "");
    for line in measured.lines().filter(|line| line.contains("mine/plain")) {
        assert!(line.trim_end().ends_with("ok"), "{measured}");
    }
    assert!(row(measured, "mine/plain").contains("softmax/f32/rows=64,cols=1000"), "{measured}");
    assert!(measured.contains("cpu/vector"), "beside the others: {measured}");
    for part in
        ["wrong: softmax/f32/rows=64,cols=1000@mine/plain", "worst: at [", "expected ", "--lib /", "--seed "]
    {
        assert!(wrong.contains(part), "`{part}` is not in:\n{wrong}");
    }
}

#[test]
fn an_operation_in_a_shared_library() {
    let [header, measured, wrong] = &follow("c-operation.md")[..] else { panic!("three blocks of commands") };
    assert_eq!(header, "");
    let rows: Vec<&str> = measured.lines().filter(|line| line.contains("mine/eight")).collect();
    assert_eq!(rows.len(), 2, "checked and measured: {measured}");
    for row in rows {
        assert!(
            row.starts_with("gemv/f32/rows=256,cols=1000") && row.trim_end().ends_with("ok"),
            "{measured}"
        );
    }
    assert!(measured.contains("of limit") && measured.contains("less than usual: bound"), "{measured}");
    for part in ["wrong: gemv/f32/rows=256,cols=1000@mine/eight", "worst: at [", "expected ", "--lib /"] {
        assert!(wrong.contains(part), "`{part}` is not in:\n{wrong}");
    }
}

#[test]
fn any_program() {
    let [printed] = &follow("program.md")[..] else { panic!("one block of commands") };
    assert!(row(printed, "mine ").contains("present   1.0"), "{printed}");
    let rows: Vec<&str> =
        printed.lines().filter(|line| line.contains("mine/map") && line.contains('=')).collect();
    assert_eq!(rows.len(), 2, "checked and measured: {printed}");
    for row in rows {
        assert!(row.trim_end().ends_with("ok"), "{printed}");
    }
}

#[test]
fn the_first_hour() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(mut printed) = follow_in(folder.path(), "first-hour.md") else { return };
    // The block that needs torch.
    if printed.len() > 9 {
        let torch = printed.remove(3);
        assert!(row(&torch, "cols=1000  torch/eager").trim_end().ends_with("ok"), "{torch}");
    }
    let [_, twins, measured, wrong, mended, changed, _, blocked, remembered] = &printed[..] else {
        panic!("{} blocks of commands", printed.len())
    };
    assert!(row(twins, "kernels/plain").trim_end().ends_with("ok"), "{twins}");
    assert!(twins.contains("wrong: softmax/f32/rows=64,cols=1000@kernels/naive"), "{twins}");
    for implementation in ["kernels/plain", "cpu/vector", "numpy/ufunc"] {
        let row = row(measured, &format!("cols=1000  {implementation}"));
        assert!(row.trim_end().ends_with("ok"), "{measured}");
    }
    assert!(wrong.contains("@kernels/plain\n") && wrong.contains("reproduce: roofline "), "{wrong}");
    assert!(row(mended, "kernels/plain").trim_end().ends_with("ok"), "{mended}");
    assert!(changed.contains("new/plain") && changed.contains("old/plain"), "{changed}");
    assert_eq!(blocked, "", "the table is in the comment");
    let comment = std::fs::read_to_string(folder.path().join("comment.md")).expect("a comment");
    assert!(comment.contains("@new/plain` is slower"), "{comment}");
    for part in ["roofline ab main . ", "status    ok", "kernels/plain"] {
        assert!(remembered.contains(part), "`{part}` is not in:\n{remembered}");
    }
}
