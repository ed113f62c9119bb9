"""Fourier transforms: complex numbers are views of the pairs that the cases hold.

In f64 on a CPU they are not offered: those of MKL lose three digits at composite lengths with a prime factor above 13.
"""

from __future__ import annotations

from functools import partial

import torch
from common import WIDE, Job, runner, tensors

FUNCTIONS = {
    "fft": torch.fft.fft,
    "fft.inverse": torch.fft.ifft,
    "fft.real": torch.fft.rfft,
    "fft.real-inverse": torch.fft.irfft,
    "fft2": torch.fft.fft2,
    "fft2.inverse": torch.fft.ifft2,
    "fft2.real": torch.fft.rfft2,
    "fft2.real-inverse": torch.fft.irfft2,
}


def transform(job: Job, function):
    """Prepares a function of torch.fft with `out`."""
    x, y = tensors(job)
    x = x if job.variant == "real" else torch.view_as_complex(x)
    y = y if job.variant == "real-inverse" else torch.view_as_complex(y)
    sizes = {"s": (job.axes["rows"], job.axes["cols"])} if job.operation == "fft2" else {"n": job.axes["n"]}
    return partial(function, x, **sizes, out=y)


for operation, function in FUNCTIONS.items():
    offer = partial(
        runner.implementation,
        "torch/eager",
        operation=operation,
        about=f"torch.fft.{function.__name__.removeprefix('fft_')} into the output",
    )
    offer(dtypes=["f32"], parallel=True)(partial(transform, function=function))
    offer(dtypes=WIDE, devices=["cuda"])(partial(transform, function=function))
