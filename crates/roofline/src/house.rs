//! The Python runners of the house and their package, for a binary away from the repository.
//!
//! They are part of the binary and written to Roofline's cache, under a name made of their content, when
//! they are needed; what is there already is left alone.

use crate::error::Problem;
use roofline_conductor::home;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

macro_rules! house {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../runners/", $path)))),*]
    };
}

/// Every file with its path below `runners/`.
const FILES: &[(&str, &str)] = house![
    "python/roofline_runner/__init__.py",
    "python/roofline_runner/__main__.py",
    "python/roofline_runner/channel.py",
    "python/roofline_runner/cuda.py",
    "python/roofline_runner/errors.py",
    "python/roofline_runner/file.py",
    "python/roofline_runner/job.py",
    "python/roofline_runner/measure.py",
    "python/roofline_runner/memory.py",
    "python/roofline_runner/operation.py",
    "python/roofline_runner/runner.py",
    "jax/common.py",
    "jax/draws.py",
    "jax/formulas.py",
    "jax/layers.py",
    "jax/main.py",
    "jax/movement.py",
    "jax/requirements.txt",
    "jax/runner.toml",
    "jax/serving.py",
    "jax/sparse.py",
    "jax/transforms.py",
    "numpy/attention.py",
    "numpy/common.py",
    "numpy/elementwise.py",
    "numpy/layers.py",
    "numpy/main.py",
    "numpy/movement.py",
    "numpy/norms.py",
    "numpy/products.py",
    "numpy/quantize.py",
    "numpy/reductions.py",
    "numpy/requirements.txt",
    "numpy/rope.py",
    "numpy/runner.toml",
    "numpy/serving.py",
    "numpy/sparse.py",
    "numpy/transforms.py",
    "onnxruntime/common.py",
    "onnxruntime/layers.py",
    "onnxruntime/main.py",
    "onnxruntime/model.py",
    "onnxruntime/operators.py",
    "onnxruntime/requirements.txt",
    "onnxruntime/runner.toml",
    "scipy/main.py",
    "scipy/requirements.txt",
    "scipy/runner.toml",
    "torch/attention.py",
    "torch/common.py",
    "torch/elementwise.py",
    "torch/functions.py",
    "torch/layers.py",
    "torch/main.py",
    "torch/mapping.py",
    "torch/movement.py",
    "torch/offers.py",
    "torch/products.py",
    "torch/quantize.py",
    "torch/requirements.txt",
    "torch/runner.toml",
    "torch/serving.py",
    "torch/sparse.py",
    "torch/transforms.py",
    "triton/kernels.py",
    "triton/main.py",
    "triton/requirements.txt",
    "triton/runner.toml",
];

/// The folder of the Python runners that are inside this binary.
pub fn runners() -> Result<PathBuf, Problem> {
    let mut hasher = DefaultHasher::new();
    FILES.hash(&mut hasher);
    let folder = home::cache().join(format!("runners-{:016x}", hasher.finish()));
    for (path, text) in FILES {
        write(&folder.join(path), text).map_err(|error| {
            let hint = "name another folder by ROOFLINE_HOME";
            Problem::own(format!("`{}`: {error}", folder.join(path).display())).with_hint(hint)
        })?;
    }
    Ok(folder)
}

/// What the runners inside this binary are called.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(path, _)| path.strip_suffix("/runner.toml"))
}

/// The folder of the package `roofline_runner`.
pub fn sdk() -> Result<PathBuf, Problem> {
    Ok(runners()?.join("python"))
}

/// Writes a file whole or not at all, for another process may be reading it.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
    let new = path.with_extension(format!("new-{}", std::process::id()));
    std::fs::write(&new, text)?;
    std::fs::rename(new, path)
}

#[cfg(test)]
mod tests {
    use super::FILES;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// A file that is forgotten here is missing only far away from the repository.
    #[test]
    fn every_file_is_embedded() {
        let runners = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runners");
        let mut there = BTreeSet::new();
        for folder in ["python/roofline_runner", "jax", "numpy", "onnxruntime", "scipy", "torch", "triton"] {
            let entries = std::fs::read_dir(runners.join(folder)).unwrap().flatten();
            let files = entries.filter(|entry| entry.path().is_file());
            there.extend(files.map(|file| format!("{folder}/{}", file.file_name().to_string_lossy())));
        }
        assert_eq!(there, FILES.iter().map(|(path, _)| (*path).to_owned()).collect());
    }
}
