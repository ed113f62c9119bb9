"""Products of matrices; integers by torch._int_mm."""

from __future__ import annotations

from functools import partial

import torch
from common import FLOATS, Job, runner, tensors
from offers import compiler, warmed

PRODUCTS = ["f64", "f32", "f16", "i8"]
# What products in bf16 require on this processor.
FOR_TILES = "finite" if torch.cpu._is_amx_tile_supported() else ""
# What torch._int_mm requires on a GPU.
FOR_INTEGERS = "m > 16, n % 8 == 0, k % 8 == 0"


def product(name: str):
    """Offers a function for both forms of the product, in all types and on all devices."""

    def register(prepare):
        for operation in ("matmul", "matmul.nn"):
            offer = partial(runner.implementation, name, operation=operation)
            offer(dtypes=PRODUCTS, parallel=True)(prepare)
            offer(dtypes=["bf16"], parallel=True, requires=FOR_TILES)(prepare)
            offer(dtypes=FLOATS, devices=["cuda"])(prepare)
            offer(dtypes=["i8"], devices=["cuda"], requires=FOR_INTEGERS)(prepare)
        return prepare

    return register


@product("torch/eager")
def matmul(job: Job):
    """torch.mm with `out`; torch._int_mm for i8."""
    a, b, c = tensors(job)
    return partial(multiply, a, b if job.variant == "nn" else b.t(), c)


@runner.implementation("torch/eager", operation="bmm.nn", dtypes=PRODUCTS[:-1], parallel=True)
@runner.implementation("torch/eager", operation="bmm.nn", dtypes=["bf16"], parallel=True, requires=FOR_TILES)
@runner.implementation("torch/eager", operation="bmm", dtypes=PRODUCTS[:-1], parallel=True)
@runner.implementation("torch/eager", operation="bmm", dtypes=["bf16"], parallel=True, requires=FOR_TILES)
def bmm(job: Job):
    """torch.bmm with `out`."""
    a, b, c = tensors(job)
    return partial(torch.bmm, a, b if job.variant == "nn" else b.mT, out=c)


@product("torch/compile")
def compiled_matmul(job: Job):
    """torch.compile of torch.mm, of torch._int_mm for i8."""
    return warmed(job, partial(compiler(multiply_rows if job.variant == "" else multiply), *tensors(job)))


def multiply(a, b, c):
    """c = a · b."""
    product = torch._int_mm if a.dtype == torch.int8 else torch.mm
    product(a, b, out=c)


def multiply_rows(a, b, c):
    """c = a · bᵀ."""
    multiply(a, b.t(), c)
