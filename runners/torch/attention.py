"""Attention."""

from __future__ import annotations

from functools import lru_cache, partial

import torch
from offers import offer
from torch.nn import functional


@lru_cache(maxsize=8)
def lower_right(seq: int, kv: int, window: int, device: torch.device) -> torch.Tensor:
    """What each of the last queries sees of more keys: `is_causal` counts from the first."""
    return torch.ones(seq, kv, dtype=torch.bool, device=device).tril(kv - seq).triu(kv - seq - window + 1)


def attention(q, k, v, mask=None, *, scale, causal=False, heads_first=False, window=0):
    """torch.nn.functional.scaled_dot_product_attention."""
    if not heads_first:
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    seq, kv = q.shape[2], k.shape[2]
    is_plain = seq == kv and (not window or window >= kv)
    if causal and not is_plain:
        mask = lower_right(seq, kv, window or kv, q.device)
    y = functional.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=mask,
        is_causal=causal and is_plain,
        scale=scale or None,
        enable_gqa=q.shape[1] != k.shape[1],
    )
    return y if heads_first else y.transpose(1, 2)


def steps(q, k, v, beside=None, *, scale, cap=0.0, causal=False, heads_first=False, sinks=False, window=0):
    """Product, scale, mask, softmax, product."""
    if not heads_first:
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    batch, heads, seq, dim = q.shape
    kv_heads, kv = k.shape[1:3]
    k, v = (x[:, :, None] for x in (k, v))
    scores = q.reshape(batch, kv_heads, -1, seq, dim) @ k.mT * (scale or dim**-0.5)
    if cap:
        scores = torch.tanh(scores / cap) * cap
    if causal:
        scores = scores.masked_fill(~lower_right(seq, kv, window or kv, q.device), -torch.inf)
    if sinks:
        sink = beside.reshape(1, kv_heads, -1, 1, 1).expand(*scores.shape[:-1], 1)
        p = torch.softmax(torch.cat((scores, sink), -1), -1)[..., :-1]
    elif beside is not None:
        scores = scores + beside
        p = torch.softmax(scores, -1).masked_fill(torch.isneginf(scores).all(-1, keepdim=True), 0)
    else:
        p = torch.softmax(scores, -1)
    y = (p @ v).reshape(batch, heads, seq, dim)
    return y if heads_first else y.transpose(1, 2)


# Kernels for 16 bits round probabilities to as many.
EAGER = ["f64", "f32", "bf16+p16", "f16+p16"]
for form, how in {
    "attention attention.masked": {},
    "attention.causal": {"causal": True},
    "attention.heads-first": {"heads_first": True},
    "attention.heads-first-causal": {"causal": True, "heads_first": True},
}.items():
    offer(form, partial(attention, **how), eager=EAGER, formula=partial(steps, **how), params=["scale"])
offer(
    "window-attention",
    partial(attention, causal=True),
    eager=EAGER,
    formula=partial(steps, causal=True),
    params=["scale"],
    sizes=["window"],
)
offer("attention.sinks", partial(steps, causal=True, sinks=True), eager=[], params=["scale"])
offer("window-attention.sinks", partial(steps, causal=True, sinks=True), eager=[], params=["scale"], sizes=["window"])
offer("window-attention.soft-cap", partial(steps, causal=True), eager=[], params=["scale", "cap"], sizes=["window"])
offer("attention.soft-cap", partial(steps, causal=True), eager=[], params=["scale", "cap"])
