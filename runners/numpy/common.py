"""The runner, the types that it offers, and the memory that compositions of numpy's functions need."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from roofline_runner import Job, Runner  # before numpy: this binds the clock

try:
    import numpy as np
except ImportError as error:
    print(f"the numpy runner needs numpy: {error}", file=sys.stderr)
    sys.exit(3)

# Infinities and NaNs are part of the cases; a warning each time would be timed.
np.seterr(all="ignore")

FLOATS = ["f64", "f32", "f16"]


def blas() -> str:
    """Name, version and build of the library behind `matmul`."""
    try:
        found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{found['name']} {found['version']} {found.get('openblas configuration', '')}".strip()
    except (KeyError, TypeError):
        return "unknown"


runner = Runner("numpy", version=np.__version__, notes={"blas": blas()})


def offer(name: str, operations: str, dtypes: list[str] = FLOATS, **more):
    """Offers a function for several operations, named between spaces."""

    def register(prepare):
        for operation in operations.split():
            runner.implementation(f"numpy/{name}", operation=operation, dtypes=dtypes, **more)(prepare)
        return prepare

    return register


def accumulator(x: np.ndarray) -> np.dtype:
    """The type to compute in: at least f32."""
    return np.result_type(x.dtype, np.float32)


def scratch(job: Job, shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
    """Memory of the implementation's own, counted."""
    return counted(job, np.zeros(shape, dtype))


def scratch_like(job: Job, array: np.ndarray, dtype: np.dtype | type) -> np.ndarray:
    """Scratch of another type in the same order, so that converting walks both straight."""
    return counted(job, np.zeros_like(array, dtype))


def wide(job: Job, array: np.ndarray) -> np.ndarray:
    """An output to compute in: itself where it is wide enough, scratch of its shape otherwise."""
    return array if array.dtype == accumulator(array) else scratch_like(job, array, accumulator(array))


def counted(job: Job, array: np.ndarray) -> np.ndarray:
    """Adds an array to the memory that the implementation holds."""
    job.workspace_bytes += array.nbytes
    return array
