"""Codes and their scales, step by step and compiled. torch rounds ties to even."""

from __future__ import annotations

import torch
from common import ANYWHERE, runner
from offers import compiled, step_by_step

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


def dequantize(q, s):
    """torch.mul of codes and scales in f32."""
    return q.float() * s[:, None]


def dequantize_block(q, s):
    """The same in blocks of 32."""
    rows, cols = q.shape
    return (groups(q, BLOCK).float() * s[..., None]).view(rows, -1)[:, :cols]


# Of what is padded and cut off again, compiled loops leave the last block unwritten (torch 2.15, on a CPU).
WHOLE_BLOCKS = {"quantize-fp8.block": "cols % 128 == 0", "dequantize.block": "cols % 32 == 0"}

for operation, function in {
    "quantize": quantize,
    "quantize.tensor": quantize_tensor,
    "quantize-fp8": quantize_fp8,
    "quantize-fp8.block": quantize_fp8_block,
    "dequantize": dequantize,
    "dequantize.tensor": dequantize,
    "dequantize.block": dequantize_block,
}.items():
    for way, about, prepare in [
        ("formula", f"{function.__doc__[:-1]}, a function of torch for each step, in f32", step_by_step(function, ())),
        ("compile", f"torch.compile of the same steps: {function.__doc__[:-1]}", compiled(function, ())),
    ]:
        runner.implementation(
            f"torch/{way}",
            operation=operation,
            dtypes=TYPES,
            about=about,
            parallel=True,
            devices=ANYWHERE,
            requires=WHOLE_BLOCKS.get(operation, "") if way == "compile" else "",
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


for operation, product, dtypes, sizes in [
    ("q4k-matmul", q4k_product, ["f32"], ()),
    ("w4-matmul", w4_product, ["w4a16-f16", "w4a16"], ["group"]),
]:
    for way, about, prepare in [
        ("formula", product.__doc__, step_by_step(product, sizes)),
        ("compile", f"torch.compile of the same: {product.__doc__}", compiled(product, sizes)),
    ]:
        runner.implementation(
            f"torch/{way}", operation=operation, dtypes=dtypes, about=about, parallel=True, devices=ANYWHERE
        )(prepare)
