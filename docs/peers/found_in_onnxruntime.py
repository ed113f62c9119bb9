"""Operators of ONNX Runtime that the gate found different from their operations; `docs/peers.md` says how."""

from roofline_runner import implementation

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

TYPES = {"f64": TensorProto.DOUBLE, "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "i32": TensorProto.INT32}


def found(operation, dtypes, operator, **attributes):
    """Offers a model of one operator."""

    @implementation(operation, dtypes=dtypes, name=operation.replace(".", "-"), output="fresh")
    def prepare(job):
        inputs, outputs = (
            [helper.make_tensor_value_info(one.name, TYPES[one.dtype], one.shape) for one in ones]
            for ones in (job.inputs, job.outputs)
        )
        names = [[one.name for one in ones] for ones in (inputs, outputs)]
        graph = helper.make_graph([helper.make_node(operator, *names, **attributes)], "found", inputs, outputs)
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 24)])
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        feeds = dict(zip(names[0], job.arrays()))
        return lambda: np.ascontiguousarray(session.run(None, feeds)[0])

    return prepare


found("log-softmax", ["f64"], "LogSoftmax", axis=-1)
found("sigmoid", ["f32"], "Sigmoid")
found("cos", ["f64"], "Cos")
found("fft", ["f32"], "DFT")
