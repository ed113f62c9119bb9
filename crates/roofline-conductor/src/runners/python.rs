//! Runners in Python: which interpreter starts them, and a single file as a runner.

use super::{RunnerError, RunnerSpec, is_name};
use crate::home;
use roofline_core::names::is_provider;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Settings of the libraries that a file may use: the case's threads, which park when they are idle,
/// and caches that last. The file's folder is not written to.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("OMP_NUM_THREADS", "{threads}"),
    ("OPENBLAS_NUM_THREADS", "{threads}"),
    ("MKL_NUM_THREADS", "{threads}"),
    ("OMP_WAIT_POLICY", "passive"),
    ("OPENBLAS_THREAD_TIMEOUT", "4"),
    ("TORCHINDUCTOR_CACHE_DIR", "{cache}/torch"),
    ("TORCHINDUCTOR_COMPILE_THREADS", "1"),
    ("TRITON_CACHE_DIR", "{cache}/triton"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
];

/// The interpreter of the first of these environments that Roofline has, else the one that
/// `ROOFLINE_PYTHON` names, else `python3`.
pub(super) fn interpreter(environments: &[&str]) -> String {
    let own = environments.iter().filter(|name| is_name(name)).find_map(|name| home::interpreter(name));
    own.map(|path| path.display().to_string())
        .or_else(|| std::env::var("ROOFLINE_PYTHON").ok().filter(|python| !python.is_empty()))
        .unwrap_or_else(|| "python3".to_owned())
}

/// The option that names a file.
const OPTION: &str = "--python";

impl RunnerSpec {
    /// Whether this is a single file, named by its path.
    pub fn is_python_file(&self) -> bool {
        matches!(self.named, Some((OPTION, _)))
    }

    /// A Python file with decorated functions; `sdk` is the folder of the package `roofline_runner`.
    pub fn of_python_file(file: &Path, sdk: &Path) -> Result<RunnerSpec, RunnerError> {
        let io_error = |source| RunnerError::Io { path: file.to_owned(), source };
        std::fs::read_to_string(file).map_err(io_error)?;
        let file = file.canonicalize().map_err(io_error)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !is_provider(&name) {
            let why =
                "a file is the provider of its implementations; call it by letters, digits, `-`, `_` and `.`";
            return Err(io_error(io::Error::other(why)));
        }
        let mut environment: BTreeMap<String, String> =
            ENVIRONMENT.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        environment.insert("PYTHONPATH".to_owned(), sdk.display().to_string());
        let modules = Modules::of(&file);
        let python = interpreter(&modules.foreign());
        let arguments = ["-m".to_owned(), "roofline_runner".to_owned(), file.display().to_string()];
        Ok(RunnerSpec {
            about: format!("functions of {}", file.display()),
            command: std::iter::once(python.clone()).chain(arguments).collect(),
            folder: file.parent().unwrap_or(Path::new("/")).to_owned(),
            named: Some((OPTION, file)),
            hint: modules.hint(&python),
            requirements: None,
            download: String::new(),
            environment,
            isolated: true,
            is_side: false,
            asked: BTreeMap::new(),
            parameters: Vec::new(),
            requires: BTreeMap::new(),
            name,
        })
    }
}

/// Most files that are followed from one: who imports more finds the interpreter by what the first ones import.
const MOST_FILES: usize = 64;

/// What a file imports, through the modules that lie beside it.
pub struct Modules {
    /// The file itself and the modules beside it, in the order in which they are met.
    pub files: Vec<PathBuf>,
    /// Names of the modules that are not beside it.
    elsewhere: Vec<String>,
}

impl Modules {
    pub fn of(file: &Path) -> Modules {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let mut modules = Modules { files: vec![file.to_owned()], elsewhere: Vec::new() };
        let mut next = 0;
        while next < modules.files.len().min(MOST_FILES) {
            let text = std::fs::read_to_string(&modules.files[next]).unwrap_or_default();
            next += 1;
            for name in text.lines().flat_map(of_line) {
                let beside = beside(folder, name);
                if beside.is_empty() {
                    let name = name.split('.').next().unwrap_or(name);
                    modules.elsewhere.push(name.to_owned());
                }
                for path in beside {
                    if !modules.files.contains(&path) {
                        modules.files.push(path);
                    }
                }
            }
        }
        modules
    }

    /// The modules of others, numpy last: the environments of other libraries have it too.
    fn foreign(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.elsewhere.iter().map(String::as_str).collect();
        names.sort_by_key(|name| *name == "numpy");
        names
    }

    /// What to do when it does not start: the one command, where a library that Roofline can install is imported and
    /// was not.
    fn hint(&self, python: &str) -> String {
        let missing = self
            .foreign()
            .into_iter()
            .find(|name| INSTALLABLE.contains(name) && home::interpreter(name).is_none());
        match missing {
            Some(name) => format!(
                "`roofline runners install {name}` brings what it imports; it was started by `{python}`, and ROOFLINE_PYTHON \
                 names another interpreter"
            ),
            None => format!("it is started by `{python}`; ROOFLINE_PYTHON names another interpreter"),
        }
    }
}

/// Libraries that `roofline runners install` brings, each by the name that it is imported by.
const INSTALLABLE: [&str; 5] = ["jax", "numpy", "onnxruntime", "scipy", "torch"];

/// The files of a module that lies in a folder: the packages on the way, and itself.
fn beside(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut place = folder.to_owned();
    for part in name.split('.') {
        let (file, package) = (place.join(format!("{part}.py")), place.join(part).join("__init__.py"));
        files.extend([file, package].into_iter().filter(|path| path.is_file()));
        place = place.join(part);
    }
    files
}

/// The modules that a file imports, without the parts within them.
pub fn imported(text: &str) -> Vec<&str> {
    text.lines().flat_map(of_line).map(|name| name.split('.').next().unwrap_or(name)).collect()
}

/// The modules that a line imports: `import one, two as three`, `from four.five import six`.
fn of_line(line: &str) -> Vec<&str> {
    fn first(text: &str) -> Option<&str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let name = text.trim_start().split(|c| !is_part(c)).next().unwrap_or_default();
        Some(name.trim_matches('.')).filter(|name| !name.is_empty())
    }
    let line = line.trim_start();
    // `import one; import two` is seldom, and read all the same.
    let statements = line.split(';').map(str::trim_start);
    statements
        .flat_map(|statement| {
            let from = statement.strip_prefix("from ").and_then(first);
            let listed = statement.strip_prefix("import ").into_iter();
            from.into_iter().chain(listed.flat_map(|rest| rest.split(',').filter_map(first)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_and_quoted_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("My_kernels.py");
        std::fs::write(&file, "import numpy\n").unwrap();
        let spec = RunnerSpec::of_python_file(&file, Path::new("/sdk")).unwrap();
        let file = file.canonicalize().unwrap();
        assert_eq!(spec.name, "My_kernels");
        assert_eq!(spec.command[1..], ["-m", "roofline_runner", &file.display().to_string()]);
        assert_eq!(spec.named, Some(("--python", file)));
        assert_eq!(spec.environment_for(3)["OMP_NUM_THREADS"], "3");
        assert_eq!(spec.environment_for(3)["PYTHONPATH"], "/sdk");
        let strange = folder.path().join("ü.py");
        std::fs::write(&strange, "").unwrap();
        assert!(RunnerSpec::of_python_file(&strange, Path::new("/sdk")).is_err());
        assert!(RunnerSpec::of_python_file(Path::new("/nowhere.py"), Path::new("/sdk")).is_err());
    }

    #[test]
    fn imports_are_seen_through_files_beside_it_numpy_last() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let file = write(
            "mine.py",
            "import os, numpy as np\nfrom parts.inner import f\n    import helper; x = 'import'\n",
        );
        write("helper.py", "import mine, jax\nimportant = 1\nfrom . import x\n");
        write("parts/__init__.py", "");
        write("parts/inner.py", "from torch.nn import functional\n");
        let modules = Modules::of(&file);
        assert_eq!(modules.foreign(), ["os", "torch", "jax", "numpy"]);
        let names: Vec<_> =
            modules.files.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(names, ["mine.py", "parts/__init__.py", "parts/inner.py", "helper.py"].map(Path::new));
    }
}
