//! Texts held by the files in `tests/golden`.
//!
//! After a wanted change, `BLESS=1 cargo test -p roofline-report` writes them anew; look at the diff.

use std::fs;
use std::path::Path;

#[track_caller]
pub fn hold(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == golden, "{name} has changed:\n{text}\n{} has:\n{golden}", path.display());
}
