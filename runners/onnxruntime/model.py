"""ONNX models of a few nodes, for the tensors of a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from roofline_runner import Job, Tensor, Unsupported

IR_VERSION, OPSET = 10, 24
# What its format holds, less what the nodes take.
MOST_BYTES = (1 << 31) - (1 << 20)
# Operators of ONNX Runtime's own.
OWN = "com.microsoft"
TYPES = {
    "f64": TensorProto.DOUBLE,
    "f32": TensorProto.FLOAT,
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "i32": TensorProto.INT32,
    "i8": TensorProto.INT8,
    "u8": TensorProto.UINT8,
}


@dataclass
class Graph:
    """Nodes, values that they know beforehand, and shapes in which they look at the same elements."""

    nodes: list[onnx.NodeProto]
    constants: dict[str, Any] = field(default_factory=dict)
    shapes: dict[str, Sequence[int]] = field(default_factory=dict)

    def shape(self, tensor: Tensor) -> Sequence[int]:
        """The shape that a tensor is bound in."""
        return self.shapes.get(tensor.name, tensor.shape)

    def model(self, job: Job) -> bytes:
        """The model over the job's tensors."""
        if sum(np.asarray(values).nbytes for values in self.constants.values()) > MOST_BYTES:
            raise Unsupported("what a model knows beforehand is at most 2 GB")
        inputs, outputs = (
            [helper.make_tensor_value_info(one.name, TYPES[one.dtype], self.shape(one)) for one in ones]
            for ones in (bound(job.inputs), job.outputs)
        )
        constants = [numpy_helper.from_array(values, name) for name, values in self.constants.items()]
        graph = helper.make_graph(self.nodes, "graph", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(OWN, 1)]
        return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opsets).SerializeToString()


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    """An operator on values named between spaces; one called `-` is not there."""
    given, made = (["" if name == "-" else name for name in names.split()] for names in (inputs, outputs))
    return helper.make_node(operator, given, made, **attributes)


def bound(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Those that a session is bound to: what stays the same is part of its graph."""
    return [tensor for tensor in tensors if tensor.role != "constant"]
