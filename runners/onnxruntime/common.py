"""The runner, and how a graph becomes a session over the given memory."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from roofline_runner import Job, Runner  # before onnxruntime: this binds the clock

try:
    import onnxruntime as ort
    from model import TYPES, Graph, bound, onnx
except ImportError as error:
    print(f"the onnxruntime runner needs onnxruntime: {error}", file=sys.stderr)
    sys.exit(3)

WIDE = ["f64", "f32"]
FLOATS = [*WIDE, "f16"]
ANY = [*FLOATS, "bf16"]

ort.set_default_logger_severity(3)
runner = Runner("onnxruntime", version=ort.__version__, notes={"onnx": onnx.__version__})


def offer(operations: str, dtypes: list[str] = FLOATS, about: str | None = None, **more):
    """Offers a function from a job to a graph for operations named between spaces, parked and as shipped."""

    def register(graph):
        for operation in operations.split():
            for name, parked in [("parked", True), ("as-shipped", False)]:
                runner.implementation(
                    f"onnxruntime/{name}",
                    operation=operation,
                    dtypes=dtypes,
                    about=about or graph.__doc__,
                    parallel=True,
                    **more,
                )(partial(prepare, graph, parked))
        return graph

    return register


def prepare(graph_of, parked: bool, job: Job):
    """A session of the job's threads over the given memory."""
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = job.threads, 1
    if parked:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    graph: Graph = graph_of(job)
    session = ort.InferenceSession(graph.model(job), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for tensor in bound(job.tensors):
        bind = binding.bind_output if tensor.role == "output" else binding.bind_input
        bind(tensor.name, "cpu", 0, TYPES[tensor.dtype], graph.shape(tensor), tensor.address)
    return lambda: session.run_with_iobinding(binding)
