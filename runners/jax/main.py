"""JAX as a peer: each formula under `jit`, on CPU and GPU, timed until its result is ready.

JAX writes into no given memory, so the output is fresh and copied off the clock. bf16 and f16 are
computed in f32 and rounded once, at the output, as the cases declare. XLA flushes denormals to zero, which
many small results of a softmax are; that of f16 is far from them in f32. On a GPU products are
asked for in the highest precision, as f32 would be rounded to tf32 otherwise; those of i8 are not offered there,
because twice the product came back for shapes such as 3 × 6 × 6 (tried on JAX 0.11.2, which is not the pinned
version).
"""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from roofline_runner import Job, Runner  # before jax: this binds the clock

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

GPUS = {}
with contextlib.suppress(RuntimeError):  # There is none, or this JAX was made without.
    GPUS = {f"cuda:{index}": gpu for index, gpu in enumerate(jax.devices("cuda"))}

notes = {"jaxlib": jax.lib.__version__} | {name: gpu.device_kind for name, gpu in GPUS.items()}
runner = Runner("jax", jax.__version__, ["cpu", *GPUS], notes)


def offer(operation: str, dtypes: list[str], requires: str = "", params: tuple[str, ...] = ()):
    """Offers a formula over arrays as an implementation."""

    def register(formula):
        for device, known in [("cpu", dtypes), ("cuda", [dtype for dtype in dtypes if dtype != "i8"])]:
            runner.implementation(
                "jax/jit",
                operation=operation,
                dtypes=known,
                about=formula.__doc__,
                output="fresh",
                parallel=device == "cpu",
                devices=[device],
                requires=requires,
                params=params,
            )(lambda job: prepare(job, partial(formula, **job.params)))
        return formula

    return register


@offer("add", FLOATS)
def add(x, y):
    """x + y."""
    return x + y


@offer("softmax", ["f64", "f32", "bf16"], requires="flushes denormals")
@offer("softmax", ["f16"])
def softmax(x):
    """jax.nn.softmax, in f32 at least."""
    return jax.nn.softmax(wide(x), axis=-1).astype(x.dtype)


@offer("rms-norm", FLOATS, params=("eps",))
def rms_norm(x, w, eps):
    """The formula, in f32 at least."""
    scale = jax.lax.rsqrt(jnp.mean(jnp.square(wide(x)), axis=-1, keepdims=True) + eps)
    return (wide(x) * scale * wide(w)).astype(x.dtype)


@offer("matmul", [*FLOATS, "i8"])
def matmul(a, b):
    """jax.lax.dot_general over the last axes."""
    return product(a, b, 1)


@offer("matmul.nn", [*FLOATS, "i8"])
def matmul_nn(a, b):
    """jax.lax.dot_general over the last and the first axis."""
    return product(a, b, 0)


def product(a, b, axis: int):
    """A product with sums in i32, or in f32 at least."""
    integers = a.dtype == jnp.int8
    sums = jnp.int32 if integers else wide(a).dtype
    result = jax.lax.dot_general(a, b, (((1,), (axis,)), ((), ())), preferred_element_type=sums)
    return result if integers else result.astype(a.dtype)


def wide(x):
    """The array in the type to compute in."""
    return x.astype(jnp.promote_types(x.dtype, jnp.float32))


def prepare(job: Job, formula):
    """Compiles, and hands over the inputs: without a copy where JAX can, which is at multiples of 64 bytes."""
    inputs = [tensor.array() for tensor in job.inputs]
    if job.device != "cpu":
        return prepare_on(GPUS[job.device], job, formula, inputs)
    arrays = [jax.device_put(array, CPU) for array in inputs]
    shared = all(array.unsafe_buffer_pointer() == one.address for array, one in zip(arrays, job.inputs))
    job.notes["inputs"] = "shared" if shared else "copied at each launch: not at multiples of 64 bytes"
    call = jax.jit(formula)
    with job.timed_note("compile"):
        call(*arrays).block_until_ready()
    if shared:
        return lambda: call(*arrays).block_until_ready()
    return lambda: call(*jax.device_put(inputs, CPU)).block_until_ready()


def prepare_on(gpu: jax.Device, job: Job, formula, inputs: list):
    """Compiles for a GPU, where launches follow one another and the last is waited for."""
    arrays = jax.device_put(inputs, gpu)
    with job.timed_note("compile"), jax.default_matmul_precision("highest"):
        call = jax.jit(formula).lower(*arrays).compile()

    def bring():
        arrays[:] = jax.block_until_ready(jax.device_put(inputs, gpu))

    job.elsewhere(bring, jax.block_until_ready, lambda result: result)
    return lambda: call(*arrays)


if __name__ == "__main__":
    runner.serve()
