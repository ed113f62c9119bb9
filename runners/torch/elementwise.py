"""Operations of elements, by torch's own function where there is one."""

from __future__ import annotations

from functools import partial

import torch
from common import WIDE, Job, runner, tensors
from offers import offer
from torch.nn import functional

# With `out`, a row each.
for operation, function in {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "negate": torch.neg,
    "exp": torch.exp,
    "log": torch.log,
    "sin": torch.sin,
    "cos": torch.cos,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "broadcast-add broadcast-add.last broadcast-add.first": torch.add,
}.items():
    offer(operation, function, out=True)

# The last bit of some roots is wrong in f64 and f32.
offer("sqrt", torch.sqrt, eager=["f16", "bf16"], out=True, formula=False)

# `out` is there, though not in the function that people call.
aten = torch.ops.aten
offer("relu", torch.relu, out=partial(torch.clamp_min, min=0))
offer("silu", functional.silu, out=aten.silu.out)
# That of an infinity is NaN, but in f64.
offer("gelu", functional.gelu, out=aten.gelu.out, requires="finite")
offer(
    "gelu-tanh",
    partial(functional.gelu, approximate="tanh"),
    out=partial(aten.gelu.out, approximate="tanh"),
)


def add_scalar(x, scalar, out=None):
    """torch.add of a number."""
    return torch.add(x, scalar, out=out)


def scale(x, scalar, out=None):
    """torch.mul by a number."""
    return torch.mul(x, scalar, out=out)


def div_scalar(x, scalar, out=None):
    """torch.div by a number."""
    return torch.div(x, scalar, out=out)


def pow_scalar(x, exponent, out=None):
    """torch.pow."""
    return torch.pow(x, exponent, out=out)


def axpy(x, y, a, out=None):
    """torch.add with `alpha`."""
    return torch.add(y, x, alpha=a, out=out)


offer("scale", scale, out=True, params=["scalar"])
offer("div-scalar", div_scalar, out=True, params=["scalar"])
# In bf16 and f16 a summand is rounded first, and a cube in between; the defaults are right.
offer("add-scalar", add_scalar, out=True, params=["scalar"], narrow_params=[])
offer("pow-scalar", pow_scalar, out=True, params=["exponent"], narrow_params=[])
offer("axpy", axpy, eager=WIDE, out=True, params=["a"])


@runner.implementation("torch/eager", operation="axpy.in-place", dtypes=WIDE, params=["a"], parallel=True)
def axpy_in_place(job: Job):
    """Tensor.add_ with `alpha`."""
    x, _, z = tensors(job)
    return partial(z.add_, x, alpha=job.params["a"])


def gelu_quick(x):
    """x · sigmoid(1.702 x)."""
    return x * torch.sigmoid(1.702 * x)


def focal(p, t, alpha, gamma):
    """The focal loss."""
    chance = torch.where(t == 1, p, 1 - p)
    return -alpha * (1 - chance) ** gamma * torch.log(chance)


def batch_norm(x, mean, var, w, b, eps):
    """torch.nn.functional.batch_norm with given statistics."""
    return functional.batch_norm(x, mean, var, w, b, eps=eps)


def dropout(x, p):
    """torch.nn.functional.dropout by torch's own generator."""
    return functional.dropout(x, p, training=True)


offer("gelu-quick", gelu_quick, eager=[])
offer("focal", focal, eager=[], params=["alpha", "gamma"])
offer("batch-norm", batch_norm, params=["eps"])
offer("dropout.free", dropout, eager=WIDE, params=["p"])
