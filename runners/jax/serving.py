"""What serving a language model takes beside layers: tables and experts."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from common import FLOATS, offer, offer_flushing


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


def apart(offsets, tokens: int, causal: bool):
    """Which keys are of a query's own sequence, and not after it."""
    own = jnp.searchsorted(offsets, jnp.arange(tokens), side="right")
    mask = own[:, None] == own[None, :]
    return mask & jnp.tri(tokens, dtype=bool) if causal else mask


def varlen_attention(q, k, v, offsets, scale, causal=False):
    """jax.nn.dot_product_attention, with a mask that keeps sequences apart."""
    mask = apart(offsets, q.shape[0], causal)
    return jax.nn.dot_product_attention(q, k, v, mask=mask[None], scale=scale or None)


# It takes its softmax in f32, in f64 too.
varlen = ["f32", "bf16"]
offer_flushing("varlen-attention", varlen_attention, varlen, params=["scale"])
offer_flushing("varlen-attention.causal", partial(varlen_attention, causal=True), varlen, params=["scale"])
