"""Softmaxes and norms: passes over memory, one for each step. f16 is computed in f32."""

from __future__ import annotations

import numpy as np
from common import Job, accumulator, offer, scratch, wide
from elementwise import gelu_factor


@offer("ufunc", "softmax softmax.columns softmax.masked softmax-axis")
def softmax(job: Job):
    """Maximum, difference, exponential, sum, quotient: a pass over memory each."""
    x, y = job.arrays()
    powers, axis = wide(job, y), 0 if job.variant == "columns" else 1
    top, total = (scratch(job, line(x, axis), powers.dtype) for _ in range(2))
    source = x if x.dtype == powers.dtype else powers

    def run():
        if source is not x:
            np.copyto(source, x)
        np.max(source, axis=axis, keepdims=True, out=top)
        if job.variant == "masked":
            is_hopeless = np.isneginf(top)
            np.copyto(top, 0, where=is_hopeless)
        np.subtract(source, top, out=powers)
        np.exp(powers, out=powers)
        np.sum(powers, axis=axis, keepdims=True, out=total)
        if job.variant == "masked":
            np.copyto(total, 1, where=is_hopeless)
        np.divide(powers, total, out=y)

    return run


@offer("ufunc", "log-softmax log-softmax.columns log-softmax-axis")
def log_softmax(job: Job):
    """Maximum, difference, exponential, sum, logarithm, difference: a pass over memory each."""
    x, y = job.arrays()
    below, axis = wide(job, y), 0 if job.variant == "columns" else 1
    powers = scratch(job, x.shape, below.dtype)
    top, total = (scratch(job, line(x, axis), below.dtype) for _ in range(2))

    def run():
        np.max(x, axis=axis, keepdims=True, out=top)
        np.subtract(x, top, out=below)
        np.exp(below, out=powers)
        np.sum(powers, axis=axis, keepdims=True, out=total)
        np.log(total, out=total)
        np.subtract(below, total, out=y)

    return run


def line(x: np.ndarray, axis: int) -> tuple[int, ...]:
    """The shape of one number for each line along an axis."""
    return tuple(1 if one == axis % x.ndim else size for one, size in enumerate(x.shape))


@offer("ufunc", "rms-norm rms-norm.gemma qk-norm", params=["eps"])
def rms_norm(job: Job):
    """Squares, mean, root, quotient, weight: a pass over memory each."""
    x, w, y = job.arrays()
    return root_mean_square(job, x, w, y)


@offer("ufunc", "qk-norm.combined", params=["eps"])
def qk_norm(job: Job):
    """The same steps for queries and for keys."""
    q, k, wq, wk, yq, yk = job.arrays()
    parts = [root_mean_square(job, q, wq, yq), root_mean_square(job, k, wk, yk)]

    def run():
        for part in parts:
            part()

    return run


@offer("ufunc", "add-rms-norm", params=["eps"])
def add_rms_norm(job: Job):
    """numpy.add, and the steps of rms-norm on its result."""
    x, r, w, h, y = job.arrays()
    norm = root_mean_square(job, h, w, y)

    def run():
        np.add(x, r, out=h)
        norm()

    return run


def root_mean_square(job: Job, x: np.ndarray, w: np.ndarray, y: np.ndarray):
    """y = x / sqrt(mean(x²) + eps) · w over the last axis, with 1 + w as Gemma has it."""
    work, eps, dtype = wide(job, y), job.params["eps"], accumulator(x)
    weight = w if w.dtype == dtype and job.variant != "gemma" else scratch(job, w.shape, dtype)
    scale = scratch(job, line(x, -1), dtype)

    def run():
        if job.variant == "gemma":
            np.add(w, 1, out=weight, dtype=dtype)
        elif weight is not w:
            np.copyto(weight, w)
        np.square(x, out=work, dtype=dtype)
        np.sum(work, axis=-1, keepdims=True, out=scale)
        np.divide(scale, x.shape[-1], out=scale)
        np.add(scale, eps, out=scale)
        np.sqrt(scale, out=scale)
        np.divide(x, scale, out=work, dtype=dtype)
        np.multiply(work, weight, out=y)

    return run


@offer("ufunc", "layer-norm layer-norm.plain layer-norm-gelu.tanh", params=["eps"])
def layer_norm(job: Job):
    """Mean, difference, squares, mean, root, quotient, weight, bias: a pass over memory each."""
    x, *affine, y = job.arrays()
    work, eps = wide(job, y), job.params["eps"]
    spare = scratch(job, y.shape, work.dtype)
    mean, scale = (scratch(job, line(x, 1), work.dtype) for _ in range(2))

    def run():
        np.mean(x, axis=1, keepdims=True, dtype=work.dtype, out=mean)
        np.subtract(x, mean, out=work)
        np.square(work, out=spare)
        np.mean(spare, axis=1, keepdims=True, out=scale)
        np.add(scale, eps, out=scale)
        np.sqrt(scale, out=scale)
        if not affine:
            np.divide(work, scale, out=y)
            return
        w, b = affine
        np.divide(work, scale, out=work)
        np.multiply(work, w, out=work)
        if job.operation == "layer-norm":
            np.add(work, b, out=y, dtype=work.dtype)
        else:
            np.add(work, b, out=work)
            gelu_factor(work, spare)
            np.multiply(work, spare, out=y)

    return run
