"""scipy as a peer: what numpy has no function for, or a slower one.

Most functions of scipy return arrays of their own, which are copied to where they are judged, off the clock. Those that are
ufuncs write into the given memory.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from roofline_runner import Job, Runner  # before numpy: this binds the clock

try:
    import numpy as np
    import scipy
    from scipy import fft, sparse, special
except ImportError as error:
    print(f"the scipy runner needs scipy: {error}", file=sys.stderr)
    sys.exit(3)

# Infinities and NaNs are part of the cases; a warning each time would be timed.
np.seterr(all="ignore")

runner = Runner("scipy", version=scipy.__version__, notes={"numpy": np.__version__})

FLOATS = ["f64", "f32"]


def offer(name: str, operations: str, dtypes: list[str] = FLOATS, output: str = "fresh", **more):
    """Offers a function for several operations, named between spaces."""

    def register(prepare):
        for operation in operations.split():
            runner.implementation(f"scipy/{name}", operation=operation, dtypes=dtypes, output=output, **more)(prepare)
        return prepare

    return register


def complex_view(pairs: np.ndarray) -> np.ndarray:
    """Pairs of real and imaginary part, as the complex numbers that they are."""
    return pairs.view(np.result_type(pairs.dtype, np.complex64))[..., 0]


@offer("fft", "fft fft.inverse fft.real fft.real-inverse fft2 fft2.inverse fft2.real fft2.real-inverse", parallel=True)
def transform(job: Job):
    """A function of scipy.fft, with as many workers as threads."""
    x, y = job.arrays()
    if job.variant != "real":
        x = complex_view(x)
    if job.operation == "fft2":
        functions = {"": fft.fft2, "inverse": fft.ifft2, "real": fft.rfft2, "real-inverse": fft.irfft2}
        sides = (job.axes["rows"], job.axes["cols"])
        function = partial(functions[job.variant], x, s=sides, workers=job.threads)
    else:
        functions = {"": fft.fft, "inverse": fft.ifft, "real": fft.rfft, "real-inverse": fft.irfft}
        function = partial(functions[job.variant], x, n=job.axes["n"], workers=job.threads)
    if job.variant == "real-inverse":
        return function
    return lambda: function().view(y.dtype).reshape(y.shape)


@offer("sparse", "spmv spmm")
def by_rows(job: Job):
    """A product of scipy.sparse.csr_array, which is made of the given arrays at each launch."""
    values, columns, offsets, x, y = job.arrays()
    shape = (y.shape[0], x.shape[0])
    return lambda: sparse.csr_array((values, columns, offsets), shape=shape, copy=False) @ x


def by_places(job: Job):
    """A product of scipy.sparse.coo_array, which is made of the given arrays at each launch."""
    values, columns, rows, x, y = job.arrays()
    shape = (y.shape[0], x.shape[0])
    return lambda: sparse.coo_array((values, (rows, columns)), shape=shape, copy=False) @ x


offer("sparse", "spmv.coo")(by_places)
# Where the other factor is a matrix, it passes over values that are zero: no NaN of 0·∞.
offer("sparse", "spmm.coo", requires="finite")(by_places)


@offer("sparse", "spmv.csc")
def by_columns(job: Job):
    """A product of scipy.sparse.csc_array, which is made of the given arrays at each launch."""
    values, rows, offsets, x, y = job.arrays()
    shape = (y.shape[0], x.shape[0])
    return lambda: sparse.csc_array((values, rows, offsets), shape=shape, copy=False) @ x


@offer("sparse", "spmv-bsr")
def by_blocks(job: Job):
    """A product of scipy.sparse.bsr_array, which is made of the given arrays at each launch."""
    values, columns, offsets, x, y = job.arrays()
    flat = x.reshape(-1)

    def run():
        product = sparse.bsr_array((values, columns, offsets), shape=(y.size, x.size), copy=False) @ flat
        return product.reshape(y.shape)

    return run


def along(job: Job) -> int:
    """Down the columns, or along the rows or the middle one of three dimensions."""
    return 0 if job.variant == "columns" else 1


@offer("special", "softmax softmax.columns softmax-axis")
def softmax(job: Job):
    """scipy.special.softmax."""
    return partial(special.softmax, job.arrays()[0], axis=along(job))


# Where a line has an infinity, it gives -inf or a number, and NaN is due.
@offer("special", "log-softmax log-softmax.columns log-softmax-axis", requires="finite")
def log_softmax(job: Job):
    """scipy.special.log_softmax."""
    return partial(special.log_softmax, job.arrays()[0], axis=along(job))


@offer("special", "logsumexp logsumexp.columns logsumexp-axis")
def sum_of_exponentials(job: Job):
    """scipy.special.logsumexp."""
    return partial(special.logsumexp, job.arrays()[0], axis=along(job))


@offer("special", "sigmoid", output="in-place")
def sigmoid(job: Job):
    """scipy.special.expit with `out`."""
    x, y = job.arrays()
    return partial(special.expit, x, out=y)


@offer("special", "gelu", output="in-place")
def gelu(job: Job):
    """scipy.special.erf, and numpy's functions around it, with `out`."""
    x, y = job.arrays()
    half, root = x.dtype.type(0.5), x.dtype.type(np.sqrt(0.5))

    def run():
        np.multiply(x, root, out=y)
        special.erf(y, out=y)
        np.add(y, 1, out=y)
        np.multiply(y, x, out=y)
        np.multiply(y, half, out=y)

    return run


if __name__ == "__main__":
    runner.serve()
