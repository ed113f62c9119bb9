"""What serving a language model takes beside layers: tables, caches, pages and experts."""

from __future__ import annotations

import torch
from common import FLOATS, WIDE, runner, tensors
from movement import offer as offer_movement
from offers import offer
from torch.nn import functional


def embedding(x, t, out):
    """torch.index_select with `out`."""
    torch.index_select(x, 0, t, out=out)


offer_movement("embedding", embedding)


@runner.implementation("torch/eager", operation="kv-append", dtypes=FLOATS, parallel=True)
def kv_append(job):
    """Tensor.index_copy_ of keys and of values."""
    k, v, slot, _, _, keys, values = tensors(job)

    def run():
        # It takes numbers of 64 bits.
        numbers = slot.long()
        keys.index_copy_(0, numbers, k)
        values.index_copy_(0, numbers, v)

    return run


@runner.implementation("torch/eager", operation="grouped-matmul", dtypes=["f64", "f32", "f16"], parallel=True)
def grouped_matmul(job):
    """torch.mm with `out` for each expert that has rows."""
    a, b, offsets, c = tensors(job)

    def run():
        ends = offsets.tolist()
        for expert, (first, end) in enumerate(zip(ends, ends[1:])):
            if first < end:
                torch.mm(a[first:end], b[expert].t(), out=c[first:end])

    return run


def moe_combine(x, w, place):
    """Rows by their numbers, times their weights, added up by torch.bmm."""
    return torch.bmm(w[:, None], x[place.long()])[:, 0]


offer("moe-combine", moe_combine, eager=["f64", "f32"])


@runner.implementation(
    "torch/eager", operation="paged-attention", dtypes=["f64", "f32", "bf16+p16", "f16+p16"], params=["scale"], parallel=True
)
def paged_attention(job):
    """torch.nn.functional.scaled_dot_product_attention of each sequence, its pages by their numbers."""
    q, k, v, pages, offsets, last, y = tensors(job)
    (page, kv_heads, dim), heads = k.shape[1:], q.shape[1]
    scale = job.params["scale"] or None

    def run():
        ends, lasts = offsets.tolist(), last.tolist()
        for i, (first, end) in enumerate(zip(ends, ends[1:])):
            if first == end:
                y[i] = 0
                continue
            length = (end - first - 1) * page + lasts[i] + 1
            own = pages[first:end]
            keys, values = (x[own].view(-1, kv_heads, dim)[:length].transpose(0, 1)[None] for x in (k, v))
            mean = functional.scaled_dot_product_attention(
                q[i][None, :, None], keys, values, scale=scale, enable_gqa=heads != kv_heads
            )
            y[i] = mean[0, :, 0]

    return run


@runner.implementation("torch/eager", operation="moe-route", dtypes=["f64", "f32"], parallel=True)
def moe_route(job):
    """torch.softmax, torch.topk, and a quotient by the sum; numbers of 64 bits as i32."""
    x, w, at = tensors(job)

    def run():
        shares, places = torch.topk(torch.softmax(x, -1), w.shape[1])
        torch.div(shares, shares.sum(-1, keepdim=True), out=w)
        at.copy_(places)

    return run


@runner.implementation("torch/eager", operation="moe-permute", dtypes=FLOATS, parallel=True)
def moe_permute(job):
    """torch.sort that is stable, torch.index_select, torch.bincount and torch.cumsum."""
    x, at, y, order, offsets = tensors(job)
    top, experts = at.shape[1], offsets.shape[0] - 1

    def run():
        found = at.flatten().sort(stable=True).indices
        order.copy_(found)
        torch.index_select(x, 0, found // top, out=y)
        offsets[0] = 0
        torch.cumsum(torch.bincount(at.flatten(), minlength=experts), 0, dtype=torch.int32, out=offsets[1:])

    return run


@runner.implementation("torch/eager", operation="top-k", dtypes=FLOATS, parallel=True)
def top_k(job):
    """torch.topk with `out`, its numbers of 64 bits as i32."""
    x, y, at = tensors(job)
    places = torch.empty(at.shape, dtype=torch.int64, device=x.device)
    job.workspace_bytes += places.numel() * places.element_size()

    def run():
        torch.topk(x, y.shape[1], out=(y, places))
        at.copy_(places)

    return run


@runner.implementation(
    "torch/eager",
    operation="varlen-attention",
    dtypes=["f64", "f32", "bf16+p16", "f16+p16"],
    params=["scale"],
    parallel=True,
)
@runner.implementation(
    "torch/eager",
    operation="varlen-attention.causal",
    dtypes=["f64", "f32", "bf16+p16", "f16+p16"],
    params=["scale"],
    parallel=True,
)
def varlen_attention(job):
    """torch.nn.functional.scaled_dot_product_attention of each sequence."""
    q, k, v, offsets, y = tensors(job)
    grouped = q.shape[1] != k.shape[1]
    scale = job.params["scale"] or None

    def run():
        ends = offsets.tolist()
        for first, end in zip(ends, ends[1:]):
            if first < end:
                own = (x[first:end].transpose(0, 1)[None] for x in (q, k, v))
                mean = functional.scaled_dot_product_attention(
                    *own, is_causal=job.variant == "causal", scale=scale, enable_gqa=grouped
                )
                y[first:end] = mean[0].transpose(0, 1)

    return run


def top_p(x, u, p, temperature, k=0.0):
    """torch.sort, torch.softmax, torch.cumsum and torch.searchsorted."""
    falling, order = x.sort(-1, descending=True)
    if k:
        falling, order = falling[:, : int(k)], order[:, : int(k)]
    sums = torch.softmax(falling / temperature, -1).cumsum(-1)
    last = torch.searchsorted(sums, torch.full_like(sums[:, :1], p)).clamp(max=sums.shape[1] - 1)
    place = torch.searchsorted(sums, u[:, None].to(sums.dtype) * sums.gather(1, last), right=True)
    return order.gather(1, place.minimum(last))[:, 0].int()


offer("top-p", top_p, eager=WIDE, params=["p", "temperature"])
offer("top-p.k", top_p, eager=WIDE, params=["p", "temperature", "k"])
