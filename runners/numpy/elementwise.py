"""Operations of elements: one function of numpy where there is one, a pass over memory for each step otherwise."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from common import Job, accumulator, offer, scratch, scratch_like, wide

UFUNCS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "negate": np.negative,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "broadcast-add": np.add,
    "broadcast-add.last": np.add,
    "broadcast-add.first": np.add,
}
WITH_A_SCALAR = {"add-scalar": np.add, "scale": np.multiply, "div-scalar": np.divide}
# What `x ** exponent` does without a general power.
POWERS = {2.0: np.square, 1.0: np.positive, 0.5: np.sqrt, -1.0: np.reciprocal}


def offer_ufunc(operation: str, function: np.ufunc) -> None:
    """Offers a function that writes into the given memory."""

    def prepare(job: Job):
        *inputs, output = job.arrays()
        return partial(function, *inputs, output)

    offer("ufunc", operation, about=f"numpy.{function.__name__} into the output")(prepare)


def offer_with_scalar(operation: str, function: np.ufunc) -> None:
    """Offers a function of a tensor and a number, which is no narrower than f32."""

    def prepare(job: Job):
        x, y = job.arrays()
        return partial(function, x, job.params["scalar"], y, dtype=accumulator(x))

    about = f"numpy.{function.__name__} with a number"
    offer("ufunc", operation, about=about, params=["scalar"])(prepare)


for operation, function in UFUNCS.items():
    offer_ufunc(operation, function)
for operation, function in WITH_A_SCALAR.items():
    offer_with_scalar(operation, function)


@offer("ufunc", "relu")
def relu(job: Job):
    """numpy.maximum with zero."""
    x, y = job.arrays()
    return partial(np.maximum, x, x.dtype.type(0), out=y)


@offer("ufunc", "pow-scalar", params=["exponent"])
def pow_scalar(job: Job):
    """numpy.power, or numpy's own function for the exponents 2, 1, 1/2 and -1."""
    (x, y), exponent = job.arrays(), job.params["exponent"]
    if exponent in POWERS:
        return partial(POWERS[exponent], x, y)
    return partial(np.power, x, exponent, y, dtype=accumulator(x))


@offer("ufunc", "axpy axpy.in-place", params=["a"])
def axpy(job: Job):
    """Product, sum: a pass over memory each."""
    (x, y, z), a = job.arrays(), job.params["a"]
    if job.restore:
        y = z
    work = scratch_like(job, z, accumulator(z)) if job.restore else wide(job, z)

    def run():
        np.multiply(x, a, out=work, dtype=work.dtype)
        np.add(work, y, out=z, dtype=work.dtype)

    return run


def steps(operation: str):
    """Offers a formula over an input, memory to compute in, and the output."""

    def register(formula):
        @offer("ufunc", operation, about=formula.__doc__)
        def prepare(job: Job):
            x, y = job.arrays()
            return partial(formula, x, wide(job, y), y)

        return formula

    return register


@steps("sigmoid")
def sigmoid(x, work, y):
    """1 / (1 + exp(-x)), a pass over memory for each step."""
    np.negative(x, out=work, dtype=work.dtype)
    np.exp(work, out=work)
    np.add(work, 1, out=work)
    np.reciprocal(work, out=y, dtype=work.dtype)


@steps("silu")
def silu(x, work, y):
    """x / (1 + exp(-x)), a pass over memory for each step."""
    scaled_sigmoid(x, 1.0, work, y)


@steps("gelu-quick")
def gelu_quick(x, work, y):
    """x / (1 + exp(-1.702 x)), a pass over memory for each step."""
    scaled_sigmoid(x, 1.702, work, y)


def scaled_sigmoid(x, factor, work, y):
    """y = x / (1 + exp(-factor · x))."""
    np.multiply(x, -factor, out=work, dtype=work.dtype)
    np.exp(work, out=work)
    np.add(work, 1, out=work)
    np.divide(x, work, out=y, dtype=work.dtype)


@steps("gelu-tanh")
def gelu_tanh(x, work, y):
    """The formula by numpy.tanh, a pass over memory for each step."""
    gelu_factor(x, work)
    np.multiply(work, x, out=y, dtype=work.dtype)


def gelu_factor(x, work):
    """work = (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2."""
    root = math.sqrt(2 / math.pi)
    np.multiply(x, x, out=work, dtype=work.dtype)
    np.multiply(work, 0.044715 * root, out=work)
    np.add(work, root, out=work)
    np.multiply(work, x, out=work)
    np.tanh(work, out=work)
    np.add(work, 1, out=work)
    np.multiply(work, 0.5, out=work)


@offer("ufunc", "focal", params=["alpha", "gamma"])
def focal(job: Job):
    """The formula, a pass over memory for each step."""
    p, t, y = job.arrays()
    alpha, gamma = job.params["alpha"], job.params["gamma"]
    chance = wide(job, y)
    rest, is_true = scratch(job, y.shape, chance.dtype), scratch(job, y.shape, bool)

    def run():
        np.not_equal(t, 0, out=is_true)
        np.subtract(1, p, out=chance, dtype=chance.dtype)
        np.copyto(chance, p, where=is_true)
        np.subtract(1, chance, out=rest)
        np.power(rest, gamma, out=rest)
        np.log(chance, out=chance)
        np.multiply(rest, chance, out=rest)
        np.multiply(rest, -alpha, out=y)

    return run


@offer("ufunc", "batch-norm", params=["eps"])
def batch_norm(job: Job):
    """One factor and one summand a channel, then product and sum: a pass over memory each."""
    x, mean, var, w, b, y = job.arrays()
    mean, var, w, b = (one[:, None] for one in (mean, var, w, b))
    eps, work = job.params["eps"], wide(job, y)
    factor, summand = (scratch(job, w.shape, work.dtype) for _ in range(2))

    def run():
        np.add(var, eps, out=factor, dtype=work.dtype)
        np.sqrt(factor, out=factor)
        np.divide(w, factor, out=factor)
        np.multiply(mean, factor, out=summand)
        np.subtract(b, summand, out=summand)
        np.multiply(x, factor, out=work)
        np.add(work, summand, out=y)

    return run


@offer("function", "dropout.free", params=["p"])
def dropout(job: Job):
    """numpy.random.default_rng: numbers, a comparison, a product, and zeros where it says so."""
    (x, y), p = job.arrays(), job.params["p"]
    random, dtype = np.random.default_rng(), accumulator(x)
    drawn, is_dropped = scratch(job, x.shape, dtype), scratch(job, x.shape, bool)
    scale = 1 / (1 - p)

    def run():
        random.random(dtype=dtype, out=drawn)
        np.less(drawn, p, out=is_dropped)
        np.multiply(x, scale, out=y, dtype=dtype)
        np.copyto(y, 0, where=is_dropped)

    return run
