"""Reductions, losses, softmaxes, norms and rotary positions."""

from __future__ import annotations

from functools import partial

import torch
from common import WIDE
from offers import offer
from torch.nn import functional

AXES = {"": 1, ".columns": 0, ".all": (0, 1), "-axis": 1}

for form, axis in AXES.items():
    whole = form == ".all"
    offer(f"sum{form}", partial(torch.sum, dim=axis), out=True, scalar=whole)
    offer(f"mean{form}", partial(torch.mean, dim=axis), out=True, scalar=whole)
    offer(f"max{form}", partial(torch.amax, dim=axis), out=True, scalar=whole)
    offer(f"logsumexp{form}", partial(torch.logsumexp, dim=axis), eager=WIDE, out=True, scalar=whole)

offer("softmax", partial(torch.softmax, dim=-1), out=True)
offer("softmax-axis", partial(torch.softmax, dim=1), eager=WIDE, out=True)
offer("softmax.columns", partial(torch.softmax, dim=0), eager=WIDE, out=True)
offer("log-softmax", partial(torch.log_softmax, dim=-1), eager=WIDE, out=True)
offer("log-softmax.columns", partial(torch.log_softmax, dim=0), out=True)
offer("log-softmax-axis", partial(torch.log_softmax, dim=1), eager=WIDE, out=True)


def argmax(x, out=None):
    """torch.argmax, whose indices of 64 bits are copied."""
    found = torch.argmax(x, 1)
    return found if out is None else out.copy_(found)


def dot(x, y, out=None):
    """torch.dot."""
    return torch.dot(x, y, out=out)


def mse(p, t, reduction="mean"):
    """torch.nn.functional.mse_loss."""
    return functional.mse_loss(p, t, reduction=reduction)


def cross_entropy(x, t, reduction="mean"):
    """torch.nn.functional.cross_entropy with targets of 64 bits."""
    return functional.cross_entropy(x, t.long(), reduction=reduction, ignore_index=-100)


def cross_entropy_prob(p, t):
    """-sum(t · log(max(p, 1e-8)))."""
    return -(t * torch.log(torch.clamp_min(p, 1e-8))).sum()


offer("argmax argmax-axis", argmax, out=True)
offer("dot", dot, out=True, scalar=True)
offer("mse", mse, eager=WIDE)
offer("mse.sum", partial(mse, reduction="sum"), eager=WIDE)
each = partial(torch.ops.aten.mse_loss.out, reduction=0)  # The first of the ways, which is none.
offer("mse.none", partial(mse, reduction="none"), eager=WIDE, out=each)
offer("cross-entropy", cross_entropy, eager=WIDE)
offer("cross-entropy.none", partial(cross_entropy, reduction="none"), eager=WIDE)
offer("cross-entropy-prob", cross_entropy_prob, eager=[])


def masked_softmax(x):
    """torch.softmax, and zeros in rows that are masked whole."""
    is_masked = torch.isneginf(x).all(-1, keepdim=True)
    return torch.softmax(x, -1).masked_fill(is_masked, 0)


def rms_norm(x, w, eps):
    """torch.nn.functional.rms_norm."""
    return functional.rms_norm(x, w.shape, w, eps)


def normalise(x, w, eps):
    """x / sqrt(mean(x²) + eps) · w."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * w


def with_one_more(norm, x, w, eps):
    """The norm with 1 + w, as Gemma has it."""
    return norm(x, 1 + w, eps)


def both(norm, q, k, wq, wk, eps):
    """The norm of queries and of keys."""
    return norm(q, wq, eps), norm(k, wk, eps)


def of_the_sum(norm, x, r, w, eps):
    """The sum, and its norm."""
    h = x + r
    return h, norm(h, w, eps)


def layer_norm(x, w, b, eps):
    """torch.nn.functional.layer_norm."""
    return functional.layer_norm(x, w.shape, w, b, eps)


def plain_layer_norm(x, eps):
    """torch.nn.functional.layer_norm without weights."""
    return functional.layer_norm(x, x.shape[-1:], eps=eps)


def layer_norm_gelu(x, w, b, eps, approximate="none"):
    """torch.nn.functional.gelu of layer_norm."""
    return functional.gelu(layer_norm(x, w, b, eps), approximate=approximate)


offer("softmax.masked", masked_softmax, eager=[])
# On a GPU `rms_norm` gives NaN where 0 is due.
norm = partial(offer, eager=WIDE, devices=["cpu"], params=["eps"])
norm("rms-norm qk-norm", rms_norm, formula=normalise)
norm("rms-norm.gemma", partial(with_one_more, rms_norm), formula=partial(with_one_more, normalise))
norm("qk-norm.combined", partial(both, rms_norm), formula=partial(both, normalise))
norm("add-rms-norm", partial(of_the_sum, rms_norm), formula=partial(of_the_sum, normalise))
offer("layer-norm", layer_norm, params=["eps"])
offer("layer-norm.plain", plain_layer_norm, params=["eps"])
offer("layer-norm-gelu", layer_norm_gelu, eager=WIDE, params=["eps"], requires="finite")
offer("layer-norm-gelu.tanh", partial(layer_norm_gelu, approximate="tanh"), eager=WIDE, params=["eps"])


def rope(x, positions, base, interleaved=False):
    """Pairs turned by angles in f64."""
    exponents = torch.arange(0, x.shape[-1], 2, device=x.device, dtype=torch.float64) / x.shape[-1]
    angles = positions[:, None] * base**-exponents
    return turned(x, torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype), interleaved)


def cached_rope(x, positions, cos, sin, interleaved=False):
    """Pairs turned by rows of two tables."""
    return turned(x, cos[positions], sin[positions], interleaved)


def turned(x, cos, sin, interleaved):
    """The pairs of x, which are neighbours or a half apart, turned."""
    cos, sin = cos[:, None], sin[:, None]
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    left, right = a * cos - b * sin, b * cos + a * sin
    return torch.stack((left, right), -1).flatten(-2) if interleaved else torch.cat((left, right), -1)


offer("rope", rope, eager=[], params=["base"])
offer("rope.interleaved", partial(rope, interleaved=True), eager=[], params=["base"])
offer("rope.cached", cached_rope, eager=[])
offer("rope.interleaved-cached", partial(cached_rope, interleaved=True), eager=[])
