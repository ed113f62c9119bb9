//! The pages of docs/bring-your-own, followed to the letter.
//!
//! Each page is followed in an empty folder, away from the repository: files are written, commands run as they
//! stand, with `roofline` in the path. What they print must show the kernel as the page says.

mod page;

use page::blocks;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Follows a page, and gives what each block of commands printed to standard output.
fn follow(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bring-your-own").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut files = BTreeMap::new();
    let mut printed = Vec::new();
    for block in blocks(&text) {
        if let Some(name) = block.file() {
            block.apply(&mut files);
            let place = folder.path().join(name);
            std::fs::create_dir_all(place.parent().expect("a file lies in a folder")).expect("a folder");
            std::fs::write(place, &files[name]).expect("a file that can be written");
        } else if block.is_shell() {
            printed.push(run(page, folder.path(), &block.text, block.exit()));
        }
    }
    printed
}

fn run(page: &str, folder: &Path, commands: &str, code: i32) -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_roofline"));
    let mut path = program.parent().expect("a program lies in a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    // A lock of its own: what is measured here is thrown away.
    bash.args(["-e", "-c", commands]).current_dir(folder).env("PATH", path).env("ROOFLINE_LOCK", folder);
    let output = bash.output().expect("bash");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let ended = output.status.code();
    assert_eq!(ended, Some(code), "{page}: `{commands}` printed\n{stdout}\n{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stdout.into_owned()
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
