"""Operations that move elements and compute nothing: in the type that they have, bit for bit."""

from __future__ import annotations

from functools import partial

import torch
from common import ANYWHERE, FLOATS, Job, fresh, runner
from offers import compiler, in_place, warmed


def offer(operation: str, function) -> None:
    """Offers a function of inputs that writes into `out`, eager and compiled."""
    about = function.__doc__.rstrip(".")
    add = partial(runner.implementation, operation=operation, dtypes=FLOATS, parallel=True, devices=ANYWHERE)
    fast = in_place(compiler(function))
    add("torch/eager", about=about)(in_place(function))
    add("torch/compile", about=f"torch.compile of {about}")(lambda job: warmed(job, fast(job)))


def copy(x, out):
    """copy_."""
    out.copy_(x)


def transpose(x, out):
    """copy_ from the transposed view."""
    out.copy_(x.t())


def cat(x, y, out):
    """torch.cat with `out`."""
    torch.cat((x, y), 1, out=out)


def stack(x, y, out):
    """torch.stack with `out`."""
    torch.stack((x, y), out=out)


def split(x, out):
    """torch.split_with_sizes_copy with `out`."""
    torch.split_with_sizes_copy(x, [one.shape[1] for one in out], 1, out=out)


def permutation(*axes: int):
    """The function that permutes axes so."""

    def permute(x, out):
        """copy_ from the permuted view."""
        out.copy_(x.permute(axes))

    return permute


@runner.implementation("torch/eager", operation="reshape", dtypes=FLOATS, devices=ANYWHERE)
def view(job: Job):
    """Tensor.view, which moves nothing."""
    (x,) = fresh(job)
    return partial(x.view, job.outputs[0].shape)


offer("copy", copy)
offer("expand", copy)
offer("transpose", transpose)
offer("cat", cat)
offer("stack", stack)
offer("split", split)
offer("permute", permutation(2, 1, 0))
offer("permute.021", permutation(0, 2, 1))
offer("permute.102", permutation(1, 0, 2))
offer("permute.120", permutation(1, 2, 0))
offer("permute.201", permutation(2, 0, 1))
