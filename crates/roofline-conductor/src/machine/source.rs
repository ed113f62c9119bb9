//! Reading the small text files of `/proc` and `/sys` below a root, with distrust.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Enough for `/proc/cpuinfo` of a machine with 2048 threads.
const LONGEST_FILE: u64 = 8 << 20;
/// No fact that this module keeps is longer.
const LONGEST_FACT: usize = 200;
/// Above what Linux can be built for; a larger number is not a processor number.
const MOST_CPUS: u32 = 65_536;

/// A tree that looks like the root of a Linux system.
pub(super) struct Source {
    root: PathBuf,
}

impl Source {
    pub(super) fn new(root: impl Into<PathBuf>) -> Source {
        Source { root: root.into() }
    }

    /// The whole file; bytes that are not UTF-8 are replaced.
    pub(super) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let mut bytes = Vec::new();
        File::open(self.below_root(path.as_ref())).ok()?.take(LONGEST_FILE).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The one fact that a file holds.
    pub(super) fn fact(&self, path: impl AsRef<Path>) -> Option<String> {
        clean(self.text(path)?.lines().next()?)
    }

    /// The one number that a file holds.
    pub(super) fn number<T: std::str::FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.text(path)?.trim().parse().ok()
    }

    /// The list of processors that a file holds, as `0-3,8`.
    pub(super) fn cpus(&self, path: impl AsRef<Path>) -> Option<Vec<u32>> {
        parse_cpus(&self.text(path)?)
    }

    /// What stands in brackets: `always [madvise] never` gives `madvise`.
    pub(super) fn choice(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = self.text(path)?;
        clean(text.split_once('[')?.1.split_once(']')?.0)
    }

    /// `path` without anything that could leave the root.
    fn below_root(&self, path: &Path) -> PathBuf {
        let inside = path.components().filter(|component| matches!(component, Component::Normal(_)));
        self.root.join(inside.collect::<PathBuf>())
    }
}

/// The value of the first `key : value` line with this key.
pub(super) fn value<'text>(text: &'text str, key: &str) -> Option<&'text str> {
    values(text, key).next()
}

/// The values of all `key : value` lines with this key.
pub(super) fn values<'text>(text: &'text str, key: &str) -> impl Iterator<Item = &'text str> {
    text.lines().filter_map(move |line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// `text` as a fact that can be printed on a line: no control characters, single blanks, bounded.
pub(super) fn clean(text: &str) -> Option<String> {
    let printable: String = text
        .chars()
        .map(|c| if c.is_control() || c == char::REPLACEMENT_CHARACTER { ' ' } else { c })
        .collect();
    let words: Vec<&str> = printable.split_whitespace().collect();
    let fact: String = words.join(" ").chars().take(LONGEST_FACT).collect();
    (!fact.is_empty()).then_some(fact)
}

/// `0-3,8` as numbers. The kernel writes ascending lists without overlap; anything else is not one.
pub(super) fn parse_cpus(text: &str) -> Option<Vec<u32>> {
    let mut cpus: Vec<u32> = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last >= MOST_CPUS || cpus.last().is_some_and(|&previous| first <= previous) {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// `48K` or `2M` as bytes.
pub(super) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 10),
        'M' => (&text[..text.len() - 1], 20),
        'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_ascending_or_nothing() {
        assert_eq!(parse_cpus("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_cpus("0"), Some(vec![0]));
        for wrong in
            ["", "\n", "3-1", "0-99999999999", "0-4294967295", "1,0", "0-3,2-5", "a-b", "-1", "0x1", "0-"]
        {
            assert_eq!(parse_cpus(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_do_not_overflow() {
        assert_eq!(parse_size("48K\n"), Some(49_152));
        assert_eq!(parse_size("2M"), Some(2 << 20));
        assert_eq!(parse_size("512"), Some(512));
        for wrong in ["", "K", "-1K", "99999999999999999999K", "18446744073709551615G", "48 Ki", "ü"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn facts_fit_on_a_line() {
        assert_eq!(clean("  Some\tCPU \u{1b}[31m name\u{0} "), Some("Some CPU [31m name".to_string()));
        assert_eq!(clean(" \t "), None);
        assert_eq!(clean(&"x".repeat(100_000)).map(|fact| fact.len()), Some(LONGEST_FACT));
    }

    #[test]
    fn no_path_leaves_the_root() {
        let source = Source::new("/fixture");
        assert_eq!(
            source.below_root(Path::new("/proc/../../etc/passwd")),
            Path::new("/fixture/proc/etc/passwd")
        );
    }
}
