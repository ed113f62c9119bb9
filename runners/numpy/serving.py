"""What serving a language model takes beside layers: tables, caches, pages and experts. f16 is computed in f32."""

from __future__ import annotations

from functools import partial

import numpy as np
from common import Job, accumulator, offer, scratch, wide
from movement import ANY, arrays


@offer("function", "embedding", ANY)
def embedding(job: Job):
    """numpy.take with `out`."""
    x, t, y = arrays(job)
    return partial(np.take, x, t, axis=0, out=y, mode="clip")


@offer("function", "kv-append", ANY)
def kv_append(job: Job):
    """Assignment to rows by their numbers."""
    k, v, slot, _, _, keys, values = arrays(job)

    def run():
        keys[slot] = k
        values[slot] = v

    return run


@offer("matmul", "grouped-matmul", parallel=True)
def grouped_matmul(job: Job):
    """numpy.matmul for each expert that has rows."""
    a, b, offsets, c = job.arrays()
    dtype = accumulator(c)
    result = wide(job, c)
    wide_a, wide_b = (x if x.dtype == dtype else scratch(job, x.shape, dtype) for x in (a, b))

    def run():
        for narrow, own in ((a, wide_a), (b, wide_b)):
            if own is not narrow:
                np.copyto(own, narrow)
        ends = offsets.tolist()
        for expert, (first, end) in enumerate(zip(ends, ends[1:])):
            if first < end:
                np.matmul(wide_a[first:end], wide_b[expert].T, out=result[first:end])
        if result is not c:
            np.copyto(c, result, casting="same_kind")

    return run


@offer("einsum", "moe-combine")
def moe_combine(job: Job):
    """Rows by their numbers, and numpy.einsum."""
    x, w, place, y = job.arrays()
    dtype = accumulator(y)

    def run():
        rows = x[place].astype(dtype, copy=False)
        np.copyto(y, np.einsum("rt,rtc->rc", w.astype(dtype, copy=False), rows), casting="same_kind")

    return run


@offer("matmul", "paged-attention", params=["scale"], parallel=True)
def paged_attention(job: Job):
    """The pages of each sequence by their numbers, numpy.matmul, softmax, numpy.matmul."""
    q, k, v, pages, offsets, last, y = job.arrays()
    dtype, page, dim = accumulator(y), k.shape[1], q.shape[2]
    kv_heads = k.shape[2]
    scale = job.params["scale"] or dim**-0.5

    def run():
        ends, lasts = offsets.tolist(), last.tolist()
        for i, (first, end) in enumerate(zip(ends, ends[1:])):
            if first == end:
                y[i] = 0
                continue
            length = (end - first - 1) * page + lasts[i] + 1
            own = pages[first:end]
            keys, values = (
                x[own].reshape(-1, kv_heads, dim)[:length].astype(dtype, copy=False).transpose(1, 0, 2)
                for x in (k, v)
            )
            queries = q[i].astype(dtype, copy=False).reshape(kv_heads, -1, dim)
            scores = queries @ keys.swapaxes(-1, -2) * dtype.type(scale)
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            mean = scores @ values / scores.sum(axis=-1, keepdims=True)
            np.copyto(y[i], mean.reshape(y[i].shape), casting="same_kind")

    return run


@offer("partition", "moe-route")
def moe_route(job: Job):
    """numpy.argpartition, numpy.argsort of what it chose, and a softmax of that."""
    x, w, at = job.arrays()
    top, dtype = w.shape[1], accumulator(w)

    def run():
        chosen = np.argpartition(x, -top, axis=1)[:, -top:]
        found = np.take_along_axis(x, chosen, 1)
        order = np.argsort(found, axis=1)[:, ::-1]
        np.copyto(at, np.take_along_axis(chosen, order, 1), casting="same_kind")
        powers = np.take_along_axis(found, order, 1).astype(dtype)
        np.exp(np.subtract(powers, powers[:, :1], out=powers), out=powers)
        np.copyto(w, powers / powers.sum(axis=1, keepdims=True), casting="same_kind")

    return run


@offer("argsort", "moe-permute")
def moe_permute(job: Job):
    """numpy.argsort that is stable, rows by their numbers, numpy.bincount and numpy.cumsum."""
    x, at, y, order, offsets = job.arrays()
    top, experts = at.shape[1], offsets.size - 1

    def run():
        found = np.argsort(at.reshape(-1), kind="stable")
        np.copyto(order, found, casting="same_kind")
        np.take(x, found // top, axis=0, out=y)
        offsets[0] = 0
        np.cumsum(np.bincount(at.reshape(-1), minlength=experts), out=offsets[1:])

    return run


@offer("partition", "top-k")
def top_k(job: Job):
    """numpy.argpartition, and numpy.argsort of what it chose."""
    x, y, at = job.arrays()
    top = y.shape[1]

    def run():
        chosen = np.argpartition(x, -top, axis=1)[:, -top:]
        found = np.take_along_axis(x, chosen, 1)
        order = np.argsort(found, axis=1)[:, ::-1]
        np.copyto(at, np.take_along_axis(chosen, order, 1), casting="same_kind")
        np.copyto(y, np.take_along_axis(found, order, 1))

    return run


@offer("matmul", "varlen-attention varlen-attention.causal", params=["scale"], parallel=True)
def varlen_attention(job: Job):
    """numpy.matmul, softmax, numpy.matmul for each sequence."""
    q, k, v, offsets, y = job.arrays()
    dtype, dim, kv_heads = accumulator(y), q.shape[2], k.shape[1]
    scale = job.params["scale"] or dim**-0.5

    def run():
        ends = offsets.tolist()
        for own in (slice(first, end) for first, end in zip(ends, ends[1:]) if first < end):
            queries, keys, values = (
                x[own].astype(dtype, copy=False).reshape(-1, kv_heads, x.shape[1] // kv_heads, dim).transpose(1, 2, 0, 3)
                for x in (q, k, v)
            )
            scores = queries @ keys.swapaxes(-1, -2) * dtype.type(scale)
            if job.variant == "causal":
                np.copyto(scores, -np.inf, where=~np.tri(*scores.shape[-2:], dtype=bool))
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            mean = scores @ values / scores.sum(axis=-1, keepdims=True)
            np.copyto(y[own], mean.transpose(2, 0, 1, 3).reshape(y[own].shape), casting="same_kind")

    return run


@offer("sort", "top-p", params=["p", "temperature"])
@offer("sort", "top-p.k", params=["p", "temperature", "k"])
def top_p(job: Job):
    """numpy.argsort, numpy.cumsum of exponentials, and numpy.argmax of where these pass the lot."""
    x, u, at = job.arrays()
    dtype, p, temperature = accumulator(x), job.params["p"], job.params["temperature"]
    most = min(int(job.params["k"]), x.shape[1]) if job.variant == "k" else x.shape[1]

    def run():
        order = np.argsort(-x, axis=1, kind="stable")[:, :most]
        scaled = np.take_along_axis(x, order, 1).astype(dtype) / dtype.type(temperature)
        sums = np.cumsum(np.exp(scaled - scaled[:, :1]), axis=1, dtype=np.float64)
        sums /= sums[:, -1:]
        # The first that reaches p, and what it reaches; rounding may leave the last below 1.
        reaching = np.argmax(sums >= min(p, 1 - 1e-9), axis=1)[:, None]
        target = u[:, None] * np.take_along_axis(sums, reaching, 1)
        passing = np.argmax(sums > target, axis=1)[:, None]
        passing = np.where(sums[:, -1:] > target, passing, reaching)
        np.copyto(at, np.take_along_axis(order, np.minimum(passing, reaching), 1)[:, 0], casting="same_kind")

    return run
