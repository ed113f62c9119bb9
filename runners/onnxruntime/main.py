"""ONNX Runtime as a peer: a model for each operation, its inputs and output bound to the given memory.

Its pool spins after a call, which would disturb whoever is measured next, so `onnxruntime/parked` turns
that off; `onnxruntime/as-shipped` is the same model with the library's own settings, after whose
visits the conductor waits until the pool sleeps. f16 is computed in f32 by the library itself. The
epsilon of rms-norm is an f32 in a model, which is not the case's in f64.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from roofline_runner import Job, Runner  # before onnxruntime: this binds the clock

try:
    import onnxruntime as ort
except ImportError as error:
    why = f"the onnxruntime runner needs onnxruntime: {error}"
    print(why, file=sys.stderr)
    sys.exit(3)

from model import model, node, value

FLOATS = ["f64", "f32", "f16"]

ort.set_default_logger_severity(3)
runner = Runner("onnxruntime", version=ort.__version__)


def offer(operation: str, dtypes: list[str], params: tuple[str, ...] = ()):
    """Offers a function from a job to the model's nodes, parked and as shipped."""

    def register(nodes):
        for name, parked in [("parked", True), ("as-shipped", False)]:
            runner.implementation(
                f"onnxruntime/{name}",
                operation=operation,
                dtypes=dtypes,
                about=nodes.__doc__,
                parallel=True,
                params=params,
            )(lambda job, parked=parked: prepare(job, nodes(job), parked))
        return nodes

    return register


@offer("add", FLOATS)
def add(_job: Job):
    """Add."""
    return [node("Add", "x y", "z")]


@offer("softmax", FLOATS)
def softmax(_job: Job):
    """Softmax over the last axis."""
    return [node("Softmax", "x", "y", axis=-1)]


@offer("rms-norm", ["f32", "f16"], params=("eps",))
def rms_norm(job: Job):
    """SimplifiedLayerNormalization, which is rms-norm."""
    return [node("SimplifiedLayerNormalization", "x w", "y", axis=-1, epsilon=job.params["eps"], stash_type=1)]


@offer("matmul", [*FLOATS, "i8"])
def matmul(job: Job):
    """Gemm with B transposed; Transpose and MatMulInteger for i8."""
    if job.dtype == "i8":
        return [node("Transpose", "b", "bt"), node("MatMulInteger", "a bt", "c")]
    return [node("Gemm", "a b", "c", transB=1)]


@offer("matmul.nn", [*FLOATS, "i8"])
def matmul_nn(job: Job):
    """MatMul; MatMulInteger for i8."""
    return [node("MatMulInteger" if job.dtype == "i8" else "MatMul", "a b", "c")]


def prepare(job: Job, nodes: list[bytes], parked: bool):
    """A session of the job's threads over the given memory."""
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = job.threads, 1
    if parked:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    inputs, outputs = ([value(one.name, one.dtype, one.shape) for one in ones] for ones in (job.inputs, job.outputs))
    session = ort.InferenceSession(model(nodes, inputs, outputs), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for tensor in job.tensors:
        bind = binding.bind_input if tensor.role == "input" else binding.bind_output
        bind(tensor.name, "cpu", 0, tensor.array().dtype, tensor.shape, tensor.address)
    return lambda: session.run_with_iobinding(binding)


if __name__ == "__main__":
    runner.serve()
