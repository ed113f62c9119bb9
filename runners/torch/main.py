"""PyTorch as a peer: eager functions with `out=` where there is one, and the same compiled, on CPU and GPU.

bf16 and f16 accumulate in f32 and are rounded once, at the output, as the cases declare. Where a
function of the library rounds in between (`rms_norm`), it is offered for the wide types only and the
formula is written out for the others. oneDNN's bf16 products in AMX tiles let an infinity or NaN of one row
spread to others, so where a processor has AMX they require finite inputs. On a GPU products keep
their sums in f32, and a sample ends when the device has finished; `rms_norm` gives NaN there where 0 is
due (tried on torch 2.11, which is not the pinned version), and is not offered.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from roofline_runner import Job, Runner  # before torch: this binds the clock

try:
    import torch
except ImportError as error:
    print(f"the torch runner needs torch: {error}", file=sys.stderr)
    sys.exit(3)

torch.set_grad_enabled(False)
# A process serves many cases, each of them a shape of its own.
torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1 << 16

WIDE = ["f64", "f32"]
FLOATS = [*WIDE, "f16", "bf16"]
PRODUCTS = ["f64", "f32", "f16", "i8"]
# What products in bf16 require on this processor.
FOR_TILES = "finite" if torch.cpu._is_amx_tile_supported() else ""
# What torch._int_mm requires on a GPU.
FOR_INTEGERS = "m > 16, n % 8 == 0, k % 8 == 0"
ANYWHERE = ["cpu", "cuda"]

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

gpus = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
notes = {"cpu capability": torch.backends.cpu.get_cpu_capability(), "threading": "OpenMP, parked when idle"}
notes |= {gpu: torch.cuda.get_device_name(gpu) for gpu in gpus}
runner = Runner("torch", torch.__version__, ["cpu", *gpus], notes)


@runner.implementation("torch/eager", operation="add", dtypes=FLOATS, parallel=True, devices=ANYWHERE)
def add(job: Job):
    """torch.add with `out`."""
    x, y, z = tensors(job)
    return lambda: torch.add(x, y, out=z)


@runner.implementation("torch/eager", operation="softmax", dtypes=FLOATS, parallel=True, devices=ANYWHERE)
def softmax(job: Job):
    """torch.softmax with `out`."""
    x, y = tensors(job)
    return lambda: torch.softmax(x, -1, out=y)


@runner.implementation(
    "torch/eager", operation="rms-norm", dtypes=WIDE, output="fresh", parallel=True, params=["eps"]
)
def rms_norm(job: Job):
    """torch.nn.functional.rms_norm, which has no `out`."""
    (x, w, _), eps = tensors(job), job.params["eps"]
    return lambda: torch.nn.functional.rms_norm(x, w.shape, w, eps)


@runner.implementation(
    "torch/formula", operation="rms-norm", dtypes=FLOATS, parallel=True, devices=ANYWHERE, params=["eps"]
)
def rms_norm_by_formula(job: Job):
    """The formula, a function of torch for each step, in f32 at least."""
    return partial(normalise, *tensors(job), **job.params)


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


@runner.implementation("torch/compile", operation="add", dtypes=FLOATS, parallel=True, devices=ANYWHERE)
def compiled_add(job: Job):
    """torch.compile of the sum."""
    return compiled(job, add_into)


@runner.implementation("torch/compile", operation="softmax", dtypes=FLOATS, parallel=True, devices=ANYWHERE)
def compiled_softmax(job: Job):
    """torch.compile of torch.softmax, in f32 at least."""
    return compiled(job, softmax_into)


@runner.implementation(
    "torch/compile", operation="rms-norm", dtypes=FLOATS, parallel=True, devices=ANYWHERE, params=["eps"]
)
def compiled_rms_norm(job: Job):
    """torch.compile of the formula, in f32 at least."""
    return compiled(job, normalise)


@product("torch/compile")
def compiled_matmul(job: Job):
    """torch.compile of torch.mm, of torch._int_mm for i8."""
    return compiled(job, multiply_rows if job.variant == "" else multiply)


def compiled(job: Job, function):
    """The function compiled for exactly these shapes; what that took is noted, and timed nowhere."""
    call = partial(compiler(function), *tensors(job), **job.params)
    with job.timed_note("compile"):
        call()
    return call


# One a function: shapes that it has seen before are not compiled again.
compiler = cache(partial(torch.compile, dynamic=False))


def add_into(x, y, z):
    """z = x + y."""
    z.copy_(x + y)


def softmax_into(x, y):
    """y = softmax(x)."""
    y.copy_(torch.softmax(x, -1, dtype=wide(x)))


def normalise(x, w, y, eps):
    """y = rms-norm(x, w)."""
    wide_x, wide_w = x.to(wide(x)), w.to(wide(x))
    y.copy_(wide_x * torch.rsqrt(wide_x.square().mean(-1, keepdim=True) + eps) * wide_w)


def multiply(a, b, c):
    """c = a · b."""
    product = torch._int_mm if a.dtype == torch.int8 else torch.mm
    product(a, b, out=c)


def multiply_rows(a, b, c):
    """c = a · bᵀ."""
    multiply(a, b.t(), c)


def wide(x: torch.Tensor) -> torch.dtype:
    """The type to compute in."""
    return torch.promote_types(x.dtype, torch.float32)


def tensors(job: Job) -> list[torch.Tensor]:
    """The tensors to compute with, on the job's device, and torch held to the job's threads."""
    torch.set_num_threads(job.threads)
    shared = shared_tensors(job)
    if job.device == "cpu":
        return shared
    copies = [tensor.to(job.device) for tensor in shared]
    inputs = len(job.inputs)

    def bring():
        for copy, tensor in zip(copies[:inputs], shared):
            copy.copy_(tensor)
        torch.cuda.synchronize(job.device)

    # What has no `out` returns its result instead.
    def fetch(result):
        shared[-1].copy_(copies[-1] if result is None else result)

    job.elsewhere(bring, lambda _: torch.cuda.synchronize(job.device), fetch)
    return copies


def shared_tensors(job: Job) -> list[torch.Tensor]:
    """The job's tensors over the shared memory itself."""
    found = []
    for tensor in job.tensors:
        # numpy has no bf16: its bits, looked at as what they are.
        bits = tensor.dtype == "bf16"
        one = torch.from_dlpack(tensor.array("uint16" if bits else None))
        one = one.view(torch.bfloat16) if bits else one
        if one.data_ptr() != tensor.address:
            raise RuntimeError(f"torch copied `{tensor.name}` instead of using it")
        found.append(one)
    return found


if __name__ == "__main__":
    runner.serve()
