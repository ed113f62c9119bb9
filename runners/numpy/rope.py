"""Rotary positions: pairs of elements turned by an angle, a pass over memory for each step."""

from __future__ import annotations

import numpy as np
from common import Job, accumulator, offer, scratch


@offer("ufunc", "rope rope.interleaved rope.in-place rope.interleaved-in-place", params=["base", "angle-bits"])
def rope(job: Job):
    """Angles in f64, numpy.cos and numpy.sin, products, sums: a pass over memory each."""
    x, positions, y = job.arrays()
    half = x.shape[-1] // 2
    frequency = job.params["base"] ** (-2 * np.arange(half) / x.shape[-1])
    angle, wave = (scratch(job, (len(positions), half), np.float64) for _ in range(2))
    cos, sin = (scratch(job, (len(positions), 1, half), accumulator(x)) for _ in range(2))
    turn = turning(job, x, cos, sin, y)

    def run():
        np.multiply(positions[:, None], frequency, out=angle)
        np.copyto(cos[:, 0], np.cos(angle, out=wave), casting="same_kind")
        np.copyto(sin[:, 0], np.sin(angle, out=wave), casting="same_kind")
        turn()

    return run


@offer("ufunc", "rope-tables", params=["base", "angle-bits"])
def rope_tables(job: Job):
    """Angles in f64, numpy.cos and numpy.sin."""
    positions, cos, sin = job.arrays()
    half = cos.shape[-1]
    frequency = job.params["base"] ** (-np.arange(half) / half)
    angle, wave = (scratch(job, cos.shape, np.float64) for _ in range(2))

    def run():
        np.multiply(positions[:, None], frequency, out=angle)
        np.copyto(cos, np.cos(angle, out=wave), casting="same_kind")
        np.copyto(sin, np.sin(angle, out=wave), casting="same_kind")

    return run


@offer(
    "ufunc",
    "rope.cached rope.interleaved-cached rope.cached-in-place rope.interleaved-cached-in-place",
)
def cached_rope(job: Job):
    """numpy.take from both tables, products, sums: a pass over memory each."""
    x, positions, all_cos, all_sin, y = job.arrays()
    cos, sin = (scratch(job, (len(positions), 1, x.shape[-1] // 2), all_cos.dtype) for _ in range(2))
    turn = turning(job, x, cos, sin, y)

    def run():
        np.take(all_cos, positions, axis=0, out=cos[:, 0], mode="clip")
        np.take(all_sin, positions, axis=0, out=sin[:, 0], mode="clip")
        turn()

    return run


@offer("ufunc", "rope.cached-beyond", params=["base", "angle-bits"])
def cached_rope_beyond(job: Job):
    """numpy.take from both tables, and angles in f64 for positions beyond them."""
    x, positions, all_cos, all_sin, y = job.arrays()
    half = x.shape[-1] // 2
    frequency = job.params["base"] ** (-2 * np.arange(half) / x.shape[-1])
    cos, sin = (scratch(job, (len(positions), 1, half), all_cos.dtype) for _ in range(2))
    turn = turning(job, x, cos, sin, y)

    def run():
        np.take(all_cos, positions, axis=0, out=cos[:, 0], mode="clip")
        np.take(all_sin, positions, axis=0, out=sin[:, 0], mode="clip")
        beyond = np.flatnonzero(positions >= len(all_cos))
        angle = positions[beyond, None] * frequency
        cos[beyond, 0], sin[beyond, 0] = np.cos(angle), np.sin(angle)
        turn()

    return run


def turning(job: Job, x: np.ndarray, cos: np.ndarray, sin: np.ndarray, y: np.ndarray):
    """Turns the pairs of x, which are neighbours or a half apart."""
    half = x.shape[-1] // 2
    first, second = (slice(half), slice(half, None))
    if job.variant.startswith("interleaved"):
        first, second = (slice(0, None, 2), slice(1, None, 2))
    # In place, y is x before the launch, and its old values are needed until both sums are taken.
    x = y if job.restore else x
    a, b, left, right = x[..., first], x[..., second], y[..., first], y[..., second]
    one, other, third = (scratch(job, a.shape, cos.dtype) for _ in range(3))

    def run():
        np.multiply(a, cos, out=one)
        np.multiply(b, sin, out=other)
        np.multiply(a, sin, out=third)
        np.subtract(one, other, out=left)
        np.multiply(b, cos, out=one)
        np.add(one, third, out=right)

    return run
