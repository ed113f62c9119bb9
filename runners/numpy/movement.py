"""Operations that move elements and compute nothing. bf16, which numpy lacks, moves as its bits."""

from __future__ import annotations

from functools import partial

import numpy as np
from common import FLOATS, Job, offer

ANY = [*FLOATS, "bf16"]
PERMUTATIONS = {"": (2, 1, 0), "021": (0, 2, 1), "102": (1, 0, 2), "120": (1, 2, 0), "201": (2, 0, 1)}


def arrays(job: Job) -> list[np.ndarray]:
    """The tensors, as bits where numpy does not know their type."""
    return [tensor.array("uint16" if tensor.dtype == "bf16" else None) for tensor in job.tensors]


@offer("function", "copy expand", ANY)
def copy(job: Job):
    """numpy.copyto."""
    x, y = arrays(job)
    return partial(np.copyto, y, x)


@offer("function", "reshape", ANY, output="fresh")
def reshape(job: Job):
    """ndarray.reshape, which moves nothing."""
    x, y = arrays(job)
    return partial(x.reshape, y.shape)


@offer("function", "transpose", ANY)
def transpose(job: Job):
    """numpy.copyto from the transposed view."""
    x, y = arrays(job)
    return partial(np.copyto, y, x.T)


@offer("function", "permute permute.021 permute.102 permute.120 permute.201", ANY)
def permute(job: Job):
    """numpy.copyto from the permuted view."""
    x, y = arrays(job)
    return partial(np.copyto, y, x.transpose(PERMUTATIONS[job.variant]))


@offer("function", "cat", ANY)
def cat(job: Job):
    """numpy.concatenate with `out`."""
    x, y, z = arrays(job)
    return partial(np.concatenate, (x, y), axis=1, out=z)


@offer("function", "stack", ANY)
def stack(job: Job):
    """numpy.stack with `out`."""
    x, y, z = arrays(job)
    return partial(np.stack, (x, y), out=z)


@offer("function", "split", ANY)
def split(job: Job):
    """numpy.copyto from both parts."""
    x, y, z = arrays(job)
    left, right = np.split(x, [y.shape[1]], axis=1)

    def run():
        np.copyto(y, left)
        np.copyto(z, right)

    return run
