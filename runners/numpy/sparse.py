"""Sparse matrices, of which numpy has no type: what is gathered, and sums of its parts. f16 is summed in f32."""

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


@offer("matmul", "spmv-bsr")
def by_blocks(job: Job):
    """numpy.matmul of each block and numpy.take of x, numpy.add.reduceat over the rows that have blocks, zeros for the others."""
    values, columns, offsets, x, y = job.arrays()
    dtype = accumulator(y)
    products = scratch(job, (*columns.shape, y.shape[1], 1), dtype)

    def run():
        np.matmul(values, np.take(x, columns, axis=0)[:, :, None], out=products, dtype=dtype)
        filled = np.flatnonzero(np.diff(offsets))
        y.fill(0)
        y[filled] = np.add.reduceat(products[:, :, 0], offsets[filled], axis=0)

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


@offer("bincount", "spmv.csc")
def by_columns(job: Job):
    """numpy.repeat of x, product, numpy.bincount with weights, which sums in f64."""
    values, rows, offsets, x, y = job.arrays()
    products = scratch(job, rows.shape, accumulator(y))

    def run():
        np.multiply(values, np.repeat(x, np.diff(offsets)), out=products, dtype=products.dtype)
        np.copyto(y, np.bincount(rows, products, y.size), casting="same_kind")

    return run


@offer("add-at", "spmm.coo")
def rows_by_places(job: Job):
    """numpy.take, product, numpy.add.at."""
    values, columns, rows, x, y = job.arrays()
    products = scratch(job, (*columns.shape, *x.shape[1:]), accumulator(y))
    sums = scratch(job, y.shape, accumulator(y))

    def run():
        np.multiply(values[:, None], np.take(x, columns, axis=0), out=products, dtype=products.dtype)
        sums.fill(0)
        np.add.at(sums, rows, products)
        np.copyto(y, sums, casting="same_kind")

    return run


@offer("repeat", "csr-to-coo", ["i32"])
def csr_to_coo(job: Job):
    """numpy.repeat of the numbers of rows."""
    offsets, row_of = job.arrays()
    rows = scratch(job, (offsets.size - 1,), np.int32)
    np.copyto(rows, np.arange(rows.size))
    return lambda: np.copyto(row_of, np.repeat(rows, np.diff(offsets)))


@offer("argsort", "coo-to-csr", ["i32"])
def coo_to_csr(job: Job):
    """numpy.bincount and numpy.cumsum, numpy.argsort that is stable."""
    row_of, offsets, order = job.arrays()
    rows = offsets.size - 1

    def run():
        offsets[0] = 0
        np.cumsum(np.bincount(row_of, minlength=rows), out=offsets[1:])
        np.copyto(order, np.argsort(row_of, kind="stable"), casting="same_kind")

    return run


@offer("argsort", "coo-to-csr-values coo-to-csr-values.csc")
def coo_to_csr_values(job: Job):
    """numpy.bincount and numpy.cumsum, numpy.argsort that is stable, numpy.take."""
    row_of, columns, values, offsets, columns_out, y = job.arrays()
    rows = offsets.size - 1

    def run():
        offsets[0] = 0
        np.cumsum(np.bincount(row_of, minlength=rows), out=offsets[1:])
        order = np.argsort(row_of, kind="stable")
        np.take(columns, order, out=columns_out)
        np.take(values, order, out=y)

    return run
