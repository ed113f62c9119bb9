"""Functions of torch that the gate found different from their operations; `docs/peers.md` says how."""

from roofline_runner import implementation

import torch
from torch.nn import functional

TYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i8": torch.int8}
NARROW = ["bf16", "f16"]


def tensors(job):
    """The memory of a job."""
    return [torch.frombuffer(one.memory, dtype=TYPES[one.dtype]).view(*one.shape) for one in job.tensors]


def found(operation, dtypes, **offered):
    """Offers a function of tensors and of the operation's parameters."""

    def decorate(function):
        @implementation(operation, dtypes=dtypes, name=operation.replace(".", "-"), **offered)
        def prepare(job):
            *inputs, output = tensors(job)
            return lambda: output.copy_(function(*inputs, **job.params))

        prepare.__doc__ = function.__doc__
        return function

    return decorate


@found("axpy", NARROW, params=["a"])
def axpy(x, y, a):
    """torch.add with alpha: the product is rounded before the sum."""
    return torch.add(y, x, alpha=a)


@found("log-softmax", NARROW)
def log_softmax(x):
    """torch.log_softmax over the last axis."""
    return torch.log_softmax(x, -1)


@found("softmax.columns", NARROW)
def softmax_columns(x):
    """torch.softmax over the first axis."""
    return torch.softmax(x, 0)


@found("pow-scalar", NARROW, params=["exponent"])
def pow_scalar(x, exponent):
    """torch.pow."""
    return torch.pow(x, exponent)


@found("add-scalar", NARROW, params=["scalar"])
def add_scalar(x, scalar):
    """torch.add of a number, which is rounded first."""
    return torch.add(x, scalar)


@found("gelu", ["f32", *NARROW])
def gelu(x):
    """torch.nn.functional.gelu: NaN for an infinity."""
    return functional.gelu(x)


@found("sqrt", ["f64", "f32"])
def sqrt(x):
    """torch.sqrt: the last bit of one root in a hundred."""
    return torch.sqrt(x)


@found("fft", ["f64"])
def fft(x):
    """torch.fft.fft: three digits less at composite lengths with a large prime factor."""
    return torch.view_as_real(torch.fft.fft(torch.view_as_complex(x)))


@implementation("dequantize.block", dtypes=["f32"], name="dequantize-block")
def dequantize_block(job):
    """torch.compile of padding, a product in blocks of 32 and a cut: the last block of a row is not written."""

    def run(q, s, x):
        rows, cols = q.shape
        blocks = functional.pad(q, (0, -cols % 32)).view(rows, -1, 32)
        x.copy_((blocks.float() * s[..., None]).view(rows, -1)[:, :cols])

    given, compiled = tensors(job), torch.compile(run, dynamic=False)
    compiled(*given)
    return lambda: compiled(*given)
