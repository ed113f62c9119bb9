"""Functions of torch that the gate found different from their operations; `docs/peers.md` says how.

roofline check axpy/bf16/rows=5,cols=34 log-softmax/bf16/rows=5,cols=34 softmax.columns/bf16/rows=5,cols=34
pow-scalar/bf16/rows=5,cols=34,exponent=3 add-scalar/bf16/rows=5,cols=34,scalar=0.1 gelu/f32/rows=5,cols=34
layer-norm-gelu/bf16/rows=5,cols=34 sqrt/f64/rows=5,cols=34 fft/f64/n=254 spmv/f32/rows=500,cols=700,nnz=5000
dequantize.block/f32/rows=57,cols=83 --python docs/peers/found_in_torch.py -i found_in_torch/* --seed 3

On a processor with AMX tiles, and on none without them that was tried:
conv2d/bf16/batch=11,out=5,height=6,width=17,kernel=5,stride=7,pad=22,dilation=7,groups=5,channels=25
"""

import warnings

from roofline_runner import implementation

import torch
from torch.nn import functional

# They are called a beta at the first use.
warnings.filterwarnings("ignore", message="Sparse")

TYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
TYPES |= {"i8": torch.int8, "i32": torch.int32}
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


@found("layer-norm-gelu", NARROW, params=["eps"])
def layer_norm_gelu(x, w, b, eps):
    """torch.nn.functional.gelu after layer_norm: NaN for an infinity."""
    return functional.gelu(functional.layer_norm(x, x.shape[-1:], w, b, eps))


@found("sqrt", ["f64", "f32"])
def sqrt(x):
    """torch.sqrt: the last bit of one root in a hundred."""
    return torch.sqrt(x)


@found("fft", ["f64"])
def fft(x):
    """torch.fft.fft: three digits less at composite lengths with a large prime factor."""
    return torch.view_as_real(torch.fft.fft(torch.view_as_complex(x)))


@implementation("spmv", dtypes=["f32"], name="spmv")
def spmv(job):
    """torch.mv of a matrix in rows: it reads past the last of the columns."""
    values, columns, offsets, x, y = tensors(job)
    a = torch.sparse_csr_tensor(offsets, columns, values, (len(y), len(x)), check_invariants=False)
    return lambda: torch.mv(a, x, out=y)


@implementation("conv2d", dtypes=["bf16"], name="conv2d")
def conv2d(job):
    """torch.nn.functional.conv2d: the process dies where windows step over the whole image."""
    x, w, y = tensors(job)
    how = [job.axes[name] for name in ("stride", "pad", "dilation", "groups")]
    return lambda: y.copy_(functional.conv2d(x, w, None, *how))


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
