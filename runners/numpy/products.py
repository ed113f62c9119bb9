"""Products of matrices: BLAS, or numpy's own loops for integers."""

from __future__ import annotations

import numpy as np
from common import FLOATS, Job, offer, scratch_like

# 1024 products of two i8 are at most 2^24, so an f32 holds every partial sum exactly.
EXACT_BLOCK = 1024


@offer("matmul", "matmul matmul.nn matmul.tn matmul.tt bmm bmm.nn bmm.tn bmm.tt", [*FLOATS, "i8"], parallel=True)
@offer("matmul", "matmul.fixed", [*FLOATS, "i8"], parallel=True)
def matmul(job: Job):
    """numpy.matmul: BLAS for floats, f16 widened to f32; numpy's plain loops for i8 widened to i32.

    Weights that stay the same are widened once.
    """
    a, b, c = factors(job)
    if job.dtype == "i8":
        job.threads_used = 1  # BLAS has no integers.
    if job.dtype in ("f64", "f32"):
        return lambda: np.matmul(a, b, out=c)
    wide = np.dtype(np.int32 if job.dtype == "i8" else np.float32)
    wide_a, (wide_b, widen) = scratch_like(job, a, wide), widened(job, b, wide)
    wide_c = c if c.dtype == wide else scratch_like(job, c, wide)

    def run():
        np.copyto(wide_a, a)
        widen()
        np.matmul(wide_a, wide_b, out=wide_c)
        if wide_c is not c:
            np.copyto(c, wide_c, casting="same_kind")

    return run


@offer("matmul", "matmul matmul.fixed", ["w16a32-f16"], parallel=True)
def matmul_of_narrow_weights(job: Job):
    """Weights widened to f32, then numpy.matmul."""
    a, b, c = factors(job)
    wide, widen = widened(job, b, np.float32)

    def run():
        widen()
        np.matmul(a, wide, out=c)

    return run


@offer("matmul-exact-f32", "matmul matmul.nn matmul.tn matmul.tt", ["i8"], parallel=True)
def matmul_i8_by_blas(job: Job):
    """BLAS in f32 over blocks of 1024 products, whose sums f32 holds exactly, added up in i32."""
    a, b, c = factors(job)
    k = a.shape[1]
    blocks = [slice(first, min(first + EXACT_BLOCK, k)) for first in range(0, k, EXACT_BLOCK)]
    width = min(k, EXACT_BLOCK)
    wide_a, wide_b = (scratch_like(job, t, np.float32) for t in (a[:, :width], b[:width]))
    wide_c, part = scratch_like(job, c, np.float32), scratch_like(job, c, np.int32)

    def run():
        for block in blocks:
            length = block.stop - block.start
            block_a, block_b = wide_a[:, :length], wide_b[:length]
            np.copyto(block_a, a[:, block])
            np.copyto(block_b, b[block])
            np.matmul(block_a, block_b, out=wide_c)
            if block.start == 0:
                np.copyto(c, wide_c, casting="unsafe")
            else:
                np.copyto(part, wide_c, casting="unsafe")
                np.add(c, part, out=c)

    return run


@offer("matmul", "int8-matmul int8-matmul.row int8-matmul.channel int8-matmul.fixed", ["i8-f32"])
def int8_matmul(job: Job):
    """numpy.matmul of codes widened to i32, then the scales of rows and columns."""
    a, b, sa, sb, c = job.arrays()
    wide_a, (wide_b, widen) = scratch_like(job, a, np.int32), widened(job, b, np.int32)
    sums = scratch_like(job, c, np.int32)

    def run():
        np.copyto(wide_a, a)
        widen()
        np.matmul(wide_a, wide_b.T, out=sums)
        np.copyto(c, sums, casting="same_kind")
        np.multiply(c, sa[:, None], out=c)
        np.multiply(c, sb, out=c)

    return run


def widened(job: Job, b: np.ndarray, dtype: np.dtype | type):
    """Memory for B in another type, and what brings B there at each launch: nothing where it stays the same."""
    wide = scratch_like(job, b, dtype)
    if job.inputs[1].role != "constant":
        return wide, lambda: np.copyto(wide, b)
    np.copyto(wide, b)
    return wide, lambda: None


def factors(job: Job) -> list[np.ndarray]:
    """A as [..., m, k] and B as [..., k, n], whichever way they are stored, and C."""
    a, b, c = job.arrays()
    a = a.swapaxes(-1, -2) if job.variant in ("tn", "tt") else a
    return [a, b if job.variant in ("nn", "tn") else b.swapaxes(-1, -2), c]
