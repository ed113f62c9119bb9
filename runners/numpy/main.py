"""numpy as a peer: whole-array functions that write into the given memory.

f16 is computed in f32 and rounded once, at the output, because that is what the cases declare.
All scratch memory is made while preparing, so nothing is allocated on the clock but numpy's own
buffers. Conversions are part of the computation and therefore of the time.
"""

from __future__ import annotations

import sys
from functools import partial
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
PRODUCT_DTYPES = [*FLOATS, "i8"]
# 1024 products of two i8 are at most 2^24, so an f32 holds every partial sum exactly.
EXACT_BLOCK = 1024


def blas() -> str:
    """Name, version and build of the library behind `matmul`."""
    try:
        found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{found['name']} {found['version']} {found.get('openblas configuration', '')}".strip()
    except (KeyError, TypeError):
        return "unknown"


runner = Runner("numpy", version=np.__version__, notes={"blas": blas()})


# Operations that numpy has as one function of elements.
UFUNCS = {"add": np.add, "sub": np.subtract, "div": np.divide, "exp": np.exp}


def offer_ufunc(operation: str, function: np.ufunc) -> None:
    """Offers a function that writes into the given memory."""

    def prepare(job: Job):
        *inputs, output = job.arrays()
        return partial(function, *inputs, output)

    about = f"numpy.{function.__name__} into the output"
    runner.implementation("numpy/ufunc", operation=operation, dtypes=FLOATS, about=about)(prepare)


for operation, function in UFUNCS.items():
    offer_ufunc(operation, function)


@runner.implementation("numpy/ufunc", operation="relu", dtypes=FLOATS)
def relu(job: Job):
    """numpy.maximum with zero."""
    x, y = job.arrays()
    return partial(np.maximum, x, x.dtype.type(0), y)


@runner.implementation("numpy/ufunc", operation="softmax", dtypes=FLOATS)
def softmax(job: Job):
    """Maximum, difference, exponential, sum, quotient: a pass over memory each."""
    x, y = job.arrays()
    wide = accumulator(x)
    powers = y if y.dtype == wide else scratch(job, y.shape, wide)
    top, total = (scratch(job, (x.shape[0], 1), wide) for _ in range(2))
    source = x if x.dtype == wide else powers

    def run():
        if source is not x:
            np.copyto(source, x)
        np.max(source, axis=1, keepdims=True, out=top)
        np.subtract(source, top, out=powers)
        np.exp(powers, out=powers)
        np.sum(powers, axis=1, keepdims=True, out=total)
        np.divide(powers, total, out=y)

    return run


@runner.implementation("numpy/ufunc", operation="rms-norm", dtypes=FLOATS, params=["eps"])
def rms_norm(job: Job):
    """Squares, mean, root, quotient, weight: a pass over memory each."""
    x, w, y = job.arrays()
    wide, cols = accumulator(x), x.shape[1]
    work = y if y.dtype == wide else scratch(job, y.shape, wide)
    weight = w if w.dtype == wide else scratch(job, w.shape, wide)
    scale, eps = scratch(job, (x.shape[0], 1), wide), job.params["eps"]

    def run():
        if weight is not w:
            np.copyto(weight, w)
        np.square(x, out=work, dtype=wide)
        np.sum(work, axis=1, keepdims=True, out=scale)
        np.divide(scale, cols, out=scale)
        np.add(scale, eps, out=scale)
        np.sqrt(scale, out=scale)
        np.divide(x, scale, out=work, dtype=wide)
        np.multiply(work, weight, out=y)

    return run


@runner.implementation("numpy/matmul", operation="matmul.nn", dtypes=PRODUCT_DTYPES, parallel=True)
@runner.implementation("numpy/matmul", operation="matmul", dtypes=PRODUCT_DTYPES, parallel=True)
def matmul(job: Job):
    """numpy.matmul: BLAS for floats, f16 widened to f32; numpy's plain loops for i8 widened to i32."""
    a, b, c = factors(job)
    if job.dtype == "i8":
        job.threads_used = 1  # BLAS has no integers.
    if job.dtype in ("f64", "f32"):
        return lambda: np.matmul(a, b, out=c)
    wide = np.dtype(np.int32 if job.dtype == "i8" else np.float32)
    wide_a, wide_b = scratch_like(job, a, wide), scratch_like(job, b, wide)
    wide_c = c if c.dtype == wide else scratch_like(job, c, wide)

    def run():
        np.copyto(wide_a, a)
        np.copyto(wide_b, b)
        np.matmul(wide_a, wide_b, out=wide_c)
        if wide_c is not c:
            np.copyto(c, wide_c, casting="same_kind")

    return run


@runner.implementation("numpy/matmul-exact-f32", operation="matmul.nn", dtypes=["i8"], parallel=True)
@runner.implementation("numpy/matmul-exact-f32", operation="matmul", dtypes=["i8"], parallel=True)
def matmul_i8_by_blas(job: Job):
    """BLAS in f32 over blocks of 1024 products, whose sums f32 holds exactly, added up in i32."""
    a, b, c = factors(job)
    k = a.shape[1]
    blocks = [slice(first, min(first + EXACT_BLOCK, k)) for first in range(0, k, EXACT_BLOCK)]
    width = min(k, EXACT_BLOCK)
    wide_a, wide_b = (scratch_like(job, t, np.float32) for t in (a[:, :width], b[:width]))
    wide_c, part = scratch_like(job, c, np.float32), scratch_like(job, c, np.int32)

    def run():
        for block in blocks:
            length = block.stop - block.start
            block_a, block_b = wide_a[:, :length], wide_b[:length]
            np.copyto(block_a, a[:, block])
            np.copyto(block_b, b[block])
            np.matmul(block_a, block_b, out=wide_c)
            if block.start == 0:
                np.copyto(c, wide_c, casting="unsafe")
            else:
                np.copyto(part, wide_c, casting="unsafe")
                np.add(c, part, out=c)

    return run


def factors(job: Job) -> list[np.ndarray]:
    """A, B as [k, n] whichever way it is stored, and C."""
    a, b, c = job.arrays()
    return [a, b if job.variant == "nn" else b.T, c]


def accumulator(x: np.ndarray) -> np.dtype:
    """The type to compute in: at least f32."""
    return np.result_type(x.dtype, np.float32)


def scratch(job: Job, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Memory of the implementation's own, counted."""
    return counted(job, np.zeros(shape, dtype))


def scratch_like(job: Job, array: np.ndarray, dtype: np.dtype | type) -> np.ndarray:
    """Scratch of another type in the same order, so that converting walks both straight."""
    return counted(job, np.zeros_like(array, dtype))


def counted(job: Job, array: np.ndarray) -> np.ndarray:
    """Adds an array to the memory that the implementation holds."""
    job.workspace_bytes += array.nbytes
    return array


if __name__ == "__main__":
    runner.serve()
