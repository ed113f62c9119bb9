"""Attention: products of whole heads, and a softmax between them. f16 is computed in f32."""

from __future__ import annotations

import numpy as np
from common import Job, accumulator, offer, scratch


@offer("matmul", "attention.soft-cap window-attention.soft-cap", params=["scale", "cap"])
@offer(
    "matmul",
    "attention attention.causal attention.masked attention.sinks attention.heads-first attention.heads-first-causal "
    "window-attention window-attention.sinks",
    params=["scale"],
)
def attention(job: Job):
    """numpy.matmul, softmax, numpy.matmul."""
    *tensors, y = job.arrays()
    dtype = accumulator(y)
    heads_first = job.variant.startswith("heads-first")
    q, k, v, y = (x if heads_first else x.transpose(0, 2, 1, 3) for x in (*tensors[:3], y))
    batch, heads, seq, dim = q.shape
    kv_heads, kv = k.shape[1:3]
    grouped = (batch, kv_heads, heads // kv_heads)
    # Heads of queries beside the heads of keys that they look at.
    wide = [scratch(job, (*grouped, seq, dim), dtype)]
    wide += [scratch(job, (batch, kv_heads, 1, kv, dim), dtype) for _ in "kv"]
    scores, result = scratch(job, (*grouped, seq, kv), dtype), scratch(job, (*grouped, seq, dim), dtype)
    scale, cap = job.params["scale"] or dim**-0.5, job.params.get("cap")
    hidden = None
    if job.operation == "window-attention":
        hidden = ~np.tri(seq, kv, kv - seq, dtype=bool) | np.tri(seq, kv, kv - seq - job.axes["window"], dtype=bool)
    elif job.variant not in ("", "masked", "heads-first"):
        hidden = ~np.tri(seq, kv, kv - seq, dtype=bool)

    def run():
        np.copyto(wide[0].reshape(q.shape), q)
        np.copyto(wide[1][:, :, 0], k)
        np.copyto(wide[2][:, :, 0], v)
        np.matmul(wide[0], wide[1].swapaxes(-1, -2), out=scores)
        np.multiply(scores, scale, out=scores)
        if job.variant == "soft-cap":
            np.divide(scores, cap, out=scores)
            np.tanh(scores, out=scores)
            np.multiply(scores, cap, out=scores)
        if job.variant == "masked":
            np.add(scores, tensors[3], out=scores, dtype=dtype)
        if hidden is not None:
            np.copyto(scores, -np.inf, where=hidden)
        top = np.max(scores, axis=-1, keepdims=True)
        if job.variant == "sinks":
            sinks = tensors[3].astype(dtype).reshape(kv_heads, -1, 1, 1)
            np.maximum(top, sinks, out=top)
        is_hopeless = np.isneginf(top)
        np.copyto(top, 0, where=is_hopeless)
        np.subtract(scores, top, out=scores)
        np.exp(scores, out=scores)
        total = np.sum(scores, axis=-1, keepdims=True)
        if job.variant == "sinks":
            total += np.exp(sinks - top)
        np.copyto(total, 1, where=is_hopeless)
        np.matmul(scores, wide[2], out=result)
        np.divide(result, total, out=result)
        np.copyto(y, result.reshape(y.shape), casting="same_kind")

    return run
