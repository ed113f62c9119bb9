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


def moe_route(x, top):
    """jax.lax.top_k, and jax.nn.softmax of what it chose."""
    found, at = jax.lax.top_k(x, top)
    return jax.nn.softmax(found, axis=-1), at


offer("moe-route", moe_route, sizes=["top"])


def moe_permute(x, at, experts):
    """jax.numpy.argsort that is stable, rows by their numbers, jax.numpy.bincount and jax.numpy.cumsum."""
    order = jnp.argsort(at.reshape(-1), stable=True)
    ends = jnp.cumsum(jnp.bincount(at.reshape(-1), length=experts))
    return x[order // at.shape[1]], order, jnp.concatenate((jnp.zeros(1, ends.dtype), ends))


offer("moe-permute", moe_permute, widen=False, sizes=["experts"])


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


def top_p(x, u, p, temperature, k=0.0):
    """jax.lax.top_k, jax.nn.softmax, jax.numpy.cumsum, and jax.numpy.searchsorted in each row."""
    falling, order = jax.lax.top_k(x, min(int(k), x.shape[1]) if k else x.shape[1])
    sums = jnp.cumsum(jax.nn.softmax(falling / temperature, axis=-1), axis=-1)
    find = jax.vmap(jnp.searchsorted, (0, 0))
    last = jnp.minimum(find(sums, jnp.full(u.shape, p, sums.dtype)), sums.shape[1] - 1)
    target = u.astype(sums.dtype) * jnp.take_along_axis(sums, last[:, None], 1)[:, 0]
    place = jax.vmap(partial(jnp.searchsorted, side="right"))(sums, target)
    return jnp.take_along_axis(order, jnp.minimum(place, last)[:, None], 1)[:, 0]


offer("top-p", top_p, params=["p", "temperature"])
offer("top-p.k", top_p, params=["p", "temperature", "k"])
