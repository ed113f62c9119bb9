//! Roofline's own folders: Python environments that it made, and what is kept to save time.
//!
//! An environment counts when its marker is there, which is written last and holds the path of the
//! interpreter: whatever interrupts an installation leaves no marker.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where environments lie: `ROOFLINE_HOME`, else `roofline` in the user's data folder.
pub fn data() -> Option<PathBuf> {
    data_of(|name| std::env::var_os(name))
}

/// Where caches lie: `cache` in `ROOFLINE_HOME`, else `roofline` in the user's cache folder.
pub fn cache() -> PathBuf {
    cache_of(|name| std::env::var_os(name)).unwrap_or_else(|| std::env::temp_dir().join("roofline"))
}

/// The folder of a runner's environment, made or not.
pub fn environment(runner: &str) -> Option<PathBuf> {
    Some(data()?.join("venvs").join(runner))
}

/// The file that says that an environment is complete.
pub fn marker(runner: &str) -> Option<PathBuf> {
    Some(environment(runner)?.join("interpreter"))
}

/// The interpreter of a runner's environment, if that is complete and the interpreter still there.
pub fn interpreter(runner: &str) -> Option<PathBuf> {
    let text = std::fs::read_to_string(marker(runner)?).ok()?;
    let path = Path::new(text.trim()).to_owned();
    path.is_file().then_some(path)
}

fn data_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("ROOFLINE_HOME")
        .or_else(|| Some(folder("XDG_DATA_HOME")?.join("roofline")))
        .or_else(|| Some(folder("HOME")?.join(".local/share/roofline")))
}

fn cache_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = folder("ROOFLINE_HOME").map(|home| home.join("cache"));
    own.or_else(|| Some(folder("XDG_CACHE_HOME")?.join("roofline")))
        .or_else(|| Some(folder("HOME")?.join(".cache/roofline")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_variable_decides() {
        let with = |set: &'static [(&str, &str)]| {
            move |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        let home = with(&[("HOME", "/h")]);
        assert_eq!(data_of(home), Some(PathBuf::from("/h/.local/share/roofline")));
        assert_eq!(cache_of(home), Some(PathBuf::from("/h/.cache/roofline")));
        let standard = with(&[("HOME", "/h"), ("XDG_DATA_HOME", "/data"), ("XDG_CACHE_HOME", "/cache")]);
        assert_eq!(data_of(standard), Some(PathBuf::from("/data/roofline")));
        assert_eq!(cache_of(standard), Some(PathBuf::from("/cache/roofline")));
        let own = with(&[("HOME", "/h"), ("XDG_DATA_HOME", "/data"), ("ROOFLINE_HOME", "/mine")]);
        assert_eq!(data_of(own), Some(PathBuf::from("/mine")));
        assert_eq!(cache_of(own), Some(PathBuf::from("/mine/cache")));
        assert_eq!(data_of(with(&[("HOME", "")])), None);
    }
}
