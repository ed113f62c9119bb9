"""Sparse matrices, by jax.experimental.sparse."""

from __future__ import annotations

import jax.numpy as jnp
from common import offer
from jax.experimental.sparse import BCOO, BCSR


def by_rows(values, columns, offsets, x):
    """A product of jax.experimental.sparse.BCSR."""
    return BCSR((values, columns, offsets), shape=(offsets.shape[0] - 1, x.shape[0])) @ x


def by_places(values, columns, row_of, x, rows):
    """A product of jax.experimental.sparse.BCOO."""
    return BCOO((values, jnp.stack((row_of, columns), -1)), shape=(rows, x.shape[0])) @ x


offer("spmv spmm", by_rows)
offer("spmv.coo spmm.coo", by_places, sizes=["rows"])


def csr_to_coo(offsets, nnz):
    """jax.numpy.repeat of the numbers of rows."""
    rows = jnp.arange(offsets.shape[0] - 1, dtype=offsets.dtype)
    return jnp.repeat(rows, jnp.diff(offsets), total_repeat_length=nnz)


def coo_to_csr(row_of, rows):
    """jax.numpy.bincount and jax.numpy.cumsum, jax.numpy.argsort that is stable."""
    ends = jnp.cumsum(jnp.bincount(row_of, length=rows))
    return jnp.concatenate((jnp.zeros(1, ends.dtype), ends)), jnp.argsort(row_of, stable=True)


offer("csr-to-coo", csr_to_coo, ["i32"], sizes=["nnz"])
offer("coo-to-csr", coo_to_csr, ["i32"], sizes=["rows"])
