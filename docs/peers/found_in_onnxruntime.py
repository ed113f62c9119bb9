"""Operators of ONNX Runtime that the gate found different from their operations; `docs/peers.md` says how.

roofline check log-softmax/f64/rows=5,cols=34 sigmoid/f32/rows=5,cols=37 cos/f64/rows=5,cols=34 sin/f64/rows=5,cols=34
fft/f32/n=100 max/f32/rows=5,cols=34 argmax/f32/rows=5,cols=34 gelu-tanh/f64/rows=5,cols=34
layer-norm/f64/rows=5,cols=34 batch-norm/f64/batch=3,channels=5,pixels=34 rms-norm.gemma/f16/rows=5,cols=34
layer-norm-gelu/f16/rows=5,cols=34
cross-entropy/f64/rows=5,cols=34 lstm/f32/seq=9,batch=15,hidden=7,input=13
--python docs/peers/found_in_onnxruntime.py -i found_in_onnxruntime/* --seed 3
"""

from roofline_runner import implementation

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TYPES = {"f64": TensorProto.DOUBLE, "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "i32": TensorProto.INT32}


def node(operator, inputs, outputs, **attributes):
    """An operator on values named between spaces; one called `-` is not there."""
    given, made = (["" if name == "-" else name for name in names.split()] for names in (inputs, outputs))
    return helper.make_node(operator, given, made, **attributes)


def found(operation, dtypes, nodes_of, constants_of=lambda job: {}, params=(), requires=""):
    """Offers a model of a few nodes, whose outputs are shaped as the case has them."""

    offered = {"name": operation.replace(".", "-"), "output": "fresh", "params": params, "requires": requires}

    @implementation(operation, dtypes=dtypes, **offered)
    def prepare(job):
        constants = constants_of(job)
        given = [one for one in job.inputs if one.name not in constants and one.role != "constant"]
        inputs, outputs = (
            [helper.make_tensor_value_info(one.name, TYPES[one.dtype], None) for one in ones]
            for ones in (given, job.outputs)
        )
        kept = [numpy_helper.from_array(value, name) for name, value in constants.items()]
        graph = helper.make_graph(nodes_of(job), "found", inputs, outputs, kept)
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 24)])
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        feeds = {one.name: SHAPES.get(one.name, lambda x: x)(one.array()) for one in given}
        shapes = [one.shape for one in job.outputs]

        def run():
            results = [np.ascontiguousarray(y).reshape(shape) for y, shape in zip(session.run(None, feeds), shapes)]
            return tuple(results) if len(results) > 1 else results[0]

        return run


# States of one layer and one direction.
SHAPES = {name: lambda x: x.reshape(1, *x.shape[-2:]) for name in ("h0", "c0")}


def found_one(operation, dtypes, operator, inputs="x", params=(), **attributes):
    """Offers one operator; an epsilon is the case's."""

    def nodes_of(job):
        how = {"epsilon": job.params["eps"]} if "eps" in params else {}
        return [node(operator, inputs, job.outputs[0].name, **attributes, **how)]

    found(operation, dtypes, nodes_of, params=params)


found_one("log-softmax", ["f64"], "LogSoftmax", axis=-1)
found_one("sigmoid", ["f32"], "Sigmoid")
found_one("cos", ["f64"], "Cos")
found_one("sin", ["f64"], "Sin")
found_one("fft", ["f32"], "DFT")
found_one("gelu-tanh", ["f64"], "Gelu", approximate="tanh")
found_one("layer-norm", ["f64"], "LayerNormalization", "x w b", ["eps"], axis=-1)
found_one("batch-norm", ["f64"], "BatchNormalization", "x w b mean var", ["eps"])
found_one("cross-entropy", ["f64"], "SoftmaxCrossEntropyLoss", "x t", ignore_index=-100)
found("max", ["f32"], lambda job: [node("ReduceMax", "x axes", "y", keepdims=0)], lambda job: {"axes": np.array([1])})
found("argmax", ["f32"], lambda job: [node("ArgMax", "x", "at", axis=1, keepdims=0), node("Cast", "at", "y", to=6)])


def gemma(job):
    """What Add gives is rounded before the norm."""
    how = {"axis": -1, "epsilon": job.params["eps"], "stash_type": 1}
    return [node("Add", "w one", "weight"), node("SimplifiedLayerNormalization", "x weight", "y", **how)]


def layer_norm_gelu(job):
    """What the norm gives is rounded before Gelu."""
    norm = node("LayerNormalization", "x w b", "h", axis=-1, epsilon=job.params["eps"])
    return [norm, node("Gelu", "h", "y", approximate="none")]


def lstm(job):
    """Its gates are input, output, forget, cell; PyTorch's are input, forget, cell, output."""
    return [node("LSTM", "x w-ih w-hh b - h0 c0", "all hn cn", hidden_size=job.axes["hidden"]), *squeezed()]


def squeezed():
    """The one direction of all states."""
    return [node("Squeeze", "all direction", "y")]


def cells(job):
    """Weights in the operator's order."""
    given = {one.name: one.array() for one in job.inputs if one.role == "constant"}
    ordered = {name: np.concatenate([np.split(one, 4)[gate] for gate in (0, 3, 1, 2)]) for name, one in given.items()}
    constants = {name: ordered[name][None] for name in ("w-ih", "w-hh")}
    return {**constants, "b": np.concatenate([ordered["b-ih"], ordered["b-hh"]])[None], "direction": np.array([1])}


found("rms-norm.gemma", ["f16"], gemma, lambda job: {"one": np.float16(1)}, ["eps"])
found("layer-norm-gelu", ["f16"], layer_norm_gelu, params=["eps"])
found("lstm", ["f32"], lstm, cells, requires="layers <= 1")
