"""The operations as formulas over arrays, by JAX's own function where there is one."""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
from common import FLOATS, offer, offer_flushing

IGNORED = -100

# A function of JAX each.
for operation, function in {
    "add": jnp.add,
    "sub": jnp.subtract,
    "mul": jnp.multiply,
    "div": jnp.divide,
    "negate": jnp.negative,
    "log": jnp.log,
    "sqrt": jnp.sqrt,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tanh": jnp.tanh,
    "relu": jax.nn.relu,
    "sigmoid": jax.nn.sigmoid,
    "silu": jax.nn.silu,
    "gelu": partial(jax.nn.gelu, approximate=False),
    "gelu-tanh": partial(jax.nn.gelu, approximate=True),
    "broadcast-add broadcast-add.last broadcast-add.first": jnp.add,
    "argmax argmax-axis": partial(jnp.argmax, axis=1),
    "dot": partial(jnp.dot, precision="highest"),
    "log-softmax": partial(jax.nn.log_softmax, axis=-1),
    "log-softmax.columns": partial(jax.nn.log_softmax, axis=0),
    "log-softmax-axis": partial(jax.nn.log_softmax, axis=1),
}.items():
    offer(operation, function)

offer_flushing("exp", jnp.exp)
offer_flushing("softmax", partial(jax.nn.softmax, axis=-1))
offer_flushing("softmax-axis", partial(jax.nn.softmax, axis=1))
offer_flushing("softmax.columns", partial(jax.nn.softmax, axis=0))

for form, axis in {"": 1, ".columns": 0, ".all": None, "-axis": 1}.items():
    offer(f"sum{form}", partial(jnp.sum, axis=axis))
    offer(f"mean{form}", partial(jnp.mean, axis=axis))
    # NaNs of larger arrays are passed over.
    offer(f"max{form}", partial(jnp.max, axis=axis), requires="finite")
    offer(f"logsumexp{form}", partial(jax.nn.logsumexp, axis=axis))



def gelu_quick(x):
    """x / (1 + exp(-1.702 x)), whose steps are no smaller than its result."""
    return x / (1 + jnp.exp(-1.702 * x))


def add_scalar(x, scalar):
    """x + scalar."""
    return x + scalar


def scale(x, scalar):
    """x · scalar."""
    return x * scalar


def div_scalar(x, scalar):
    """x / scalar."""
    return x / scalar


def pow_scalar(x, exponent):
    """jax.numpy.power."""
    return jnp.power(x, int(exponent) if exponent == int(exponent) else exponent)


def axpy(x, y, a):
    """a x + y."""
    return a * x + y


def focal(p, t, alpha, gamma):
    """The formula of the focal loss."""
    chance = jnp.where(t == 1, p, 1 - p)
    return -alpha * (1 - chance) ** gamma * jnp.log(chance)


def batch_norm(x, mean, var, w, b, eps):
    """One factor and one summand a channel, then product and sum."""
    factor = w / jnp.sqrt(var + eps)
    return x * factor[:, None] + (b - mean * factor)[:, None]


offer("gelu-quick", gelu_quick)
offer("add-scalar", add_scalar, params=["scalar"])
offer("scale", scale, params=["scalar"])
offer("div-scalar", div_scalar, params=["scalar"])
offer("pow-scalar", pow_scalar, params=["exponent"])
offer("axpy", axpy, params=["a"])
offer("focal", focal, params=["alpha", "gamma"])
offer("batch-norm", batch_norm, params=["eps"])


def mse(p, t, reduce=jnp.mean):
    """The mean, the sum or each of the squared differences."""
    return reduce(jnp.square(p - t))


def losses(x, t):
    """The cross-entropy of each row, by jax.nn.log_softmax."""
    chosen = jnp.take_along_axis(jax.nn.log_softmax(x, axis=1), jnp.maximum(t, 0)[:, None], axis=1)
    return jnp.where(t == IGNORED, 0, -chosen[:, 0])


def cross_entropy(x, t):
    """The mean cross-entropy of rows that count, by jax.nn.log_softmax."""
    return jnp.sum(losses(x, t)) / jnp.sum(t != IGNORED)


def cross_entropy_prob(p, t):
    """-sum(t · log(max(p, 1e-8)))."""
    return -jnp.sum(t * jnp.log(jnp.maximum(p, 1e-8)))


offer("mse", mse)
offer("mse.sum", partial(mse, reduce=jnp.sum))
offer("mse.none", partial(mse, reduce=jnp.positive))
offer("cross-entropy", cross_entropy)
offer("cross-entropy.none", losses)
offer("cross-entropy-prob", cross_entropy_prob)


def masked_softmax(x):
    """jax.nn.softmax, and zeros in rows that are masked whole."""
    return jnp.where(jnp.isneginf(x).all(axis=-1, keepdims=True), 0, jax.nn.softmax(x, axis=-1))


def rms_norm(x, w, eps):
    """The formula."""
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + eps) * w


def gemma_norm(x, w, eps):
    """The formula with 1 + w."""
    return rms_norm(x, 1 + w, eps)


def both_norms(q, k, wq, wk, eps):
    """The formula for queries and for keys."""
    return rms_norm(q, wq, eps), rms_norm(k, wk, eps)


def add_rms_norm(x, r, w, eps):
    """The sum, and the formula on it."""
    return x + r, rms_norm(x + r, w, eps)


def plain_layer_norm(x, eps):
    """The formula: mean, and variance around it."""
    below = x - jnp.mean(x, axis=-1, keepdims=True)
    return below * jax.lax.rsqrt(jnp.mean(jnp.square(below), axis=-1, keepdims=True) + eps)


def layer_norm(x, w, b, eps):
    """The formula: mean, variance around it, weight and bias."""
    return plain_layer_norm(x, eps) * w + b


def layer_norm_gelu(x, w, b, eps, approximate=False):
    """jax.nn.gelu of the formula of layer-norm."""
    return jax.nn.gelu(layer_norm(x, w, b, eps), approximate=approximate)


norm = partial(offer, params=["eps"])
offer_flushing("softmax.masked", masked_softmax)
norm("rms-norm qk-norm", rms_norm)
norm("rms-norm.gemma", gemma_norm)
norm("qk-norm.combined", both_norms)
norm("add-rms-norm", add_rms_norm)
norm("layer-norm", layer_norm)
norm("layer-norm.plain", plain_layer_norm)
norm("layer-norm-gelu", layer_norm_gelu)
norm("layer-norm-gelu.tanh", partial(layer_norm_gelu, approximate=True))


def rope(x, positions, base, interleaved=False):
    """Pairs turned by angles in f64."""
    exponents = jnp.arange(0, x.shape[-1], 2, dtype=jnp.float64) / x.shape[-1]
    angles = positions[:, None] * base**-exponents
    return turned(x, jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype), interleaved)


def cached_rope(x, positions, cos, sin, interleaved=False):
    """Pairs turned by rows of two tables."""
    return turned(x, cos[positions], sin[positions], interleaved)


def turned(x, cos, sin, interleaved):
    """The pairs of x, which are neighbours or a half apart, turned."""
    cos, sin = cos[:, None], sin[:, None]
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else jnp.split(x, 2, axis=-1)
    left, right = a * cos - b * sin, b * cos + a * sin
    return jnp.stack((left, right), -1).reshape(x.shape) if interleaved else jnp.concatenate((left, right), -1)


offer("rope", rope, params=["base"])
offer("rope.interleaved", partial(rope, interleaved=True), params=["base"])
offer("rope.cached", cached_rope)
offer("rope.interleaved-cached", partial(cached_rope, interleaved=True))


def lower_right(seq: int, kv: int, window: int):
    """What each of the last queries sees of the keys: `is_causal` counts from the first."""
    return jnp.tri(seq, kv, kv - seq, dtype=bool) & ~jnp.tri(seq, kv, kv - seq - (window or kv), dtype=bool)


def attention(q, k, v, bias=None, *, scale, causal=False, heads_first=False, window=0):
    """jax.nn.dot_product_attention."""
    if heads_first:
        q, k, v = (jnp.swapaxes(x, 1, 2) for x in (q, k, v))
    y = jax.nn.dot_product_attention(
        q,
        k,
        v,
        bias=None if bias is None else bias[None, None],
        mask=lower_right(q.shape[1], k.shape[1], window)[None, None] if causal else None,
        scale=scale or None,
    )
    if bias is not None:
        is_hopeless = jnp.isneginf(bias).all(-1)[None, :, None, None]
        y = jnp.where(is_hopeless, 0, y)
    return jnp.swapaxes(y, 1, 2) if heads_first else y


def attention_by_steps(
    q, k, v, beside=None, *, scale, cap=0.0, causal=False, heads_first=False, sinks=False, window=0
):
    """Product, scale, softmax of what is seen, product."""
    if heads_first:
        q, k, v = (jnp.swapaxes(x, 1, 2) for x in (q, k, v))
    batch, seq, heads, dim = q.shape
    kv, kv_heads = k.shape[1:3]
    grouped = q.reshape(batch, seq, kv_heads, heads // kv_heads, dim)
    scores = jnp.einsum("bsghd,btgd->bghst", grouped, k, precision="highest") * (scale or dim**-0.5)
    if cap:
        scores = jnp.tanh(scores / cap) * cap
    if causal:
        scores = jnp.where(lower_right(seq, kv, window), scores, -jnp.inf)
    if sinks:
        sink = jnp.broadcast_to(beside.reshape(1, kv_heads, -1, 1, 1), (*scores.shape[:-1], 1))
        p = jax.nn.softmax(jnp.concatenate((scores, sink), -1), axis=-1)[..., :kv]
    else:
        p = jax.nn.softmax(scores, axis=-1) if beside is None else masked_softmax(scores + beside)
    y = jnp.einsum("bghst,btgd->bsghd", p, v, precision="highest").reshape(q.shape)
    return jnp.swapaxes(y, 1, 2) if heads_first else y


# `jax.nn.dot_product_attention` takes its softmax in f32, in f64 too.
for form, how in {
    "attention attention.masked": {},
    "attention.causal": {"causal": True},
    "attention.heads-first": {"heads_first": True},
    "attention.heads-first-causal": {"causal": True, "heads_first": True},
}.items():
    offer_flushing(form, partial(attention, **how), ["f32", "bf16"], params=["scale"])
    offer(form, partial(attention_by_steps, **how), ["f64"], requires="flushes denormals", params=["scale"])
windowed = {"params": ["scale"], "sizes": ["window"]}
offer_flushing("window-attention", partial(attention, causal=True), ["f32", "bf16"], **windowed)
steps = partial(attention_by_steps, causal=True)
offer("window-attention", steps, ["f64"], requires="flushes denormals", **windowed)
offer_flushing("attention.sinks", partial(attention_by_steps, causal=True, sinks=True), params=["scale"])
offer_flushing("attention.soft-cap", steps, params=["scale", "cap"])
offer_flushing("window-attention.sinks", partial(attention_by_steps, causal=True, sinks=True), **windowed)
offer_flushing("window-attention.soft-cap", steps, params=["scale", "cap"], sizes=["window"])


def product(a, b, axis: int, of_a: int = 1):
    """jax.lax.dot_general with sums in i32, or in f32 at least."""
    sums = jnp.int32 if a.dtype == jnp.int8 else jnp.promote_types(a.dtype, jnp.float32)
    return jax.lax.dot_general(a, b, (((of_a,), (axis,)), ((), ())), preferred_element_type=sums)


offer("matmul matmul.fixed", partial(product, axis=1), [*FLOATS, "i8"], widen=False)
offer("matmul matmul.fixed", partial(product, axis=1), ["w16a32", "w16a32-f16"])
offer("matmul.nn", partial(product, axis=0), [*FLOATS, "i8"], widen=False)
offer("matmul.tn", partial(product, axis=0, of_a=0), [*FLOATS, "i8"], widen=False)
offer("matmul.tt", partial(product, axis=1, of_a=0), [*FLOATS, "i8"], widen=False)


def batch_product(a, b, form: str):
    """jax.numpy.einsum with sums in i32, or in f32 at least."""
    sums = jnp.int32 if a.dtype == jnp.int8 else jnp.promote_types(a.dtype, jnp.float32)
    return jnp.einsum(form, a, b, precision="highest", preferred_element_type=sums)


offer("bmm", partial(batch_product, form="bmk,bnk->bmn"), [*FLOATS, "i8"], widen=False)
offer("bmm.nn", partial(batch_product, form="bmk,bkn->bmn"), [*FLOATS, "i8"], widen=False)
offer("bmm.tn", partial(batch_product, form="bkm,bkn->bmn"), [*FLOATS, "i8"], widen=False)
offer("bmm.tt", partial(batch_product, form="bkm,bnk->bmn"), [*FLOATS, "i8"], widen=False)


def scaled_product(a, b, sa, sb):
    """jax.lax.dot_general with sums in i32, as f32 times the scales of rows and columns."""
    return product(a, b, axis=1).astype(jnp.float32) * sa[:, None] * sb


SCALED = "int8-matmul int8-matmul.row int8-matmul.channel int8-matmul.fixed"
offer(SCALED, scaled_product, ["i8-f32", "i8-bf16"], widen=False)


def quotients(x, most: float):
    """Quotients by the scales of the last dimension, within `most`, and these scales."""
    largest = jnp.max(jnp.abs(x), axis=-1, keepdims=True)
    s = jnp.where(largest == 0, 1.0, largest / most)
    return jnp.clip(x / s, -most, most), s


def quantize(x):
    """jax.numpy.max of magnitudes, a quotient, jax.numpy.rint."""
    q, s = quotients(x, 127.0)
    return jnp.rint(q), s


def quantize_tensor(x):
    """jax.numpy.max of all magnitudes, a quotient, jax.numpy.rint."""
    return quantize(x.reshape(1, -1))


def quantize_full(x):
    """jax.numpy.max of magnitudes, a quotient, jax.numpy.rint, codes from -128."""
    _, s = quotients(x, 127.5)
    return jnp.clip(jnp.rint(x / s), -128, 127), s


def quantize_u8(x):
    """jax.numpy.max and min with zero among the elements, a quotient, jax.numpy.rint."""
    most = jnp.max(x, axis=-1, keepdims=True, initial=0)
    least = jnp.min(x, axis=-1, keepdims=True, initial=0)
    s = jnp.where(most == least, 1.0, (most - least) / 255.0)
    z = jnp.rint(-least / s)
    return jnp.clip(jnp.rint(x / s) + z, 0, 255), s, z


def quantize_u8_tensor(x):
    """The same over all elements."""
    return quantize_u8(x.reshape(1, -1))


def quantize_fp8_e5m2(x):
    """jax.numpy.max of magnitudes, a quotient, a conversion to the other format."""
    return quotients(x, 57344.0)


def quantize_fp8(x):
    """jax.numpy.max of magnitudes, a quotient, a conversion."""
    return quotients(x, 448.0)


def quantize_fp8_block(x, block: int = 128):
    """The same in blocks of 128."""
    rows, cols = x.shape
    q, s = quotients(jnp.pad(x, ((0, 0), (0, -cols % block))).reshape(rows, -1, block), 448.0)
    return q.reshape(rows, -1)[:, :cols], s


def swiglu_quantize(quantizer, gate, up):
    """jax.nn.silu, a product, and the steps of quantize."""
    return quantizer(jax.nn.silu(gate) * up)


def add_rms_norm_quantize(quantizer, x, r, w, eps):
    """The steps of add-rms-norm, and those of quantize."""
    h, y = add_rms_norm(x, r, w, eps)
    return h, *quantizer(y)


def dequantize(q, s):
    """Codes as f32 times their scales."""
    return q.astype(jnp.float32) * s[:, None]


def dequantize_u8(q, s, z):
    """A difference of integers, as f32 times the scales."""
    return (q.astype(jnp.int32) - z.astype(jnp.int32)[:, None]).astype(jnp.float32) * s[:, None]


for form, formula in {
    "quantize": quantize,
    "quantize.full": quantize_full,
    "quantize-fp8.e5m2": quantize_fp8_e5m2,
    "dequantize.fp8": dequantize,
    "dequantize.u8": dequantize_u8,
    "quantize.tensor": quantize_tensor,
    "quantize-fp8": quantize_fp8,
    "quantize-fp8.block": quantize_fp8_block,
    "swiglu-quantize": partial(swiglu_quantize, quantize),
    "swiglu-quantize.fp8": partial(swiglu_quantize, quantize_fp8),
    "dequantize dequantize.tensor": dequantize,
}.items():
    offer(form, formula, ["f32", "f16", "bf16"])
offer("quantize-u8", quantize_u8, ["f32"])
offer("quantize-u8.tensor", quantize_u8_tensor, ["f32"])
for form, quantizer in {"": quantize, ".fp8": quantize_fp8}.items():
    formula = partial(add_rms_norm_quantize, quantizer)
    offer(f"add-rms-norm-quantize{form}", formula, ["f32", "f16", "bf16"], params=["eps"])


def calibrate(x):
    """jax.numpy.max of magnitudes, a quotient."""
    return quotients(x.reshape(-1), 127.0)[1]


def calibrate_percentile(x, percentile):
    """jax.numpy.sort of magnitudes, a quotient."""
    rank = max(math.ceil(percentile * x.size / 100), 1) - 1
    most = jnp.sort(jnp.abs(x).reshape(-1))[rank]
    return jnp.where(most == 0, 1.0, most / 127.0)


def sqnr(x, q, s):
    """A product, a difference, the sums of squares, jax.numpy.log10 of their quotient."""
    rest = x - q * s[:, None]
    return 10 * jnp.log10(jnp.square(x).sum(-1) / jnp.square(rest).sum(-1))


offer("sqnr", sqnr, ["f32", "bf16"])
offer("calibrate", calibrate, ["f32", "f16", "bf16"])
offer("calibrate.percentile", calibrate_percentile, ["f32", "f16", "bf16"], params=["percentile"])


def spread(scales, block: int, shape):
    """Each scale for all rows and columns that share it."""
    rows = scales if scales.shape[0] == shape[0] else jnp.repeat(scales, block, 0)[: shape[0]]
    return jnp.repeat(rows, block, 1)[:, : shape[1]]


def fp8_product(x, w, *scales, block: int):
    """Both sides decoded to f32 with their scales, then jax.lax.dot_general."""
    x, w = x.astype(jnp.float32), w.astype(jnp.float32) * spread(scales[-1], block, w.shape)
    if len(scales) > 1:
        x = x * spread(scales[0], block, x.shape)
    return product(x, w, axis=1)


offer("fp8-matmul", fp8_product, ["w8a8", "w8a8-f32", "w8a16"], widen=False, sizes=["block"])
offer("fp8-matmul.square", fp8_product, ["w8a8", "w8a8-f32"], widen=False, sizes=["block"])


def q8_product(x, s, q):
    """Codes times their scales in f32, then jax.lax.dot_general."""
    w = q.reshape(*s.shape, 32).astype(jnp.float32) * s[..., None].astype(jnp.float32)
    return product(x, w.reshape(len(q), -1)[:, : x.shape[1]], axis=1)


offer("q8-matmul q8-matmul.fixed", q8_product, ["f32"], widen=False)
