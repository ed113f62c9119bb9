"""Layers of neural networks, on the CPU: on a GPU they were not tried yet."""

from __future__ import annotations

from common import FLOATS, WIDE, Job, fresh, runner
from offers import compiled, returned
from torch import nn
from torch.nn import functional

CONV = ["stride", "pad", "dilation", "groups"]


def conv2d(x, w, b=None, *, stride, pad, dilation, groups):
    """torch.nn.functional.conv2d."""
    return functional.conv2d(x, w, b, stride, pad, dilation, groups)


def conv1d(x, w, b=None, *, stride, pad, dilation, groups):
    """torch.nn.functional.conv1d."""
    return functional.conv1d(x, w, b, stride, pad, dilation, groups)


# Where groups of a window step over the whole image, the process dies in bf16.
WITHIN = {conv2d: "height >= dilation, width >= dilation", conv1d: "length >= dilation"}
for operation, convolve in {"conv2d": conv2d, "conv2d.bias": conv2d, "conv1d": conv1d, "conv1d.bias": conv1d}.items():
    name = convolve.__doc__[:-1]
    for way, about, prepare, dtypes, requires in (
        ("eager", f"{name}, which has no `out`", returned(convolve, CONV), ["f64", "f32", "f16"], ""),
        ("eager", f"{name}, which has no `out`", returned(convolve, CONV), ["bf16"], WITHIN[convolve]),
        ("compile", f"torch.compile of {name}, in f32 at least", compiled(convolve, CONV), FLOATS, ""),
    ):
        runner.implementation(
            f"torch/{way}", operation=operation, dtypes=dtypes, about=about, parallel=True, requires=requires
        )(prepare)


@runner.implementation("torch/eager", operation="gru", dtypes=WIDE, parallel=True)
@runner.implementation("torch/eager", operation="lstm", dtypes=WIDE, parallel=True)
@runner.implementation("torch/eager", operation="rnn", dtypes=WIDE, parallel=True)
def recurrent(job: Job):
    """torch.nn.RNN, LSTM or GRU with the given weights, which has no `out`."""
    x, *states, w_ih, w_hh, b_ih, b_hh = fresh(job)
    kind = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[job.operation]
    layer = kind(job.axes["input"], job.axes["hidden"], device=x.device, dtype=x.dtype)
    for name, given in zip(("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"), (w_ih, w_hh, b_ih, b_hh)):
        getattr(layer, name).copy_(given)
    layer.flatten_parameters()
    # The one layer is a dimension of states.
    first = tuple(state[None] for state in states)

    def run():
        y, last = layer(x, first if len(first) > 1 else first[0])
        return (y, *last) if len(first) > 1 else (y, last)

    return run
