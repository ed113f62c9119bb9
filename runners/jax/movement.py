"""Operations that move elements and compute nothing: in the type that they have, bit for bit."""

from __future__ import annotations

from functools import partial

import jax.numpy as jnp
from common import FLOATS, Job, prepare, rounded_once, runner


def move(operation: str):
    """Offers what a function makes of the job: a function of arrays."""

    def register(made):
        for device in ("cpu", "cuda"):
            runner.implementation(
                "jax/jit",
                operation=operation,
                dtypes=FLOATS,
                about=made.__doc__,
                output="fresh",
                parallel=device == "cpu",
                devices=[device],
            )(lambda job: prepare(job, rounded_once(job, made(job), widen=False)))
        return made

    return register


@move("copy")
def copy(_job: Job):
    """jax.numpy.copy."""
    return jnp.copy


@move("reshape")
def reshape(job: Job):
    """jax.numpy.reshape."""
    return partial(jnp.reshape, shape=job.outputs[0].shape)


@move("transpose")
def transpose(_job: Job):
    """jax.numpy.transpose."""
    return jnp.transpose


PERMUTATIONS = {"": (2, 1, 0), "021": (0, 2, 1), "102": (1, 0, 2), "120": (1, 2, 0), "201": (2, 0, 1)}


@move("permute")
@move("permute.021")
@move("permute.102")
@move("permute.120")
@move("permute.201")
def permute(job: Job):
    """jax.numpy.transpose of three axes."""
    return partial(jnp.transpose, axes=PERMUTATIONS[job.variant])


@move("expand")
def expand(job: Job):
    """jax.numpy.broadcast_to."""
    return partial(jnp.broadcast_to, shape=job.outputs[0].shape)


@move("cat")
def cat(_job: Job):
    """jax.numpy.concatenate."""
    return lambda x, y: jnp.concatenate((x, y), axis=1)


@move("stack")
def stack(_job: Job):
    """jax.numpy.stack."""
    return lambda x, y: jnp.stack((x, y))


@move("split")
def split(job: Job):
    """jax.numpy.split."""
    return partial(jnp.split, indices_or_sections=[job.outputs[0].shape[1]], axis=1)
