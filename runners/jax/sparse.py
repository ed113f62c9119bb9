"""Products with sparse matrices, by jax.experimental.sparse."""

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
offer("spmv.coo", by_places, sizes=["rows"])
