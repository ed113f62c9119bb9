"""Layers of neural networks. f16 is computed in f32."""

from __future__ import annotations

import numpy as np
from common import Job, accumulator, offer, scratch
from numpy.lib.stride_tricks import sliding_window_view


@offer("tensordot", "conv2d conv2d.bias conv1d conv1d.bias", parallel=True)
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


@offer("matmul", "rnn lstm gru", ["f64", "f32"], parallel=True)
def recurrent(job: Job):
    """numpy.matmul for all inputs at once, then step by step for the states."""
    x, h0, *c0, w_ih, w_hh, b_ih, b_hh = (tensor.array() for tensor in job.inputs)
    y, hn, *cn = (tensor.array() for tensor in job.outputs)
    seq, batch, hidden = y.shape
    gates = w_ih.shape[0] // hidden
    from_input = scratch(job, (seq, batch, gates * hidden), y.dtype)
    from_state = scratch(job, (batch, gates * hidden), y.dtype)

    def blocks(sums):
        return np.split(sums, gates, axis=-1)

    def rnn(t, _before):
        np.tanh(from_input[t] + from_state, out=y[t])

    def gru(t, before):
        (r, z, n), (state_r, state_z, state_n) = blocks(from_input[t]), blocks(from_state)
        z = sigmoid(z + state_z)
        n = np.tanh(n + sigmoid(r + state_r) * state_n)
        np.add((1 - z) * n, z * before, out=y[t])

    def lstm(t, _before):
        i, f, g, o = blocks(from_input[t] + from_state)
        np.add(sigmoid(f) * cn[0], sigmoid(i) * np.tanh(g), out=cn[0])
        np.multiply(sigmoid(o), np.tanh(cn[0]), out=y[t])

    step = {"rnn": rnn, "gru": gru, "lstm": lstm}[job.operation]

    def run():
        np.matmul(x, w_ih.T, out=from_input)
        np.add(from_input, b_ih, out=from_input)
        for cell, first in zip(cn, c0):
            np.copyto(cell, first)
        before = h0
        for t in range(seq):
            np.matmul(before, w_hh.T, out=from_state)
            np.add(from_state, b_hh, out=from_state)
            step(t, before)
            before = y[t]
        np.copyto(hn, before)

    return run


def sigmoid(x):
    """1 / (1 + e⁻ˣ)."""
    return 1 / (1 + np.exp(-x))
