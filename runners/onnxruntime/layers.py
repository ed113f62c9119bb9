"""Layers of neural networks."""

from __future__ import annotations

import numpy as np
from common import Job, offer
from model import Graph, node
from operators import kept, names


@offer("conv2d conv2d.bias conv2d.fixed conv1d conv1d.bias", ["f32", "f16"])
def convolve(job: Job):
    """Conv."""
    sides = len(job.inputs[0].shape) - 2
    kernel, stride, pad, dilation = (job.axes[name] for name in ("kernel", "stride", "pad", "dilation"))
    return Graph(
        [
            node(
                "Conv",
                *names(job),
                kernel_shape=[kernel] * sides,
                strides=[stride] * sides,
                pads=[pad] * 2 * sides,
                dilations=[dilation] * sides,
                group=job.axes["groups"],
            )
        ],
        kept(job),
    )


# Names of operators, and PyTorch's gates in the order that they are wanted in here. That of `lstm` is not right by its
# bound: see `docs/peers.md`.
CELLS = {"rnn": ("RNN", [0]), "gru": ("GRU", [1, 0, 2])}


@offer("rnn rnn.relu gru", ["f32"], requires="layers <= 1")
def recurrent(job: Job):
    """RNN, or GRU with its reset after the product."""
    operator, order = CELLS[job.operation]
    given = kept(job).items()
    ordered = {name: np.concatenate([np.split(one, len(order))[gate] for gate in order]) for name, one in given}
    constants = {name: ordered[name][None] for name in ("w-ih", "w-hh")}
    constants["b"] = np.concatenate([ordered["b-ih"], ordered["b-hh"]])[None]
    seq, batch, hidden = job.outputs[0].shape
    shapes = {"h0": [1, batch, hidden], "hn": [1, batch, hidden], "y": [seq, 1, batch, hidden]}
    reset = {"linear_before_reset": 1} if operator == "GRU" else {}
    relu = {"activations": ["Relu"]} if job.variant == "relu" else {}
    cell = node(operator, "x w-ih w-hh b - h0", "y hn", hidden_size=hidden, **reset, **relu)
    return Graph([cell], constants, shapes)
