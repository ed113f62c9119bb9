"""Codes and their scales. numpy rounds ties to even, and has no fp8."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from common import Job, offer, scratch, scratch_like
from norms import root_mean_square

# Codes of a block of GGML's Q8_0 and Q4_0, which begins with two bytes of a scale in f16.
BLOCK = 32


@offer("rint", "quantize quantize.tensor quantize.full", ["f32", "f16"])
def quantize(job: Job):
    """numpy.max of numpy.abs, a quotient, numpy.rint."""
    x, q, s = job.arrays()
    return quantized(job, x, q, s)


def quantized(job: Job, x: np.ndarray, q: np.ndarray, s: np.ndarray):
    """Codes and scales of x."""
    most, least = (127.5, -128) if job.variant == "full" else (127, -127)
    wide = scratch_like(job, x, np.float32)
    # One scale for all, or a column of them beside the rows.
    scales, axis = (s.reshape(1, 1), None) if job.variant == "tensor" else (s.reshape(-1, 1), 1)
    zeros = scratch(job, scales.shape, np.bool_)

    def run():
        np.abs(x, out=wide)
        np.max(wide, axis=axis, keepdims=True, out=scales)
        np.divide(scales, np.float32(most), out=scales)
        np.equal(scales, 0, out=zeros)
        np.copyto(scales, 1, where=zeros)
        np.divide(x, scales, out=wide, dtype=np.float32)
        np.rint(wide, out=wide)
        np.clip(wide, least, 127, out=wide)
        np.copyto(q, wide, casting="unsafe")

    return run


@offer("rint", "quantize-u8 quantize-u8.tensor", ["f32"])
def quantize_u8(job: Job):
    """numpy.max and numpy.min with zero among the elements, a quotient, numpy.rint."""
    x, q, s, z = job.arrays()
    wide = scratch_like(job, x, np.float32)
    shape, axis = ((1, 1), None) if job.variant == "tensor" else ((-1, 1), 1)
    scales = s.reshape(shape)
    least, zeros = scratch(job, scales.shape, np.float32), scratch(job, scales.shape, np.bool_)

    def run():
        np.max(x, axis=axis, keepdims=True, initial=0, out=scales)
        np.min(x, axis=axis, keepdims=True, initial=0, out=least)
        np.subtract(scales, least, out=scales)
        np.divide(scales, np.float32(255), out=scales)
        np.equal(scales, 0, out=zeros)
        np.copyto(scales, 1, where=zeros)
        np.divide(least, scales, out=least)
        np.rint(np.negative(least, out=least), out=least)
        np.copyto(z.reshape(shape), least, casting="unsafe")
        np.divide(x, scales, out=wide, dtype=np.float32)
        np.rint(wide, out=wide)
        np.add(wide, least, out=wide)
        np.clip(wide, 0, 255, out=wide)
        np.copyto(q, wide, casting="unsafe")

    return run


# The sum of f16 is written before its norm is taken.
@offer("ufunc", "add-rms-norm-quantize", ["f32", "f16+p16"], params=["eps"])
def add_rms_norm_quantize(job: Job):
    """numpy.add, the steps of rms-norm, and those of quantize."""
    x, r, w, h, q, s = job.arrays()
    y = scratch(job, x.shape, np.float32)
    norm, codes = root_mean_square(job, h, w, y), quantized(job, y, q, s)

    def run():
        np.add(x, r, out=h)
        norm()
        codes()

    return run


@offer("ufunc", "swiglu-quantize", ["f32", "f16"])
def swiglu_quantize(job: Job):
    """x / (1 + exp(-x)), a product, and the steps of quantize."""
    gate, up, q, s = job.arrays()
    y = scratch(job, gate.shape, np.float32)
    codes = quantized(job, y, q, s)

    def run():
        np.negative(gate, out=y)
        np.exp(y, out=y)
        np.add(y, 1, out=y)
        np.divide(gate, y, out=y)
        np.multiply(y, up, out=y)
        codes()

    return run


@offer("multiply", "dequantize dequantize.tensor", ["f32", "f16"])
def dequantize(job: Job):
    """numpy.multiply of codes and scales in f32."""
    q, s, y = job.arrays()
    scales = s.reshape(-1, 1)
    return lambda: np.multiply(q, scales, out=y, dtype=np.float32, casting="same_kind")


@offer("multiply", "dequantize.u8", ["f32", "f16"])
def dequantize_u8(job: Job):
    """numpy.subtract of codes in i32, numpy.multiply by scales in f32."""
    q, s, z, y = job.arrays()
    whole, scales, zeros = scratch_like(job, q, np.int32), s.reshape(-1, 1), z.reshape(-1, 1)

    def run():
        np.subtract(q, zeros, out=whole, dtype=np.int32)
        np.multiply(whole, scales, out=y, dtype=np.float32, casting="same_kind")

    return run


def scaled_blocks(job: Job, of_block: int):
    """X, bytes of codes by row and block, of so many a block, scales beside them, Y, and what is to be done before each
    launch: bytes of f16 that no number is aligned to are gathered before they are looked at."""
    if job.variant != "raw":
        x, s, q, y = job.arrays()
        return x, q.reshape(len(q), -1, of_block), s[..., None], y, lambda: None
    x, w, y = job.arrays()
    blocks = w.reshape(len(w), -1, 2 + of_block)
    gathered = scratch(job, (*blocks.shape[:2], 2), np.int8)
    return x, blocks[..., 2:], gathered.view(np.float16), y, partial(np.copyto, gathered, blocks[..., :2])


@offer("dequantize-matmul", "q8-matmul q8-matmul.raw", ["f32"], parallel=True)
def q8_matmul(job: Job):
    """Codes times their scales in f32, then numpy.matmul."""
    x, q, scales, y, gather = scaled_blocks(job, BLOCK)
    wide = scratch(job, q.shape, np.float32)
    weights = wide.reshape(len(wide), -1)[:, : x.shape[1]]

    def run():
        gather()
        np.multiply(q, scales, out=wide, dtype=np.float32)
        np.matmul(x, weights.T, out=y)

    return run


@offer("dequantize-matmul", "q4-matmul q4-matmul.raw", ["f32"], parallel=True)
def q4_matmul(job: Job):
    """Halves of bytes less 8, times their scales in f32, then numpy.matmul."""
    x, q, scales, y, gather = scaled_blocks(job, BLOCK // 2)
    pairs, codes = q.view(np.uint8), scratch(job, (*q.shape[:2], 2, BLOCK // 2), np.uint8)
    wide = scratch(job, codes.shape, np.float32)
    weights = wide.reshape(len(wide), -1)[:, : x.shape[1]]

    def run():
        gather()
        np.bitwise_and(pairs, 15, out=codes[:, :, 0])
        np.right_shift(pairs, 4, out=codes[:, :, 1])
        np.subtract(codes, np.float32(8), out=wide)
        np.multiply(wide, scales[..., None], out=wide)
        np.matmul(x, weights.T, out=y)

    return run


# Codes of a block of GGML's Q4_K, its parts, and the bytes before its codes.
Q4K_BLOCK, Q4K_PARTS, Q4K_HEAD = 256, 8, 16


@offer("dequantize-matmul", "q4k-matmul", ["f32"], parallel=True)
def q4k_matmul(job: Job):
    """Scales and offsets put together from their bits, halves of bytes times the ones less the others in f32, then
    numpy.matmul."""
    x, w, y = job.arrays()
    blocks = w.view(np.uint8).reshape(len(w), -1, Q4K_HEAD + Q4K_BLOCK // 2)
    shape = blocks.shape[:2]
    gathered = scratch(job, (*shape, 4), np.uint8)
    # For each block the numbers that scales are counted in, and offsets.
    units = gathered.view(np.float16)[..., None]
    six, sixes = blocks[..., 4:Q4K_HEAD], scratch(job, (*shape, 2, Q4K_PARTS), np.uint8)
    upper = scratch(job, (*shape, 2, Q4K_PARTS // 2), np.uint8)
    # Of four times 32 bytes the low halves are one part, the high ones the next.
    pairs = blocks[..., Q4K_HEAD:].reshape(*shape, Q4K_PARTS // 2, -1)
    codes = scratch(job, (*shape, Q4K_PARTS // 2, 2, pairs.shape[-1]), np.uint8)
    scaled = scratch(job, sixes.shape, np.float32)
    wide = scratch(job, codes.shape, np.float32)
    parts = wide.reshape(*shape, Q4K_PARTS, -1)
    weights = wide.reshape(len(wide), -1)

    def run():
        np.copyto(gathered, blocks[..., :4])
        first = six[..., :8].reshape(*shape, 2, 4)
        np.bitwise_and(first, 63, out=sixes[..., :4])
        np.right_shift(first, 6, out=upper)
        np.left_shift(upper, 4, out=upper)
        np.bitwise_and(six[..., 8:], 15, out=sixes[..., 0, 4:])
        np.right_shift(six[..., 8:], 4, out=sixes[..., 1, 4:])
        np.bitwise_or(sixes[..., 4:], upper, out=sixes[..., 4:])
        np.multiply(sixes, units, out=scaled, dtype=np.float32)
        np.bitwise_and(pairs, 15, out=codes[..., 0, :])
        np.right_shift(pairs, 4, out=codes[..., 1, :])
        np.copyto(wide, codes)
        np.multiply(parts, scaled[..., 0, :, None], out=parts)
        np.subtract(parts, scaled[..., 1, :, None], out=parts)
        np.matmul(x, weights.T, out=y)

    return run


@offer("dequantize-matmul", "w4-matmul", ["w4a16-f16"], parallel=True)
def w4_matmul(job: Job):
    """Halves of bytes less their zero points, times their scales in f32, then numpy.matmul."""
    x, q, s, z, y = job.arrays()
    rows, k, group = len(q), x.shape[1], job.axes["group"]
    pairs, codes = q.view(np.uint8), scratch(job, (rows, q.shape[1], 2), np.uint8)
    # Whole groups, the last of which may have more than there are codes.
    wide = scratch(job, (rows, s.shape[1], group), np.float32)
    weights, beyond = np.split(wide.reshape(rows, -1), [k], axis=1)
    given, sums = scratch_like(job, x, np.float32), scratch(job, y.shape, np.float32)

    def run():
        np.bitwise_and(pairs, 15, out=codes[..., 0])
        np.right_shift(pairs, 4, out=codes[..., 1])
        np.copyto(weights, codes.reshape(rows, -1)[:, :k])
        beyond.fill(0)
        np.subtract(wide, z[..., None], out=wide)
        np.multiply(wide, s[..., None], out=wide)
        np.copyto(given, x)
        np.matmul(given, weights.T, out=sums)
        np.copyto(y, sums, casting="same_kind")

    return run


# What three bits of a magnitude of fp4-e2m1 stand for, then the same below zero; and what lies in the middle of two.
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
MIDDLES = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5], np.float32)


@offer("take", "mx-dequantize.fp4", ["f32"])
def mx_dequantize_fp4(job: Job):
    """numpy.take from a table of the sixteen numbers, numpy.ldexp by the exponents of blocks."""
    q, s, y = job.arrays()
    pairs, bytes_of_scales = q.view(np.uint8), s.view(np.uint8)
    codes, places = scratch(job, (*q.shape, 2), np.uint8), np.arange(y.shape[1]) // BLOCK
    exponents, unknown = scratch(job, s.shape, np.int32), scratch(job, s.shape, np.bool_)
    numbers, spread = scratch(job, codes.shape, np.float32), scratch(job, y.shape, np.int32)
    flat = numbers.reshape(len(q), -1)[:, : y.shape[1]]

    def run():
        np.bitwise_and(pairs, 15, out=codes[..., 0])
        np.right_shift(pairs, 4, out=codes[..., 1])
        np.take(FP4, codes, out=numbers, mode="clip")
        np.subtract(bytes_of_scales, np.int32(127), out=exponents)
        np.take(exponents, places, axis=1, out=spread, mode="clip")
        np.ldexp(flat, spread, out=y)
        # The last byte stands for no number.
        np.equal(bytes_of_scales, 255, out=unknown)
        if unknown.any():
            y[unknown[:, places]] = np.nan

    return run


@offer("frexp", "mx-quantize.fp4", ["f32", "f16"])
def mx_quantize_fp4(job: Job):
    """numpy.frexp of the largest magnitude of each block, numpy.ldexp, and a comparison with each middle of two codes."""
    x, q, s = job.arrays()
    rows, cols = x.shape
    blocks = scratch(job, (rows, s.shape[1], BLOCK), np.float32)
    given = blocks.reshape(rows, -1)[:, :cols]
    magnitudes, is_passed = scratch(job, blocks.shape, np.float32), scratch(job, blocks.shape, np.bool_)
    largest, fractions = (scratch(job, (rows, s.shape[1], 1), np.float32) for _ in range(2))
    exponents, codes = scratch(job, largest.shape, np.int32), scratch(job, blocks.shape, np.uint8)
    pairs = codes.reshape(rows, -1, 2)[:, : q.shape[1]]

    def run():
        np.copyto(given, x)
        np.abs(blocks, out=magnitudes)
        np.max(magnitudes, axis=2, keepdims=True, out=largest)
        # Fractions are from a half to one, so that an exponent is one more than that of the number.
        np.frexp(largest, out=(fractions, exponents))
        np.subtract(exponents, 1 + 2, out=exponents)
        np.clip(exponents, -127, 127, out=exponents)
        np.copyto(exponents, -127, where=largest == 0)
        np.add(exponents[..., 0], 127, out=s.view(np.uint8), casting="unsafe")
        np.negative(exponents, out=exponents)
        np.ldexp(magnitudes, exponents, out=magnitudes)
        np.multiply(np.signbit(blocks, out=is_passed), np.uint8(8), out=codes)
        for code, middle in enumerate(MIDDLES):
            # In the middle of two the upper one is even where the lower one is odd.
            (np.greater_equal if code % 2 else np.greater)(magnitudes, middle, out=is_passed)
            np.add(codes, is_passed, out=codes)
        np.left_shift(pairs[..., 1], 4, out=q.view(np.uint8))
        np.bitwise_or(q.view(np.uint8), pairs[..., 0], out=q.view(np.uint8))

    return run


@offer("partition", "calibrate", ["f32", "f16"])
@offer("partition", "calibrate.percentile", ["f32", "f16"], params=["percentile"])
def calibrate(job: Job):
    """numpy.max of numpy.abs, or numpy.partition of it at the rank of the percentile."""
    x, s = job.arrays()
    sizes = scratch(job, (x.size,), np.float32)
    up_to = math.ceil(job.params.get("percentile", 100) * x.size / 100) if job.variant else x.size
    rank = max(up_to, 1) - 1

    def run():
        np.abs(x.reshape(-1), out=sizes)
        if job.variant:
            sizes.partition(rank)
        most = sizes[rank] if job.variant else sizes.max()
        s[0] = most / np.float32(127) if most else 1

    return run


@offer("ufunc", "calibrate.average", ["f32", "f16"], params=["averaging"])
def calibrate_average(job: Job):
    """numpy.max of numpy.abs of every row, then a sum row by row."""
    x, s = job.arrays()
    sizes = scratch(job, x.shape, np.float32)
    share = np.float32(job.params["averaging"])

    def run():
        np.abs(x, out=sizes)
        known, *rows = sizes.max(axis=1)
        for row in rows:
            known += share * (row - known)
        s[0] = known / np.float32(127) if known else 1

    return run


@offer("bincount", "calibrate.entropy", ["f32", "f16"])
def calibrate_entropy(job: Job):
    """numpy.bincount of quotients, and for every cut numpy.add.reduceat of its levels and a sum of logarithms."""
    x, s = job.arrays()
    bins, levels = 2048, 128
    sizes = scratch(job, (x.size,), np.float32)

    def lost(counts, cut):
        kept = counts[:cut].astype(np.float64)
        starts = -(-np.arange(levels) * cut // levels)
        filled = kept > 0
        each = np.add.reduceat(kept, starts) / np.maximum(np.add.reduceat(filled.astype(np.int64), starts), 1)
        after = np.where(filled, np.repeat(each, np.diff(starts, append=cut)), 0) / kept.sum()
        kept[-1] += counts[cut:].sum()
        before = kept / kept.sum()
        there = before > 0
        return np.sum(before[there] * np.log(before[there] / after[there]))

    def run():
        np.abs(x.reshape(-1), out=sizes)
        most = sizes.max()
        if most == 0:
            s[0] = 1
            return
        places = (sizes / (most / np.float32(bins))).astype(np.int64)
        counts = np.bincount(np.minimum(places, bins - 1), minlength=bins)
        cuts = range(levels, bins + 1, 16)
        found = [lost(counts, cut) for cut in cuts]
        s[0] = most * np.float32(cuts[int(np.nanargmin(found))] / bins) / np.float32(127)

    return run


@offer("ufunc", "sqnr", ["f32"])
def sqnr(job: Job):
    """A product, a difference, numpy.sum of squares twice, numpy.log10 of their quotient."""
    x, q, s, y = job.arrays()
    rest, squares = (scratch(job, x.shape, np.float32) for _ in range(2))

    def run():
        np.multiply(q, s[:, None], out=rest)
        np.subtract(x, rest, out=rest)
        np.square(x, out=squares, dtype=np.float32)
        np.square(rest, out=rest)
        np.divide(squares.sum(axis=1), rest.sum(axis=1), out=y)
        np.log10(y, out=y)
        np.multiply(y, 10, out=y)

    return run
