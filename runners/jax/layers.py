"""Layers of neural networks, on the CPU: on a GPU they were not tried yet."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from common import offer


def convolve(x, w, b=None, *, stride, pad, dilation, groups):
    """jax.lax.conv_general_dilated."""
    sides = x.ndim - 2
    y = jax.lax.conv_general_dilated(
        x,
        w,
        (stride,) * sides,
        [(pad, pad)] * sides,
        rhs_dilation=(dilation,) * sides,
        feature_group_count=groups,
        precision="highest",
        preferred_element_type=jnp.promote_types(x.dtype, jnp.float32),
    )
    return y if b is None else y + b.reshape(-1, *[1] * sides)


offer("conv2d conv2d.bias conv1d conv1d.bias", convolve, widen=False, sizes=["stride", "pad", "dilation", "groups"], gpu=False)


def recurrent(cell, x, h0, *rest):
    """Products for all inputs at once, and jax.lax.scan over the states."""
    *c0, w_ih, w_hh, b_ih, b_hh = rest
    from_input = jnp.matmul(x, w_ih.T, precision="highest") + b_ih

    def step(states, sums):
        states = cell(sums, jnp.matmul(states[0], w_hh.T, precision="highest") + b_hh, *states)
        return states, states[0]

    last, y = jax.lax.scan(step, (h0, *c0), from_input)
    return y, *last


def rnn(from_input, from_state, _h):
    return (jnp.tanh(from_input + from_state),)


def lstm(from_input, from_state, _h, c):
    i, f, g, o = jnp.split(from_input + from_state, 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def gru(from_input, from_state, h):
    (r, z, n), (state_r, state_z, state_n) = (jnp.split(sums, 3, -1) for sums in (from_input, from_state))
    z = jax.nn.sigmoid(z + state_z)
    n = jnp.tanh(n + jax.nn.sigmoid(r + state_r) * state_n)
    return ((1 - z) * n + z * h,)


for cell in (rnn, lstm, gru):
    offer(cell.__name__, partial(recurrent, cell), ["f64", "f32"], gpu=False)
