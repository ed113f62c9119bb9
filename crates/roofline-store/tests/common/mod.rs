//! What the tests of the store share.
#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test file uses its part")]

mod records;

pub use records::{any_record, record, run};

use std::io::Write as _;

/// A folder in memory where there is one: most tests need no disk and shall not wait for it.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Prints a line that the test harness does not hold back, after the one that it has begun.
pub fn say(text: &str) {
    std::io::stdout().write_all(format!("\n{text}\n").as_bytes()).unwrap();
}

/// A command that runs the test `name` of this test binary again, as another process.
pub fn again(name: &str) -> Vec<String> {
    let program = std::env::current_exe().unwrap().into_os_string().into_string().unwrap();
    [&program, name, "--exact", "--nocapture", "--test-threads=1"].map(str::to_owned).into()
}
