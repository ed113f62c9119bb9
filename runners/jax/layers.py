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


WINDOWS = ["stride", "pad", "dilation", "groups"]
offer("conv2d conv2d.bias conv2d.fixed conv1d conv1d.bias", convolve, widen=False, sizes=WINDOWS, gpu=False)


def recurrent(cell, keeps, directions, x, *rest, layers):
    """Products for all inputs of a layer at once, and jax.lax.scan over the states."""
    first, (w_ih, w_hh, b_ih, b_hh, *w_up) = rest[: 1 + keeps], rest[1 + keeps :]
    cells = layers * directions
    # By cell, layer after layer.
    w_ih = [*jnp.split(w_ih, directions), *(part for up in w_up for part in jnp.split(up, cells - directions))]
    w_hh, b_ih, b_hh = (jnp.split(one, cells) for one in (w_hh, b_ih, b_hh))
    last = []
    for layer in range(layers):
        halves = []
        for number in range(layer * directions, (layer + 1) * directions):
            from_input = jnp.matmul(x, w_ih[number].T, precision="highest") + b_ih[number]

            def step(states, sums, number=number):
                from_state = jnp.matmul(states[0], w_hh[number].T, precision="highest") + b_hh[number]
                states = cell(sums, from_state, *states)
                return states, states[0]

            states = tuple(one[number] for one in first)
            states, y = jax.lax.scan(step, states, from_input, reverse=number % directions == 1)
            halves.append(y)
            last.append(states)
        x = jnp.concatenate(halves, -1)
    return x, *(jnp.stack(one) for one in zip(*last))


def rnn(from_input, from_state, _h):
    return (jnp.tanh(from_input + from_state),)


def relu(from_input, from_state, _h):
    return (jax.nn.relu(from_input + from_state),)


def lstm(from_input, from_state, _h, c):
    i, f, g, o = jnp.split(from_input + from_state, 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def gru(from_input, from_state, h):
    (r, z, n), (state_r, state_z, state_n) = (jnp.split(sums, 3, -1) for sums in (from_input, from_state))
    z = jax.nn.sigmoid(z + state_z)
    n = jnp.tanh(n + jax.nn.sigmoid(r + state_r) * state_n)
    return ((1 - z) * n + z * h,)


for operation, cell in {"rnn": rnn, "rnn.relu": relu, "lstm": lstm, "gru": gru}.items():
    both = f"{operation}{'-' if '.' in operation else '.'}bidirectional"
    for name, directions in ((operation, 1), (both, 2)):
        formula = partial(recurrent, cell, operation == "lstm", directions)
        offer(name, formula, ["f64", "f32"], sizes=["layers"], gpu=False)
