"""Products with sparse matrices, of which numpy has no type: what is gathered, and sums of its parts. f16 is summed in f32."""

from __future__ import annotations

import numpy as np
from common import Job, accumulator, offer, scratch


@offer("reduceat", "spmv spmm")
def by_rows(job: Job):
    """numpy.take, product, numpy.add.reduceat over the rows that have values, zeros for the others."""
    values, columns, offsets, x, y = job.arrays()
    dtype = accumulator(y)
    products = scratch(job, (*columns.shape, *x.shape[1:]), dtype)
    factors = values[:, None] if x.ndim > 1 else values

    def run():
        np.multiply(factors, np.take(x, columns, axis=0), out=products, dtype=dtype)
        filled = np.flatnonzero(np.diff(offsets))
        y.fill(0)
        y[filled] = np.add.reduceat(products, offsets[filled], axis=0)

    return run


@offer("bincount", "spmv.coo")
def by_places(job: Job):
    """numpy.take, product, numpy.bincount with weights, which sums in f64."""
    values, columns, rows, x, y = job.arrays()
    products = scratch(job, columns.shape, accumulator(y))

    def run():
        np.multiply(values, np.take(x, columns), out=products, dtype=products.dtype)
        np.copyto(y, np.bincount(rows, products, y.size), casting="same_kind")

    return run
