"""The runner, and how a formula over arrays is compiled and offered."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from roofline_runner import Job, Runner, cuda  # before jax: this binds the clock

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    print(f"the jax runner needs jax: {error}", file=sys.stderr)
    sys.exit(3)

# A launch is waited for anyway, and so it runs on the thread that waits, not on one more.
jax.config.update("jax_cpu_enable_async_dispatch", False)

CPU = jax.devices("cpu")[0]
FLOATS = ["f64", "f32", "f16", "bf16"]

WANTED = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "fp8-e4m3": "float8_e4m3fn",
    "fp8-e5m2": "float8_e5m2",
    "i8": "int8",
    "u8": "uint8",
    "i32": "int32",
}

GPUS = {}
with contextlib.suppress(RuntimeError):  # There is none, or this JAX was made without.
    GPUS = {f"cuda:{index}": gpu for index, gpu in enumerate(jax.devices("cuda"))}

notes = {"jaxlib": jax.lib.__version__} | {name: gpu.device_kind for name, gpu in GPUS.items()}
runner = Runner("jax", jax.__version__, ["cpu", *GPUS], notes)


def offer(operations: str, formula, dtypes=FLOATS, *, widen=True, requires: str = "", params=(), sizes=(), gpu=True):
    """Offers a formula over arrays, and over parameters and sizes by name, for operations named between spaces.

    With `widen` its arrays are in f32 at least; without `gpu` it is for the CPU alone. What it returns is rounded
    once, to the output's type.
    """
    for operation in operations.split():
        devices = [("cpu", dtypes), ("cuda", [dtype for dtype in dtypes if not dtype.startswith("i8")])]
        for device, known in devices if gpu else devices[:1]:
            if not known:
                continue
            runner.implementation(
                "jax/jit",
                operation=operation,
                dtypes=known,
                about=named(formula),
                output="fresh",
                parallel=device == "cpu",
                devices=[device],
                requires=requires,
                params=params,
            )(lambda job: prepare(job, rounded_once(job, formula, widen, (*params, *sizes))))


def offer_flushing(operations: str, formula, dtypes=("f64", "f32", "bf16"), **more) -> None:
    """Offers a formula whose small results are denormal numbers, which XLA takes for zero; in f32, those of f16 are not."""
    offer(operations, formula, list(dtypes), requires="flushes denormals", **more)
    offer(operations, formula, ["f16"], **more)


def rounded_once(job: Job, formula, widen: bool, names=()):
    """The formula with its parameters and sizes, and with what surrounds it."""
    chosen = {name: job.params.get(name, job.axes.get(name)) for name in names}
    outputs = [(tensor.shape, jnp.dtype(WANTED[tensor.dtype])) for tensor in job.outputs]

    def run(*arrays):
        results = formula(*(widened(array) if widen else array for array in arrays), **chosen)
        if len(outputs) == 1:
            results = (results,)
        results = tuple(one.reshape(shape).astype(dtype) for one, (shape, dtype) in zip(results, outputs))
        return results if len(results) > 1 else results[0]

    return run


def widened(x):
    """The array in the type to compute in; integers stay."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return x.astype(jnp.float64 if x.dtype == jnp.float64 else jnp.float32)


def prepare(job: Job, formula):
    """Compiles, and hands over the inputs: without a copy where JAX can, which is at multiples of 64 bytes."""
    if job.device != "cpu" and job.tensors[0].is_on_device:
        return prepare_shared(GPUS[job.device], job, formula)
    inputs = [tensor.array() for tensor in job.inputs]
    if job.device != "cpu":
        return prepare_on(GPUS[job.device], job, formula, inputs)
    arrays, shared = on_the_cpu(job)
    call = jax.jit(formula)
    with job.timed_note("compile"):
        jax.block_until_ready(call(*arrays))
    if not shared:
        return lambda: jax.block_until_ready(call(*jax.device_put(inputs, CPU)))
    if len(job.outputs) > 1:
        return lambda: jax.block_until_ready(call(*arrays))
    return lambda: call(*arrays).block_until_ready()


def on_the_cpu(job: Job) -> tuple[list[jax.Array], bool]:
    """The inputs, and whether they are the given memory itself."""
    arrays = [jax.device_put(tensor.array(), CPU) for tensor in job.inputs]
    shared = all(array.unsafe_buffer_pointer() == one.address for array, one in zip(arrays, job.inputs))
    job.notes["inputs"] = "shared" if shared else "copied at each launch: not at multiples of 64 bytes"
    return arrays, shared


def prepare_on(gpu: jax.Device, job: Job, formula, inputs: list):
    """Compiles for a GPU, where launches follow one another and the last is waited for."""
    arrays = jax.device_put(inputs, gpu)
    with job.timed_note("compile"), jax.default_matmul_precision("highest"):
        call = jax.jit(formula).lower(*arrays).compile()

    def bring():
        arrays[:] = jax.block_until_ready(jax.device_put(inputs, gpu))

    job.elsewhere(bring, jax.block_until_ready, lambda result: result)
    return lambda: call(*arrays)


def prepare_shared(gpu: jax.Device, job: Job, formula):
    """The same on tensors that lie on the GPU already: copied there, device to device, before launches and after them.

    XLA aligns and owns what it computes with, so it takes no memory of others for bf16, nor for a result.
    """
    arrays = [jax.device_put(jnp.zeros(one.shape, WANTED[one.dtype]), gpu) for one in job.inputs]
    jax.block_until_ready(arrays)
    job.notes["inputs"] = "copied on the device before each visit"
    with job.timed_note("compile"), jax.default_matmul_precision("highest"):
        call = jax.jit(formula).lower(*arrays).compile()

    def bring():
        for array, tensor in zip(arrays, job.inputs):
            cuda.copy(array.unsafe_buffer_pointer(), tensor.address, tensor.bytes)

    def fetch(results):
        results = results if isinstance(results, tuple) else (results,)
        for tensor, result in zip(job.outputs, jax.block_until_ready(results)):
            cuda.copy(tensor.address, result.unsafe_buffer_pointer(), tensor.bytes)

    job.elsewhere(bring, jax.block_until_ready, fetch)
    return lambda: call(*arrays)


def named(formula) -> str:
    """What a list of implementations calls a formula: its first line, or its name in JAX."""
    while isinstance(formula, partial):
        formula = formula.func
    if not formula.__module__.startswith("jax"):
        return formula.__doc__.partition("\n")[0]
    home = "jax.nn" if formula.__module__.startswith("jax._src.nn") else "jax.numpy"
    return f"{home}.{formula.__name__}"
