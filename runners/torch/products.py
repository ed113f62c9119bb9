"""Products of matrices; integers by torch._int_mm."""

from __future__ import annotations

from functools import partial

import torch
from common import FLOATS, Job, runner, tensors
from offers import compiled, compiler, step_by_step, warmed

PRODUCTS = ["f64", "f32", "f16", "i8"]
# What products in bf16 require on this processor.
FOR_TILES = "finite" if torch.cpu._is_amx_tile_supported() else ""
# What torch._int_mm requires on a GPU.
FOR_INTEGERS = "m > 16, n % 8 == 0, k % 8 == 0"


def product(name: str):
    """Offers a function for all forms of the product, in all types and on all devices."""

    def register(prepare):
        for operation in ("matmul", "matmul.nn", "matmul.tn", "matmul.tt", "matmul.fixed"):
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
    return partial(BY_FORM[job.variant], *tensors(job))


def bmm(job: Job):
    """torch.bmm with `out`."""
    a, b, c = tensors(job)
    a = a.mT if job.variant in ("tn", "tt") else a
    return partial(torch.bmm, a, b if job.variant in ("nn", "tn") else b.mT, out=c)


for form in ("bmm", "bmm.nn", "bmm.tn", "bmm.tt"):
    runner.implementation("torch/eager", operation=form, dtypes=PRODUCTS[:-1], parallel=True)(bmm)
    runner.implementation("torch/eager", operation=form, dtypes=["bf16"], parallel=True, requires=FOR_TILES)(bmm)


@product("torch/compile")
def compiled_matmul(job: Job):
    """torch.compile of torch.mm, of torch._int_mm for i8."""
    return warmed(job, partial(compiler(BY_FORM[job.variant]), *tensors(job)))


def multiply(a, b, c):
    """c = a · b."""
    product = torch._int_mm if a.dtype == torch.int8 else torch.mm
    product(a, b, out=c)


def multiply_rows(a, b, c):
    """c = a · bᵀ."""
    multiply(a, b.t(), c)


def multiply_turned(a, b, c):
    """c = aᵀ · b."""
    multiply(a.t(), b, c)


def multiply_both_turned(a, b, c):
    """c = aᵀ · bᵀ."""
    multiply(a.t(), b.t(), c)


BY_FORM = {"": multiply_rows, "fixed": multiply_rows, "nn": multiply, "tn": multiply_turned, "tt": multiply_both_turned}


SCALED = ["int8-matmul", "int8-matmul.row", "int8-matmul.channel", "int8-matmul.fixed"]


def scaled_product(a, b, sa, sb):
    """torch._int_mm, its sums as f32 times the scales of rows and columns."""
    return torch._int_mm(a, b.t()).float() * sa[:, None] * sb


def scaled(job: Job):
    """torch._int_mm, then torch.mul with the scales of rows and of columns."""
    a, b, sa, sb, c = tensors(job)
    sums = torch.empty(c.shape, dtype=torch.int32, device=c.device)
    # Scaled where it stands if C can hold it, and rounded once where it cannot.
    wide = c if c.dtype == torch.float32 else torch.empty_like(c, dtype=torch.float32)
    held = [sums] if wide is c else [sums, wide]
    job.workspace_bytes += sum(one.numel() * one.element_size() for one in held)

    def run():
        torch._int_mm(a, b.t(), out=sums)
        torch.mul(sums, sa[:, None], out=wide)
        torch.mul(wide, sb, out=c)

    return run


for operation in SCALED:
    for name, about, prepare in [
        ("torch/eager", scaled.__doc__, scaled),
        ("torch/compile", f"torch.compile of {scaled_product.__doc__}", compiled(scaled_product, ())),
    ]:
        add = partial(runner.implementation, name, operation=operation, about=about, dtypes=["i8-f32", "i8-bf16"])
        add(parallel=True)(prepare)
        add(devices=["cuda"], requires=FOR_INTEGERS)(prepare)


def of_narrow_weights(a, b):
    """torch.matmul in f32, weights widened first."""
    return a @ b.T


for operation in ("matmul", "matmul.fixed"):
    for way, prepare in [("formula", step_by_step), ("compile", compiled)]:
        runner.implementation(
            f"torch/{way}",
            operation=operation,
            dtypes=["w16a32", "w16a32-f16"],
            about=f"{'torch.compile of ' if way == 'compile' else ''}{of_narrow_weights.__doc__[:-1]}",
            parallel=True,
            devices=["cpu", "cuda"],
        )(prepare(of_narrow_weights, ()))
