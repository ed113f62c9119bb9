"""Layers of neural networks. f16 is computed in f32."""

from __future__ import annotations

import numpy as np
from common import Job, accumulator, offer, scratch
from numpy.lib.stride_tricks import sliding_window_view


@offer("tensordot", "conv2d conv2d.bias conv2d.fixed conv1d conv1d.bias", parallel=True)
def convolve(job: Job):
    """numpy.tensordot with a sliding_window_view of the image."""
    x, w, *b, y = job.arrays()
    dtype, groups = accumulator(y), job.axes["groups"]
    pad, kernel, stride, dilation = (job.axes[name] for name in ("pad", "kernel", "stride", "dilation"))
    sides = x.ndim - 2
    padded = scratch(job, (*x.shape[:2], *(side + 2 * pad for side in x.shape[2:])), dtype)
    every = (slice(None),) * 2
    image = padded[(*every, *(slice(pad, pad + side) for side in x.shape[2:]))]
    window = (dilation * (kernel - 1) + 1,) * sides
    steps = (*[slice(None, None, stride)] * sides, *[slice(None, None, dilation)] * sides)
    windows = sliding_window_view(padded, window, tuple(range(2, x.ndim)))[(*every, *steps)]
    summed = (1, *range(2, x.ndim)), (1, *range(x.ndim, x.ndim + sides))
    weights = scratch(job, w.shape, dtype)
    # The channels of each group, of windows, weights and outputs.
    parts = list(zip(np.split(windows, groups, 1), np.split(weights, groups), np.split(y, groups, 1)))

    def run():
        np.copyto(image, x)
        np.copyto(weights, w)
        for number, (window, weight, output) in enumerate(parts):
            sums = np.tensordot(weight, window, summed)
            if b:
                sums += np.split(b[0], groups)[number].reshape(-1, *[1] * (sums.ndim - 1))
            np.copyto(output, sums.swapaxes(0, 1), casting="same_kind")

    return run


RECURRENT = "rnn rnn.bidirectional rnn.relu rnn.relu-bidirectional lstm lstm.bidirectional gru gru.bidirectional"


@offer("matmul", RECURRENT, ["f64", "f32"], parallel=True)
def recurrent(job: Job):
    """numpy.matmul for all inputs of a layer at once, then step by step for the states."""
    given = {tensor.name: tensor.array() for tensor in job.tensors}
    x, y, hidden, layers = given["x"], given["y"], job.axes["hidden"], job.axes["layers"]
    seq, batch, width = y.shape
    directions = width // hidden
    # By cell, layer after layer.
    w_ih = np.split(given["w-ih"], directions)
    if layers > 1:
        w_ih += np.split(given["w-up"], (layers - 1) * directions)
    w_hh, b_ih, b_hh = (np.split(given[name], layers * directions) for name in ("w-hh", "b-ih", "b-hh"))
    gates = w_hh[0].shape[0] // hidden
    from_input = scratch(job, (seq, batch, gates * hidden), y.dtype)
    from_state = scratch(job, (batch, gates * hidden), y.dtype)
    below = scratch(job, y.shape, y.dtype) if layers > 1 else y
    relu = job.variant.startswith("relu")

    def blocks(sums):
        return np.split(sums, gates, axis=-1)

    def rnn(t, _before, _kept, out):
        sums = from_input[t] + from_state
        np.maximum(sums, 0, out=out) if relu else np.tanh(sums, out=out)

    def gru(t, before, _kept, out):
        (r, z, n), (state_r, state_z, state_n) = blocks(from_input[t]), blocks(from_state)
        z = sigmoid(z + state_z)
        n = np.tanh(n + sigmoid(r + state_r) * state_n)
        np.add((1 - z) * n, z * before, out=out)

    def lstm(t, _before, kept, out):
        i, f, g, o = blocks(from_input[t] + from_state)
        np.add(sigmoid(f) * kept, sigmoid(i) * np.tanh(g), out=kept)
        np.multiply(sigmoid(o), np.tanh(kept), out=out)

    step = {"rnn": rnn, "gru": gru, "lstm": lstm}[job.operation]

    def cell(number, read):
        """One cell over all steps, the second of a layer from the last on."""
        direction = number % directions
        np.matmul(read, w_ih[number].T, out=from_input)
        np.add(from_input, b_ih[number], out=from_input)
        before, kept = given["h0"][number], given["cn"][number] if "cn" in given else None
        for t in reversed(range(seq)) if direction else range(seq):
            np.matmul(before, w_hh[number].T, out=from_state)
            np.add(from_state, b_hh[number], out=from_state)
            out = y[t, :, direction * hidden : (direction + 1) * hidden]
            step(t, before, kept, out)
            before = out
        np.copyto(given["hn"][number], before)

    def run():
        if "cn" in given:
            np.copyto(given["cn"], given["c0"])
        for layer in range(layers):
            read = below if layer else x
            if layer:
                np.copyto(below, y)
            for direction in range(directions):
                cell(layer * directions + direction, read)

    return run


def sigmoid(x):
    """1 / (1 + e⁻ˣ)."""
    return 1 / (1 + np.exp(-x))
