"""The ways in which a function of torch is offered: eager, step by step in f32 at least, and compiled."""

from __future__ import annotations

from functools import cache, partial

import torch
from common import ANYWHERE, FLOATS, WIDE, Job, fresh, runner, tensors, widened


def offer(
    operations: str,
    function,
    *,
    eager=FLOATS,
    out=None,
    scalar=False,
    formula=None,
    params=(),
    sizes=(),
    narrow_params=None,
    devices=ANYWHERE,
    requires="",
):
    """Offers a function of an operation's inputs, and of its parameters and `sizes` by name, for operations named between
    spaces.

    `torch/eager` is the function as it is, for the types in `eager` that it is right for, and on `devices`. With `out` it
    writes into the given memory: `True` where the function takes `out=`, else another function that does; `scalar` says
    that it makes a number without axes. `narrow_params` are the parameters that it is right for in bf16 and f16, where
    they are not all. Where anything is missing, `torch/formula` computes in f32 at least; `torch/compile` always does.
    Both take `formula` instead of the function where there is one; `False` leaves the first out, where f32 is not
    right either. `torch/max-autotune` is the compiled one on a GPU, its kernels chosen by trying. What the function
    `requires`, though not in f64, holds for all but the compiled ones.
    """
    out, steps = function if out is True else out, formula or function
    ways = {}
    if eager and out:
        ways["eager"] = f"{named(function)} into the output", in_place(out, scalar, (*params, *sizes)), eager, devices
    elif eager:
        ways["eager"] = f"{named(function)}, which has no `out`", returned(function, (*params, *sizes)), eager, devices
    is_whole = eager is FLOATS and devices is ANYWHERE and narrow_params is None
    if formula is not False and not is_whole:
        about = f"{named(steps)}, a function of torch for each step, in f32 at least"
        ways["formula"] = about, step_by_step(steps, (*params, *sizes)), FLOATS, ANYWHERE
    about = f"torch.compile of {named(steps)}, in f32 at least"
    ways["compile"] = about, compiled(steps, (*params, *sizes)), FLOATS, ANYWHERE
    about = f"the same, kernels chosen by trying those that inductor knows: {named(steps)}"
    ways["max-autotune"] = about, compiled(steps, (*params, *sizes), autotuned), FLOATS, ["cuda"]
    for operation in operations.split():
        for way, (about, prepare, dtypes, where) in ways.items():
            add = partial(
                runner.implementation,
                f"torch/{way}",
                operation=operation,
                about=about,
                parallel=True,
                devices=where,
            )
            if narrow_params is not None and way == "eager":
                add(dtypes=[dtype for dtype in dtypes if dtype not in WIDE], params=narrow_params)(prepare)
                dtypes = WIDE
            add = partial(add, params=params)
            if requires and way in ("eager", "formula"):
                add(dtypes=[dtype for dtype in dtypes if dtype != "f64"], requires=requires)(prepare)
                dtypes = ["f64"]
            add(dtypes=dtypes)(prepare)


def in_place(function, scalar: bool = False, params=()):
    """Prepares a function that writes into the output, or into the outputs."""

    def prepare(job: Job):
        given = tensors(job)
        inputs, outputs = given[: len(job.inputs)], given[len(job.inputs) :]
        output = outputs[0].view(()) if scalar else outputs[0] if len(outputs) == 1 else outputs
        return partial(function, *inputs, **chosen(job, params), out=output)

    return prepare


def returned(function, params):
    """Prepares a function that returns its result."""
    return lambda job: partial(function, *fresh(job), **chosen(job, params))


def step_by_step(function, params):
    """Prepares a function on wide inputs, its results rounded once."""

    def prepare(job: Job):
        return partial(rounded_once(function, len(job.inputs)), *tensors(job), **chosen(job, params))

    return prepare


def compiled(function, params, by=None):
    """Prepares the same, compiled for exactly these shapes."""

    def prepare(job: Job):
        wide = (by or compiler)(rounded_once(function, len(job.inputs)))
        return warmed(job, partial(wide, *tensors(job), **chosen(job, params)))

    return prepare


def warmed(job: Job, call):
    """A compiled function after its first call; what that took is noted, and timed nowhere."""
    with job.timed_note("compile"):
        call()
    return call


def chosen(job: Job, names) -> dict[str, float]:
    """The parameters and sizes that a function takes."""
    return {name: job.params.get(name, job.axes.get(name)) for name in names}


# One a function: shapes that it has seen before are not compiled again.
compiler = cache(partial(torch.compile, dynamic=False))
# Our own graphs record its launches: those of inductor would copy inputs.
autotuned = cache(partial(torch.compile, dynamic=False, mode="max-autotune-no-cudagraphs"))


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
    if (function.__module__ or "torch").partition(".")[0] != "torch":
        return function.__doc__.partition("\n")[0].rstrip(".")
    return f"torch.{function.__name__}"
