//! Runners in Python: which interpreter starts them, and a single file as a runner.

use super::{RunnerError, RunnerSpec, is_name};
use crate::home;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

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
        let text = std::fs::read_to_string(file).map_err(io_error)?;
        let file = file.canonicalize().map_err(io_error)?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let parts = stem.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
        let name = parts.collect::<Vec<_>>().join("-");
        if !is_name(&name) {
            let why = "a file is the provider of its implementations; call it by letters and digits";
            return Err(io_error(io::Error::other(why)));
        }
        let mut environment: BTreeMap<String, String> =
            ENVIRONMENT.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        environment.insert("PYTHONPATH".to_owned(), sdk.display().to_string());
        let python = interpreter(&imported(&text));
        let arguments = ["-m".to_owned(), "roofline_runner".to_owned(), file.display().to_string()];
        Ok(RunnerSpec {
            about: format!("functions of {}", file.display()),
            command: std::iter::once(python.clone()).chain(arguments).collect(),
            folder: file.parent().unwrap_or(Path::new("/")).to_owned(),
            named: Some((OPTION, file)),
            hint: format!("it is started by `{python}`; ROOFLINE_PYTHON names another interpreter"),
            requirements: None,
            download: String::new(),
            environment,
            isolated: true,
            is_side: false,
            requires: BTreeMap::new(),
            name,
        })
    }
}

/// The modules that a file imports, numpy last: the environments of other libraries have it too.
pub fn imported(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = text.lines().flat_map(modules).collect();
    names.sort_by_key(|name| *name == "numpy");
    names
}

/// The modules that a line imports: `import one, two as three`, `from four.five import six`.
fn modules(line: &str) -> Vec<&str> {
    fn first(text: &str) -> Option<&str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.trim_start().split(|c| !is_part(c)).next().filter(|word| !word.is_empty())
    }
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix("from ") {
        return first(rest).into_iter().collect();
    }
    let listed = line.strip_prefix("import ").map(|rest| rest.split(',').filter_map(first).collect());
    listed.unwrap_or_default()
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
        assert_eq!(spec.name, "my-kernels");
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
    fn imports_are_seen_numpy_last() {
        let text = "import numpy as np\nfrom torch.nn import functional\n    import jax, my_own as own\nx = 'import'\n";
        assert_eq!(imported(text), ["torch", "jax", "my_own", "numpy"]);
        assert_eq!(imported("from . import x\nimportant = 1\n"), [""; 0]);
    }
}
