"""The ways in which a function of torch is offered: eager, step by step in f32 at least, and compiled."""

from __future__ import annotations

from functools import cache, partial

import torch
from common import ANYWHERE, FLOATS, Job, fresh, runner, tensors, widened


def offer(
    operations: str, function, *, eager=FLOATS, out=None, scalar=False, formula=None, params=(), devices=ANYWHERE
):
    """Offers a function of an operation's inputs, and of its parameters by name, for operations named between spaces.

    `torch/eager` is the function as it is, for the types in `eager` that it is right for, and on `devices`. With `out` it
    writes into the given memory: `True` where the function takes `out=`, else another function that does; `scalar` says
    that it makes a number without axes. Where it is not right for all types, `torch/formula` computes in f32 at least.
    `torch/compile` does so too. Both take `formula` instead of the function where there is one.
    """
    out, steps = function if out is True else out, formula or function
    for operation in operations.split():
        add = partial(runner.implementation, operation=operation, parallel=True, params=params)
        if eager and out:
            about = f"{named(function)} into the output"
            add("torch/eager", dtypes=eager, devices=devices, about=about)(partial(in_place, out, scalar))
        elif eager:
            about = f"{named(function)}, which has no `out`"
            add("torch/eager", dtypes=eager, devices=devices, about=about, output="fresh")(partial(returned, function))
        everywhere = partial(add, dtypes=FLOATS, devices=ANYWHERE)
        if eager is not FLOATS or devices is not ANYWHERE:
            about = f"{named(steps)}, a function of torch for each step, in f32 at least"
            everywhere("torch/formula", about=about)(partial(step_by_step, steps))
        everywhere("torch/compile", about=f"torch.compile of {named(steps)}, in f32 at least")(partial(compiled, steps))


def in_place(function, scalar: bool, job: Job):
    """A function that writes into the output, or into the outputs."""
    given = tensors(job)
    inputs, outputs = given[: len(job.inputs)], given[len(job.inputs) :]
    output = outputs[0].view(()) if scalar else outputs[0] if len(outputs) == 1 else outputs
    return partial(function, *inputs, **job.params, out=output)


def returned(function, job: Job):
    """A function that returns its result."""
    return partial(function, *fresh(job), **job.params)


def step_by_step(function, job: Job):
    """A function on wide inputs, its results rounded once."""
    return partial(rounded_once(function, len(job.inputs)), *tensors(job), **job.params)


def compiled(function, job: Job):
    """The same compiled for exactly these shapes; what that took is noted, and timed nowhere."""
    call = partial(compiler(rounded_once(function, len(job.inputs))), *tensors(job), **job.params)
    with job.timed_note("compile"):
        call()
    return call


def compiled_as_it_is(function, job: Job):
    """A function that writes into `out`, compiled."""
    call = in_place(compiler(function), False, job)
    with job.timed_note("compile"):
        call()
    return call


# One a function: shapes that it has seen before are not compiled again.
compiler = cache(partial(torch.compile, dynamic=False))


@cache
def rounded_once(function, inputs: int):
    """A function of inputs in f32 at least, and of outputs that its results are written to."""

    def run(*tensors, **params):
        results = function(*(widened(tensor) for tensor in tensors[:inputs]), **params)
        results = results if isinstance(results, tuple) else (results,)
        for output, result in zip(tensors[inputs:], results):
            output.copy_(result.reshape(output.shape))

    return run


def named(function) -> str:
    """What a list of implementations calls a function: its first line, or its name in torch."""
    while isinstance(function, partial):
        function = function.func
    if function.__module__ in ("functions", "movement", "elementwise"):
        return function.__doc__.partition("\n")[0].rstrip(".")
    return f"torch.{function.__name__}"
