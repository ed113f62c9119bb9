"""Offer Python implementations of compute kernels to Roofline.

A runner is a program that hosts implementations and answers the conductor's questions
(`docs/protocol.md`). Write one function an implementation; it prepares a case and returns the
callable that is timed::

    from roofline_runner import Runner
    import numpy

    runner = Runner("numpy", version=numpy.__version__)

    @runner.implementation("numpy/ufunc", operation="add", dtypes=["f32", "f64"])
    def add(job):
        x, y, z = job.arrays()
        return lambda: numpy.add(x, y, out=z)

    runner.serve()

A file for `roofline run --python FILE` needs neither runner nor `serve`: `implementation` offers a
function under the names of file and function, and `operation` declares mathematics of one's own.

Import this package before the library that is measured, so that the clock is bound before any
other code runs.
"""

from .errors import Unsupported
from .file import implementation, operation
from .job import Job, Tensor
from .runner import PROTOCOL, Runner

__all__ = ["PROTOCOL", "Job", "Runner", "Tensor", "Unsupported", "implementation", "operation"]
