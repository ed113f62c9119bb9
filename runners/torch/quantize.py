"""Codes and their scales, step by step and compiled. torch rounds ties to even."""

from __future__ import annotations

import math
from functools import partial

import torch
from common import ANYWHERE, runner
from functions import normalise, of_the_sum
from offers import compiled, named, step_by_step

TYPES = ["f32", "bf16", "f16"]
# Elements that share a scale in the forms of blocks.
BLOCK, FP8_BLOCK = 32, 128


def groups(x, block: int):
    """A row in blocks, what lacks in the last one being zeros."""
    rows, cols = x.shape
    return torch.nn.functional.pad(x, (0, -cols % block)).view(rows, -1, block)


def scales(x, most: float):
    """What takes the largest magnitude of the last dimension to `most`; 1 for zeros."""
    largest = x.abs().amax(-1, keepdim=True)
    return torch.where(largest == 0, 1.0, largest / most)


def codes(x, most: float):
    """Quotients by the scales of the last dimension, within `most`, and these scales."""
    s = scales(x, most)
    return (x / s).clamp(-most, most), s


def quantize(x):
    """amax, a quotient, torch.round and torch.clamp."""
    q, s = codes(x, 127.0)
    return q.round().to(torch.int8), s


def quantize_tensor(x):
    """The same over all elements."""
    return quantize(x.reshape(1, -1))


def quantize_full(x):
    """amax, a quotient, torch.round and torch.clamp from -128."""
    s = scales(x, 127.5)
    return (x / s).round().clamp(-128, 127).to(torch.int8), s


def quantize_u8(x):
    """aminmax with zero among the elements, a quotient, torch.round and torch.clamp."""
    least, most = x.aminmax(dim=-1, keepdim=True)
    least, most = least.clamp(max=0), most.clamp(min=0)
    s = torch.where(most == least, 1.0, (most - least) / 255.0)
    z = (-least / s).round()
    return ((x / s).round() + z).clamp(0, 255).to(torch.uint8), s, z.to(torch.uint8)


def quantize_u8_tensor(x):
    """The same over all elements."""
    return quantize_u8(x.reshape(1, -1))


def quantize_fp8_e5m2(x):
    """amax, a quotient, torch.clamp and a conversion to the other format."""
    q, s = codes(x, 57344.0)
    return q.to(torch.float8_e5m2), s


def quantize_fp8(x):
    """amax, a quotient, torch.clamp and a conversion."""
    q, s = codes(x, 448.0)
    return q.to(torch.float8_e4m3fn), s


def quantize_fp8_block(x):
    """The same in blocks of 128."""
    rows, cols = x.shape
    q, s = quantize_fp8(groups(x, FP8_BLOCK))
    # Seen as bytes, which is all that a copy of what is no multiple needs.
    return q.view(torch.uint8).view(rows, -1)[:, :cols].view(torch.float8_e4m3fn), s


def swiglu_quantize(quantizer, gate, up):
    """torch.nn.functional.silu, torch.mul and the steps of quantize."""
    return quantizer(torch.nn.functional.silu(gate) * up)


def add_rms_norm_quantize(quantizer, x, r, w, eps):
    """The steps of add-rms-norm and those of quantize."""
    h, y = of_the_sum(normalise, x, r, w, eps)
    return h, *quantizer(y)


def dequantize(q, s):
    """torch.mul of codes and scales in f32."""
    return q.float() * s[:, None]


def dequantize_u8(q, s, z):
    """A difference of integers, and torch.mul by scales in f32."""
    return (q.int() - z.int()[:, None]).float() * s[:, None]


def dequantize_block(q, s):
    """The same in blocks of 32."""
    rows, cols = q.shape
    return (groups(q, BLOCK).float() * s[..., None]).view(rows, -1)[:, :cols]


# Of what is padded and cut off again, compiled loops leave the last block unwritten (torch 2.15, on a CPU).
WHOLE_BLOCKS = {"quantize-fp8.block": "cols % 128 == 0", "dequantize.block": "cols % 32 == 0"}

for operation, function in {
    "quantize": quantize,
    "quantize.tensor": quantize_tensor,
    "quantize.full": quantize_full,
    "quantize-u8": quantize_u8,
    "quantize-u8.tensor": quantize_u8_tensor,
    "quantize-fp8": quantize_fp8,
    "quantize-fp8.block": quantize_fp8_block,
    "quantize-fp8.e5m2": quantize_fp8_e5m2,
    "swiglu-quantize": partial(swiglu_quantize, quantize),
    "swiglu-quantize.fp8": partial(swiglu_quantize, quantize_fp8),
    "add-rms-norm-quantize": partial(add_rms_norm_quantize, quantize),
    "add-rms-norm-quantize.fp8": partial(add_rms_norm_quantize, quantize_fp8),
    "dequantize": dequantize,
    "dequantize.tensor": dequantize,
    "dequantize.block": dequantize_block,
    "dequantize.fp8": dequantize,
    "dequantize.u8": dequantize_u8,
}.items():
    params = ["eps"] if operation.startswith("add-rms-norm") else []
    for way, about, prepare in [
        ("formula", f"{named(function)}, a function of torch for each step, in f32", step_by_step(function, params)),
        ("compile", f"torch.compile of the same steps: {named(function)}", compiled(function, params)),
    ]:
        runner.implementation(
            f"torch/{way}",
            operation=operation,
            dtypes=["f32"] if operation.startswith("quantize-u8") else TYPES,
            about=about,
            parallel=True,
            devices=ANYWHERE,
            requires=WHOLE_BLOCKS.get(operation, "") if way == "compile" else "",
            params=params,
        )(prepare)


def spread(scales, block: int, shape):
    """Each scale for all rows and columns that share it."""
    rows = scales if scales.shape[0] == shape[0] else scales.repeat_interleave(block, 0)[: shape[0]]
    return rows.repeat_interleave(block, 1)[:, : shape[1]]


def fp8_product(x, w, *scales, block: int):
    """Both sides decoded to f32 with their scales, then torch.mm."""
    x, w = x.float(), w.float() * spread(scales[-1], block, w.shape)
    if len(scales) > 1:
        x = x * spread(scales[0], block, x.shape)
    return x @ w.t()


# torch._scaled_mm has scales of tensors and rows on a CPU, and none of blocks. Compiled, the same steps give numbers that are
# nobody's where a block is not whole.
for operation, whole in {
    "fp8-matmul": "n % block == 0, k % block == 0",
    "fp8-matmul.square": "m % block == 0, n % block == 0, k % block == 0",
}.items():
    for way, about, prepare, requires in [
        ("formula", fp8_product.__doc__, step_by_step(fp8_product, ["block"]), ""),
        ("compile", f"torch.compile of the same: {fp8_product.__doc__}", compiled(fp8_product, ["block"]), whole),
    ]:
        runner.implementation(
            f"torch/{way}",
            operation=operation,
            dtypes=["w8a8", "w8a8-f32", *(["w8a16"] if operation == "fp8-matmul" else [])],
            about=about,
            parallel=True,
            devices=ANYWHERE,
            requires=requires,
        )(prepare)


def q8_product(x, s, q):
    """Codes times their scales in f32, then torch.mm."""
    rows = q.shape[0]
    w = (q.view(rows, -1, BLOCK).float() * s[..., None].float()).view(rows, -1)
    return x @ w[:, : x.shape[1]].t()


def q4_product(x, s, q):
    """Halves of bytes less 8, times their scales in f32, then torch.mm."""
    rows = q.shape[0]
    pairs = q.view(torch.uint8).view(rows, -1, BLOCK // 2)
    w = (torch.cat([pairs & 15, pairs >> 4], -1).float() - 8) * s[..., None].float()
    return x @ w.view(rows, -1)[:, : x.shape[1]].t()


def of_raw_blocks(product, of_block: int):
    """A product of scales and codes apart, so many bytes of these a block, as one of blocks that have both."""

    def raw(x, w):
        rows = w.shape[0]
        blocks = w.view(rows, -1, 2 + of_block)
        scales = blocks[..., :2].contiguous().view(torch.float16)
        return product(x, scales.view(rows, -1), blocks[..., 2:].contiguous().view(rows, -1))

    return raw


for operation, product, of_block in [("q8-matmul", q8_product, BLOCK), ("q4-matmul", q4_product, BLOCK // 2)]:
    for way, form, about, prepare in [
        ("formula", operation, product.__doc__, step_by_step(product, ())),
        ("compile", operation, f"torch.compile of the same: {product.__doc__}", compiled(product, ())),
        (
            "formula",
            f"{operation}.raw",
            f"Scales looked at as f16. {product.__doc__}",
            step_by_step(of_raw_blocks(product, of_block), ()),
        ),
    ]:
        runner.implementation(
            f"torch/{way}", operation=form, dtypes=["f32"], about=about, parallel=True, devices=ANYWHERE
        )(prepare)


def q4k_product(x, w):
    """Scales and offsets put together from their bits, halves of bytes times the ones less the others, then torch.mm."""
    rows = w.shape[0]
    blocks = w.view(torch.uint8).view(rows, -1, 144)
    # Numbers that scales are counted in, and offsets; six bits of each, of which four parts of eight have them in one place.
    units = blocks[..., :4].contiguous().view(torch.float16).float()
    first, last = blocks[..., 4:12].reshape(rows, -1, 2, 4), blocks[..., None, 12:16]
    last = torch.cat([last & 15, last >> 4], 2) | (first >> 6 << 4)
    scales, offsets = (torch.cat([first & 63, last], 3).float() * units[..., None]).unbind(2)
    pairs = blocks[..., 16:].reshape(rows, -1, 4, 32)
    codes = torch.stack([pairs & 15, pairs >> 4], 3).view(rows, -1, 8, 32).float()
    return x @ (codes * scales[..., None] - offsets[..., None]).view(rows, -1).t()


def w4_product(x, q, s, z, group: int):
    """Halves of bytes less their zero points, times their scales in f32, then torch.mm."""
    rows, k = q.shape[0], x.shape[1]
    pairs = q.view(torch.uint8)
    codes = torch.stack([pairs & 15, pairs >> 4], 2).view(rows, -1)[:, :k].float()
    zeros, scales = (of_group.float().repeat_interleave(group, 1)[:, :k] for of_group in (z, s))
    return x @ ((codes - zeros) * scales).t()


# Compiled, groups and pairs that are not whole give numbers that are nobody's here too.
for operation, product, dtypes, sizes, whole in [
    ("q4k-matmul", q4k_product, ["f32"], (), ""),
    ("w4-matmul", w4_product, ["w4a16-f16", "w4a16"], ["group"], "k % group == 0, k % 2 == 0"),
]:
    for way, about, prepare, requires in [
        ("formula", product.__doc__, step_by_step(product, sizes), ""),
        ("compile", f"torch.compile of the same: {product.__doc__}", compiled(product, sizes), whole),
    ]:
        runner.implementation(
            f"torch/{way}",
            operation=operation,
            dtypes=dtypes,
            about=about,
            parallel=True,
            devices=ANYWHERE,
            requires=requires,
        )(prepare)


# What three bits of a magnitude of fp4-e2m1 stand for, and what lies in the middle of two.
MAGNITUDES, MIDDLES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0], [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0]
NV_BLOCK = 16


def fp4_codes(x):
    """The nearest codes of four bits, ties to even."""
    magnitudes = x.abs()
    passed = (magnitudes >= middle if code % 2 else magnitudes > middle for code, middle in enumerate(MIDDLES))
    return sum(passed, torch.signbit(x).to(torch.uint8) * 8).to(torch.uint8)


def in_pairs(codes, cols: int):
    """Two neighbours of a row in a byte."""
    pairs = codes.view(codes.shape[0], -1, 2)[:, : (cols + 1) // 2]
    return (pairs[..., 0] | pairs[..., 1] << 4).view(torch.int8)


def from_pairs(q, cols: int):
    """The numbers of two neighbours in a byte."""
    pairs = q.view(torch.uint8)
    codes = torch.stack([pairs & 15, pairs >> 4], 2).view(q.shape[0], -1)[:, :cols]
    numbers = torch.tensor(MAGNITUDES + [-magnitude for magnitude in MAGNITUDES], device=q.device)
    return numbers[codes.int()]


def powers(blocks, exponent: int):
    """Exponents that take the largest magnitude of a block below 2 to the one after `exponent`, and at least -127."""
    largest = blocks.abs().amax(-1)
    # Fractions are from a half to one, so that an exponent is one more than that of the number.
    exponents = (torch.frexp(largest).exponent - 1 - exponent).clamp(-127, 127)
    return torch.where(largest == 0, -127, exponents)


def as_bytes(exponents):
    """Bytes of powers of two."""
    return (exponents + 127).to(torch.uint8).view(torch.int8)


def mx_quantize(x):
    """amax and its exponent from torch.frexp, torch.ldexp, torch.clamp and a conversion."""
    rows, cols = x.shape
    blocks = groups(x, BLOCK)
    exponents = powers(blocks, 8)
    q = torch.ldexp(blocks, -exponents[..., None]).clamp(-448, 448).to(torch.float8_e4m3fn)
    return q.view(torch.uint8).view(rows, -1)[:, :cols].view(torch.float8_e4m3fn), as_bytes(exponents)


def mx_quantize_fp4(x):
    """amax and its exponent from torch.frexp, torch.ldexp, and a comparison with each middle of two codes."""
    blocks = groups(x, BLOCK)
    exponents = powers(blocks, 2)
    return in_pairs(fp4_codes(torch.ldexp(blocks, -exponents[..., None])), x.shape[1]), as_bytes(exponents)


def nvfp4_quantize(x, t):
    """amax over 6, in fp8 over the scale of the tensor, a quotient, and a comparison with each middle of two codes."""
    blocks = groups(x, NV_BLOCK)
    s = (blocks.abs().amax(-1) / 6 / t).clamp(max=448).to(torch.float8_e4m3fn)
    by = (s.float() * t)[..., None]
    codes = torch.where(by == 0, 0, fp4_codes(blocks / by)).to(torch.uint8)
    return in_pairs(codes, x.shape[1]), s


def to_powers(s):
    """What bytes of powers of two stand for."""
    return s.view(torch.float8_e8m0fnu).float()


def mx_dequantize(q, s):
    """torch.mul of codes and powers of two in f32."""
    return q.float() * to_powers(s).repeat_interleave(BLOCK, 1)[:, : q.shape[1]]


def mx_dequantize_fp4(q, s, cols: int):
    """Numbers from a table, torch.mul by powers of two in f32."""
    return from_pairs(q, cols) * to_powers(s).repeat_interleave(BLOCK, 1)[:, :cols]


def nvfp4_dequantize(q, s, t, cols: int):
    """Numbers from a table, torch.mul by their scales and by that of the tensor in f32."""
    return from_pairs(q, cols) * s.float().repeat_interleave(NV_BLOCK, 1)[:, :cols] * t


for operation, function, dtypes, sizes in [
    ("mx-quantize", mx_quantize, TYPES, ()),
    ("mx-quantize.fp4", mx_quantize_fp4, TYPES, ()),
    ("mx-quantize.nvfp4", nvfp4_quantize, TYPES, ()),
    ("mx-dequantize", mx_dequantize, ["f32", "bf16"], ()),
    ("mx-dequantize.fp4", mx_dequantize_fp4, ["f32", "bf16"], ["cols"]),
    ("mx-dequantize.nvfp4", nvfp4_dequantize, ["f32", "bf16"], ["cols"]),
]:
    runner.implementation(
        "torch/formula",
        operation=operation,
        dtypes=dtypes,
        about=f"{function.__doc__[:-1]}, a function of torch for each step, in f32",
        parallel=True,
        devices=ANYWHERE,
    )(step_by_step(function, sizes))


def calibrate(x):
    """amax of torch.abs, a quotient."""
    return scales(x.reshape(1, -1), 127.0)


def calibrate_percentile(x, percentile):
    """torch.kthvalue of torch.abs, a quotient."""
    rank = max(math.ceil(percentile * x.numel() / 100), 1)
    most = x.abs().reshape(-1).kthvalue(rank).values
    return torch.where(most == 0, 1.0, most / 127.0)


def sqnr(x, q, s):
    """A product, a difference, the sums of squares, torch.log10 of their quotient."""
    rest = x - q * s[:, None]
    return 10 * torch.log10(x.square().sum(-1) / rest.square().sum(-1))


for operation, function, params in [
    ("calibrate", calibrate, []),
    ("calibrate.percentile", calibrate_percentile, ["percentile"]),
    ("sqnr", sqnr, []),
]:
    runner.implementation(
        "torch/formula",
        operation=operation,
        dtypes=["f32", "bf16"] if function is sqnr else TYPES,
        about=f"{named(function)}, in f32",
        parallel=True,
        devices=ANYWHERE,
        params=params,
    )(step_by_step(function, params))
