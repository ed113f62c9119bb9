"""Fourier transforms: complex numbers are views of the pairs that the cases hold."""

from __future__ import annotations

from functools import partial

import numpy as np
from common import Job, offer


def complex_view(pairs: np.ndarray) -> np.ndarray:
    """Pairs of real and imaginary part, as the complex numbers that they are."""
    return pairs.view(np.result_type(pairs.dtype, np.complex64))[..., 0]


@offer("fft", "fft fft.inverse fft.real fft.real-inverse fft2 fft2.inverse fft2.real fft2.real-inverse", ["f64", "f32"])
def fft(job: Job):
    """A function of numpy.fft with `out`; of f32, those forward compute in f64."""
    x, y = job.arrays()
    if job.variant != "real":
        x = complex_view(x)
    if job.variant != "real-inverse":
        y = complex_view(y)
    if job.operation == "fft2":
        # numpy.fft.ifft2 takes `out`, and leaves it as it is.
        functions = {"": np.fft.fftn, "inverse": np.fft.ifftn, "real": np.fft.rfftn, "real-inverse": np.fft.irfftn}
        return partial(functions[job.variant], x, s=(job.axes["rows"], job.axes["cols"]), axes=(-2, -1), out=y)
    function = {"": np.fft.fft, "inverse": np.fft.ifft, "real": np.fft.rfft, "real-inverse": np.fft.irfft}[job.variant]
    return partial(function, x, n=job.axes["n"], out=y)
