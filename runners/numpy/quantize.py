"""Codes and their scales. numpy rounds ties to even, and has no fp8."""

from __future__ import annotations

import numpy as np
from common import Job, offer, scratch, scratch_like

# Bytes of a block of GGML's Q8_0: a scale in f16 and 32 codes.
Q8_BYTES = 34


@offer("rint", "quantize quantize.tensor", ["f32", "f16"])
def quantize(job: Job):
    """numpy.max of numpy.abs, a quotient, numpy.rint."""
    x, q, s = job.arrays()
    wide = scratch_like(job, x, np.float32)
    # One scale for all, or a column of them beside the rows.
    scales, axis = (s.reshape(1, 1), None) if job.variant == "tensor" else (s.reshape(-1, 1), 1)
    zeros = scratch(job, scales.shape, np.bool_)

    def run():
        np.abs(x, out=wide)
        np.max(wide, axis=axis, keepdims=True, out=scales)
        np.divide(scales, np.float32(127), out=scales)
        np.equal(scales, 0, out=zeros)
        np.copyto(scales, 1, where=zeros)
        np.divide(x, scales, out=wide, dtype=np.float32)
        np.rint(wide, out=wide)
        np.clip(wide, -127, 127, out=wide)
        np.copyto(q, wide, casting="unsafe")

    return run


@offer("multiply", "dequantize dequantize.tensor", ["f32", "f16"])
def dequantize(job: Job):
    """numpy.multiply of codes and scales in f32."""
    q, s, y = job.arrays()
    scales = s.reshape(-1, 1)
    return lambda: np.multiply(q, scales, out=y, dtype=np.float32, casting="same_kind")


@offer("dequantize-matmul", "q8-matmul q8-matmul.raw", ["f32"], parallel=True)
def q8_matmul(job: Job):
    """Codes times their scales in f32, then numpy.matmul."""
    if job.variant == "raw":
        x, w, y = job.arrays()
        blocks = w.reshape(len(w), -1, Q8_BYTES)
        # Bytes of f16 that no number is aligned to: gathered before they are looked at.
        gathered, q = scratch(job, (*blocks.shape[:2], 2), np.int8), blocks[..., 2:]
        scales, given = gathered.view(np.float16), blocks[..., :2]
    else:
        x, s, q, y = job.arrays()
        q, scales, given = q.reshape(len(q), -1, 32), s[..., None], None
    wide = scratch(job, q.shape, np.float32)
    weights = wide.reshape(len(wide), -1)[:, : x.shape[1]]

    def run():
        if given is not None:
            np.copyto(gathered, given)
        np.multiply(q, scales, out=wide, dtype=np.float32)
        np.matmul(x, weights.T, out=y)

    return run
