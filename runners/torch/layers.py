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
FORMS = {"conv2d": conv2d, "conv2d.bias": conv2d, "conv2d.fixed": conv2d, "conv1d": conv1d, "conv1d.bias": conv1d}
for operation, convolve in FORMS.items():
    name = convolve.__doc__[:-1]
    for way, about, prepare, dtypes, requires in (
        ("eager", f"{name}, which has no `out`", returned(convolve, CONV), ["f64", "f32", "f16"], ""),
        ("eager", f"{name}, which has no `out`", returned(convolve, CONV), ["bf16"], WITHIN[convolve]),
        ("compile", f"torch.compile of {name}, in f32 at least", compiled(convolve, CONV), FLOATS, ""),
    ):
        runner.implementation(
            f"torch/{way}", operation=operation, dtypes=dtypes, about=about, parallel=True, requires=requires
        )(prepare)


def recurrent(job: Job):
    """torch.nn.RNN, LSTM or GRU with the given weights, which has no `out`."""
    given = {tensor.name: one for one, tensor in zip(fresh(job), job.inputs)}
    x, states = given["x"], tuple(given[name] for name in ("h0", "c0") if name in given)
    layers, both = job.axes["layers"], job.variant.endswith("bidirectional")
    kind = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[job.operation]
    more = {"nonlinearity": "relu"} if job.variant.startswith("relu") else {}
    layer = kind(
        job.axes["input"],
        job.axes["hidden"],
        layers,
        bidirectional=both,
        device=x.device,
        dtype=x.dtype,
        **more,
    )
    cells = [f"l{number}{way}" for number in range(layers) for way in ("", "_reverse")[: 1 + both]]
    parts = {
        "weight_ih": given["w-ih"].chunk(1 + both) + (given["w-up"].chunk(len(cells) - 1 - both) if layers > 1 else ()),
        "weight_hh": given["w-hh"].chunk(len(cells)),
        "bias_ih": given["b-ih"].chunk(len(cells)),
        "bias_hh": given["b-hh"].chunk(len(cells)),
    }
    for name, of_cells in parts.items():
        for cell, one in zip(cells, of_cells):
            getattr(layer, f"{name}_{cell}").copy_(one)
    layer.flatten_parameters()

    def run():
        y, last = layer(x, states if len(states) > 1 else states[0])
        return (y, *last) if len(states) > 1 else (y, last)

    return run


for cell in ("rnn", "rnn.relu", "lstm", "gru"):
    for operation in (cell, f"{cell}{'-' if '.' in cell else '.'}bidirectional"):
        runner.implementation("torch/eager", operation=operation, dtypes=WIDE, parallel=True)(recurrent)
