"""Sparse matrices: tensors of torch's own kinds over the memory of the cases."""

from __future__ import annotations

import warnings
from functools import partial

import torch
from common import WIDE, Job, runner, tensors

# They are called a beta at the first use.
warnings.filterwarnings("ignore", message="Sparse")


@runner.implementation("torch/eager", operation="spmv", dtypes=WIDE, parallel=True)
@runner.implementation("torch/eager", operation="spmm", dtypes=WIDE, parallel=True)
def by_rows(job: Job):
    """torch.mm of a tensor of the kind sparse_csr, with `out`; x as one column."""
    values, columns, offsets, x, y = tensors(job)
    a = torch.sparse_csr_tensor(offsets, columns, values, (y.shape[0], x.shape[0]), check_invariants=False)
    parts = (a.values(), values), (a.col_indices(), columns), (a.crow_indices(), offsets)
    if any(own.data_ptr() != given.data_ptr() for own, given in parts):
        raise RuntimeError("torch copied the matrix instead of using it")
    # torch.mv reads past the end of its inputs, and where nothing may be read there the process ends.
    return partial(torch.mm, a, x.view(x.shape[0], -1), out=y.view(y.shape[0], -1))


@runner.implementation("torch/eager", operation="spmv.coo", dtypes=WIDE, parallel=True)
@runner.implementation("torch/eager", operation="spmm.coo", dtypes=WIDE, parallel=True)
def by_places(job: Job):
    """torch.mv or torch.mm of a tensor of the kind sparse_coo, which is made at each launch: its indices are one tensor of i64."""
    values, columns, rows, x, y = tensors(job)
    multiply = torch.mv if x.ndim == 1 else torch.mm

    def run():
        a = torch.sparse_coo_tensor(torch.stack((rows, columns)), values, (y.shape[0], x.shape[0]), check_invariants=False)
        y.copy_(multiply(a, x))

    return run


@runner.implementation("torch/eager", operation="csr-to-coo", dtypes=["i32"], parallel=True)
def csr_to_coo(job: Job):
    """torch.repeat_interleave of the numbers of rows."""
    offsets, row_of = tensors(job)
    rows = torch.arange(offsets.shape[0] - 1, dtype=torch.int32, device=offsets.device)
    job.workspace_bytes += rows.numel() * rows.element_size()
    return lambda: row_of.copy_(torch.repeat_interleave(rows, offsets.diff(), output_size=row_of.shape[0]))


@runner.implementation("torch/eager", operation="coo-to-csr", dtypes=["i32"], parallel=True)
def coo_to_csr(job: Job):
    """torch.bincount and torch.cumsum, torch.sort that is stable."""
    row_of, offsets, order = tensors(job)
    rows = offsets.shape[0] - 1

    def run():
        offsets[0] = 0
        torch.cumsum(torch.bincount(row_of, minlength=rows), 0, dtype=torch.int32, out=offsets[1:])
        order.copy_(row_of.sort(stable=True).indices)

    return run
