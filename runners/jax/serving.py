"""What serving a language model takes beside layers: tables and experts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from common import FLOATS, offer


def embedding(x, t):
    """jax.numpy.take."""
    return jnp.take(x, t, axis=0, mode="clip")


offer("embedding", embedding, widen=False)


def grouped_matmul(a, b, offsets):
    """jax.lax.ragged_dot with sums in f32 at least."""
    sums = jnp.promote_types(a.dtype, jnp.float32)
    return jax.lax.ragged_dot(a, b.swapaxes(1, 2), jnp.diff(offsets), preferred_element_type=sums)


# On a CPU every row is multiplied by the weights of all experts, and NaN times zero is NaN.
offer("grouped-matmul", grouped_matmul, FLOATS, widen=False, requires="finite")


def moe_combine(x, w, place):
    """Rows by their numbers, and jax.numpy.einsum."""
    return jnp.einsum("rt,rtc->rc", w, x[place], precision="highest")


offer("moe-combine", moe_combine)


def top_k(x, top):
    """jax.lax.top_k."""
    return jax.lax.top_k(x, top)


offer("top-k", top_k, widen=False, sizes=["top"])
