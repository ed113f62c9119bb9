//! A cache of machine code on the disk.
//!
//! An entry holds its whole key, so that two keys with one hash cannot be taken for each other, and
//! a checksum, so that a torn or changed entry is ignored and compiled again. Writers write beside
//! the entry and rename: readers see a whole entry or none.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const MAGIC: &[u8] = b"roofline cubin 1\n";
/// Magic, length of the key, length of the cubin, checksum.
const HEAD: usize = MAGIC.len() + 3 * 8;
/// No cubin of ours is near this; a file that is larger is not ours.
const MOST: u64 = 64 << 20;

/// A folder of entries, or none.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// Entries in a folder, which is made when the first one is written.
    pub fn at(folder: &Path) -> Cache {
        Cache { folder: Some(folder.to_path_buf()) }
    }

    /// Nothing is kept.
    pub fn none() -> Cache {
        Cache { folder: None }
    }

    /// The user's: `$ROOFLINE_CUDA_CACHE`, or `roofline/cuda` in the folder for caches.
    pub fn of_user() -> Cache {
        let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = path("ROOFLINE_CUDA_CACHE").or_else(|| {
            let caches = path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")));
            caches.map(|caches| caches.join("roofline/cuda"))
        });
        Cache { folder }
    }

    /// The cubin of a key, if a whole entry for it is there.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        if std::fs::metadata(&path).ok()?.len() > MOST {
            return None;
        }
        let entry = std::fs::read(path).ok()?;
        decode(&entry, key).map(<[u8]>::to_vec)
    }

    /// Keeps a cubin under its key.
    pub fn put(&self, key: &str, cubin: &[u8]) -> io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Some(path) = self.path(key) else { return Ok(()) };
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        // Unique among processes and threads that write the same entry at once.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let beside = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
        let written = std::fs::File::create_new(&beside)
            .and_then(|mut file| file.write_all(&encode(key, cubin)))
            .and_then(|()| std::fs::rename(&beside, &path));
        if written.is_err() {
            _ = std::fs::remove_file(&beside);
        }
        written
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        let name = format!("{:016x}{:016x}.cubin", hash(key.as_bytes(), 0), hash(key.as_bytes(), 1));
        self.folder.as_ref().map(|folder| folder.join(name))
    }
}

/// FNV-1a. It guards against accidents; whoever may write the folder may write any kernel.
fn hash(bytes: &[u8], seed: u8) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(step(0xcbf2_9ce4_8422_2325, &seed), step)
}

fn encode(key: &str, cubin: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(HEAD + key.len() + cubin.len());
    entry.extend(MAGIC);
    entry.extend((key.len() as u64).to_le_bytes());
    entry.extend((cubin.len() as u64).to_le_bytes());
    entry.extend(hash(cubin, 2).to_le_bytes());
    entry.extend(key.as_bytes());
    entry.extend(cubin);
    entry
}

fn decode<'a>(entry: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let numbers = entry.strip_prefix(MAGIC)?;
    let number = |i: usize| Some(u64::from_le_bytes(numbers.get(8 * i..8 * i + 8)?.try_into().ok()?));
    let (key_bytes, cubin_bytes, checksum) = (number(0)?, number(1)?, number(2)?);
    let cubin = entry.get(HEAD..)?.strip_prefix(key.as_bytes())?;
    let whole = key_bytes == key.len() as u64 && cubin_bytes == cubin.len() as u64;
    (whole && checksum == hash(cubin, 2) && !cubin.is_empty()).then_some(cubin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_entry_comes_back(key in ".{0,40}", cubin in prop::collection::vec(any::<u8>(), 1..200)) {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::at(folder.path());
            prop_assert_eq!(cache.get(&key), None);
            cache.put(&key, &cubin).unwrap();
            prop_assert_eq!(cache.get(&key), Some(cubin));
        }

        #[test]
        fn a_changed_byte_or_a_cut_is_noticed(
            cubin in prop::collection::vec(any::<u8>(), 1..60),
            at in any::<prop::sample::Index>(),
            flip in 1u8..,
        ) {
            let entry = encode("key", &cubin);
            let mut changed = entry.clone();
            changed[at.index(entry.len())] ^= flip;
            prop_assert_eq!(decode(&changed, "key"), None);
            prop_assert_eq!(decode(&entry[..at.index(entry.len())], "key"), None);
            prop_assert_eq!(decode(&entry, "kez"), None);
        }

        #[test]
        fn any_bytes_are_read_without_harm(entry in prop::collection::vec(any::<u8>(), 0..100)) {
            let with_magic: Vec<u8> = MAGIC.iter().copied().chain(entry.iter().copied()).collect();
            prop_assert_eq!(decode(&entry, "k"), None);
            _ = decode(&with_magic, "k");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_and_none_is_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Cache::at(file.path()).put("key", b"cubin").is_err());
        assert!(Cache::none().put("key", b"cubin").is_ok());
        assert_eq!(Cache::none().get("key"), None);
    }
}
