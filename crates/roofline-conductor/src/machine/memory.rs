//! Main memory and how it is cut into pages.

use super::Answers;
use super::source::{Source, value};
use roofline_core::units::Bytes;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// What the kernel manages: installed memory less what firmware and kernel keep.
    pub total: Option<Bytes>,
    pub page_size: Option<Bytes>,
    /// Transparent huge pages for private memory: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// The same for shared memory, where tensors lie.
    pub shared_huge_pages: Option<String>,
    /// Huge pages set aside, and the size of one.
    pub huge_pages: Option<u64>,
    pub huge_page_size: Option<Bytes>,
}

impl Memory {
    pub(super) fn read(source: &Source, answers: &Answers) -> Memory {
        let facts = source.text("proc/meminfo").unwrap_or_default();
        let setting = |name: &str| source.choice(format!("sys/kernel/mm/transparent_hugepage/{name}"));
        Memory {
            total: value(&facts, "MemTotal").and_then(kibibytes),
            page_size: answers.page_size.map(Bytes),
            transparent_huge_pages: setting("enabled"),
            shared_huge_pages: setting("shmem_enabled"),
            huge_pages: value(&facts, "HugePages_Total").and_then(|count| count.parse().ok()),
            huge_page_size: value(&facts, "Hugepagesize").and_then(kibibytes),
        }
    }
}

/// `24682416 kB`, where the kernel means KiB; a machine without memory is not one.
fn kibibytes(text: &str) -> Option<Bytes> {
    let count: u64 = text.strip_suffix("kB")?.trim().parse().ok()?;
    (count > 0).then_some(())?;
    count.checked_mul(1024).map(Bytes)
}
