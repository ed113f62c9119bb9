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


NAME = "torch.nn.functional.conv2d"
# Where groups of a window step over the whole image, the process dies in bf16.
WITHIN = "height >= dilation, width >= dilation"
for operation in ("conv2d", "conv2d.bias"):
    for way, about, prepare, dtypes, requires in (
        ("eager", f"{NAME}, which has no `out`", returned(conv2d, CONV), ["f64", "f32", "f16"], ""),
        ("eager", f"{NAME}, which has no `out`", returned(conv2d, CONV), ["bf16"], WITHIN),
        ("compile", f"torch.compile of {NAME}, in f32 at least", compiled(conv2d, CONV), FLOATS, ""),
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
