"""Operations that make few numbers of many. Sums of f16 are kept in f32 and rounded once."""

from __future__ import annotations

import numpy as np
from common import Job, accumulator, offer, scratch, scratch_like, wide

IGNORED = -100
SMALLEST = 1e-8


def forms(operation: str) -> str:
    """A reduction over rows, over columns, over everything, and over the middle one of three dimensions."""
    return f"{operation} {operation}.columns {operation}.all {operation}-axis"


def reduced(job: Job) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Input, output and axis; the output of everything has no axis, as numpy wants it."""
    x, y = job.arrays()
    return (x, y.reshape(()), None) if job.variant == "all" else (x, y, 0 if job.variant == "columns" else 1)


def offer_sum(operation: str, function) -> None:
    """Offers a function that sums, whose buffers would round sums to f16 if they lay in the output."""

    def prepare(job: Job):
        x, y, axis = reduced(job)
        sums = wide(job, y)

        def run():
            function(x, axis=axis, dtype=sums.dtype, out=sums)
            if sums is not y:
                np.copyto(y, sums, casting="same_kind")

        return run

    offer("function", forms(operation), about=f"numpy.{function.__name__} with `out`")(prepare)


offer_sum("sum", np.sum)
offer_sum("mean", np.mean)


@offer("function", forms("max"))
def maximum(job: Job):
    """numpy.max with `out`."""
    x, y, axis = reduced(job)
    return lambda: np.max(x, axis=axis, out=y)


@offer("function", "argmax argmax-axis")
def argmax(job: Job):
    """numpy.argmax, whose indices are of 64 bits and copied."""
    x, y = job.arrays()
    found = scratch(job, y.shape, np.intp)

    def run():
        np.argmax(x, axis=1, out=found)
        np.copyto(y, found, casting="same_kind")

    return run


@offer("ufunc", forms("logsumexp"))
def logsumexp(job: Job):
    """Maximum, difference, exponential, sum, logarithm: a pass over memory each."""
    x, y, axis = reduced(job)
    work = scratch(job, x.shape, accumulator(x))
    top, pivot, total = (scratch(job, np.max(x, axis, keepdims=True).shape, work.dtype) for _ in range(3))

    def run():
        np.max(x, axis=axis, keepdims=True, out=top)
        # An infinite maximum is added at the end and not taken off before.
        np.copyto(pivot, top)
        np.copyto(pivot, 0, where=np.isinf(top))
        np.subtract(x, pivot, out=work)
        np.exp(work, out=work)
        np.sum(work, axis=axis, keepdims=True, out=total)
        np.log(total, out=total)
        np.add(total.reshape(y.shape), pivot.reshape(y.shape), out=y)

    return run


@offer("function", "dot", parallel=True)
def dot(job: Job):
    """numpy.dot: BLAS for f64 and f32."""
    x, y, z = job.arrays()
    if job.dtype == "f16":
        job.threads_used = 1
    return lambda: np.dot(x, y, out=z.reshape(()))


@offer("ufunc", "mse mse.sum mse.none")
def mse(job: Job):
    """Difference, square, sum: a pass over memory each."""
    p, t, y = job.arrays()
    if job.variant == "none":
        work = wide(job, y)

        def each():
            np.subtract(p, t, out=work, dtype=work.dtype)
            np.square(work, out=y, dtype=work.dtype)

        return each
    work = scratch(job, p.shape, accumulator(p))
    total, count = work.dtype.type, p.size if job.variant == "" else 1

    def run():
        np.subtract(p, t, out=work, dtype=work.dtype)
        np.square(work, out=work)
        y[0] = np.sum(work, dtype=total) / total(count)

    return run


@offer("ufunc", "cross-entropy cross-entropy.none")
def cross_entropy(job: Job):
    """The logarithm of a softmax less the target's logit: a pass over memory for each step."""
    x, t, y = job.arrays()
    work = scratch_like(job, x, accumulator(x))
    top = scratch(job, (x.shape[0], 1), work.dtype)
    total, chosen = (scratch(job, t.shape, work.dtype) for _ in range(2))
    lines, index, is_ignored = np.arange(len(t)), scratch(job, t.shape, np.intp), scratch(job, t.shape, bool)

    def run():
        np.equal(t, IGNORED, out=is_ignored)
        np.maximum(t, 0, out=index)
        np.max(x, axis=1, keepdims=True, out=top)
        np.subtract(x, top, out=work)
        np.copyto(chosen, work[lines, index])
        np.exp(work, out=work)
        np.sum(work, axis=1, out=total)
        np.log(total, out=total)
        np.subtract(total, chosen, out=total)
        np.copyto(total, 0, where=is_ignored)
        if job.variant == "none":
            np.copyto(y, total, casting="same_kind")
        else:
            y[0] = np.sum(total) / work.dtype.type(len(t) - np.count_nonzero(is_ignored))

    return run


@offer("ufunc", "cross-entropy-prob")
def cross_entropy_prob(job: Job):
    """Maximum, logarithm, product, sum: a pass over memory each."""
    p, t, y = job.arrays()
    work = scratch(job, p.shape, accumulator(p))

    def run():
        np.maximum(p, SMALLEST, out=work, dtype=work.dtype)
        np.log(work, out=work)
        np.multiply(work, t, out=work)
        y[0] = -np.sum(work)

    return run
