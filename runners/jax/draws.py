"""Dropout by JAX's own generator, whose key each launch hands to the next. On the CPU."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from common import CPU, FLOATS, Job, on_the_cpu, runner, widened


def dropped(key, x, p):
    """The next key, and x with elements set to zero and the others scaled."""
    key, now = jax.random.split(key)
    is_kept = jax.random.bernoulli(now, 1 - p, x.shape)
    return key, jnp.where(is_kept, widened(x) / (1 - p), 0).astype(x.dtype)


@runner.implementation(
    "jax/jit", operation="dropout.free", dtypes=FLOATS, output="fresh", parallel=True, params=["p"]
)
def dropout(job: Job):
    """jax.random.bernoulli, and jax.numpy.where."""
    (x,), shared = on_the_cpu(job)
    given, key = job.inputs[0].array(), jax.device_put(jax.random.key(0), CPU)
    call = jax.jit(partial(dropped, **job.params))
    with job.timed_note("compile"):
        jax.block_until_ready(call(key, x))

    def run():
        nonlocal key
        key, y = call(key, x if shared else jax.device_put(given, CPU))
        return y.block_until_ready()

    return run
