"""The operations as graphs of a node or a few."""

from __future__ import annotations

import math

import numpy as np
from common import ANY, FLOATS, WIDE, Job, offer
from model import OWN, TYPES, Graph, node

NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16}


def names(job: Job) -> tuple[str, str]:
    """The names of inputs and of outputs, between spaces."""
    return tuple(" ".join(tensor.name for tensor in ones) for ones in (job.inputs, job.outputs))


def kept(job: Job) -> dict[str, np.ndarray]:
    """The inputs that stay the same, which the library packs as it likes before it runs."""
    return {tensor.name: tensor.array() for tensor in job.inputs if tensor.role == "constant"}


def offer_operator(operations: str, operator: str, dtypes: list[str], requires: str = "", **attributes) -> None:
    """Offers an operator that takes the inputs and makes the outputs as they are."""

    def graph(job: Job) -> Graph:
        return Graph([node(operator, *names(job), **attributes)])

    offer(operations, dtypes, about=f"{operator}.", requires=requires)(graph)


# An operator each.
for operation, operator in {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mul",
    "div": "Div",
    "broadcast-add broadcast-add.last broadcast-add.first": "Add",
    "negate": "Neg",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "tanh": "Tanh",
    "relu": "Relu",
}.items():
    offer_operator(operation, operator, FLOATS)

offer_operator("sin", "Sin", ["f32", "f16"])
offer_operator("cos", "Cos", ["f32", "f16"])
offer_operator("gelu", "Gelu", ["f32", "f16"], approximate="none")
offer_operator("gelu-tanh", "Gelu", ["f32", "f16"], approximate="tanh")
offer_operator("softmax", "Softmax", FLOATS, axis=-1)
offer_operator("softmax-axis", "Softmax", FLOATS, axis=1)
offer_operator("softmax.columns", "Softmax", FLOATS, axis=0)
for form, axis in {"": -1, ".columns": 0, "-axis": 1}.items():
    offer_operator(f"log-softmax{form}", "LogSoftmax", ["f32", "f16"], axis=axis)
    offer_operator(f"log-softmax{form}", "LogSoftmax", ["f64"], requires="finite", axis=axis)

offer_operator("copy", "Identity", ANY)
offer_operator("embedding", "Gather", ANY)
offer_operator("transpose", "Transpose", ANY)
offer_operator("cat", "Concat", ANY, axis=1)
for form, axes in {"": (2, 1, 0), ".021": (0, 2, 1), ".102": (1, 0, 2), ".120": (1, 2, 0), ".201": (2, 0, 1)}.items():
    offer_operator(f"permute{form}", "Transpose", ANY, perm=axes)


@offer("reshape", ANY)
def reshape(job: Job):
    """Reshape."""
    return Graph([node("Reshape", "x shape", "y")], {"shape": np.array(job.outputs[0].shape)})


@offer("expand")
def expand(job: Job):
    """Expand."""
    return Graph([node("Expand", "x shape", "y")], {"shape": np.array(job.outputs[0].shape)})


@offer("stack", ANY)
def stack(job: Job):
    """Concat of both as parts of one."""
    one = [1, *job.inputs[0].shape]
    return Graph([node("Concat", "x y", "z", axis=0)], shapes={"x": one, "y": one})


@offer("split", ANY)
def split(job: Job):
    """Split."""
    return Graph([node("Split", "x sizes", "y z", axis=1)], {"sizes": np.array([one.shape[1] for one in job.outputs])})


def offer_with_scalar(operation: str, operator: str) -> None:
    """Offers an operator of a tensor and a number, which a model has in the tensor's type: in f16 the default alone."""

    def graph(job: Job) -> Graph:
        return Graph([node(operator, "x scalar", "y")], {"scalar": NUMPY[job.dtype](job.params["scalar"])})

    about = f"{operator} with a number."
    offer(operation, WIDE, about, params=["scalar"])(graph)
    offer(operation, ["f16"], about)(graph)


offer_with_scalar("add-scalar", "Add")
offer_with_scalar("scale", "Mul")
offer_with_scalar("div-scalar", "Div")


@offer("pow-scalar", params=["exponent"])
def pow_scalar(job: Job):
    """Pow."""
    exponent = np.float64 if job.dtype == "f64" else np.float32
    return Graph([node("Pow", "x exponent", "y")], {"exponent": exponent(job.params["exponent"])})


@offer("axpy", WIDE, params=["a"])
def axpy(job: Job):
    """Mul and Add."""
    return Graph([node("Mul", "x a", "ax"), node("Add", "ax y", "z")], {"a": NUMPY[job.dtype](job.params["a"])})


@offer("batch-norm", ["f32", "f16"], params=["eps"])
def batch_norm(job: Job):
    """BatchNormalization with given statistics."""
    return Graph([node("BatchNormalization", "x w b mean var", "y", epsilon=job.params["eps"])])


@offer("dropout.free", ["f32"], params=["p"])
def dropout(job: Job):
    """Dropout as in training."""
    constants = {"ratio": NUMPY[job.dtype](job.params["p"]), "training": np.array(True)}
    return Graph([node("Dropout", "x ratio training", "y")], constants)


def offer_reduction(operation: str, operator: str, requires: str = "") -> None:
    """Offers a reduction of rows, of columns, of everything, which is one row then, and of a middle dimension."""

    def graph(job: Job) -> Graph:
        if job.variant == "all":
            elements = [math.prod(job.inputs[0].shape)]
            return Graph([node(operator, "x axes", "y", keepdims=1)], {"axes": np.array([0])}, {"x": elements})
        axes = np.array([0 if job.variant == "columns" else 1])
        return Graph([node(operator, "x axes", "y", keepdims=0)], {"axes": axes})

    offer(f"{operation} {operation}.columns {operation}.all {operation}-axis", about=f"{operator}.", requires=requires)(graph)


offer_reduction("sum", "ReduceSum")
offer_reduction("mean", "ReduceMean")
offer_reduction("max", "ReduceMax", requires="finite")  # It passes over NaNs.
offer_reduction("logsumexp", "ReduceLogSumExp")


@offer("argmax argmax-axis", requires="finite")
def argmax(_job: Job):
    """ArgMax, and Cast of its indices of 64 bits."""
    return Graph([node("ArgMax", "x", "found", axis=1, keepdims=0), node("Cast", "found", "y", to=6)])


@offer("dot")
def dot(job: Job):
    """MatMul of a row and a column."""
    (n,) = job.inputs[0].shape
    return Graph([node("MatMul", "x y", "z")], shapes={"x": [1, n], "y": [n, 1], "z": [1, 1]})


@offer("mse mse.sum mse.none", WIDE)
def mse(job: Job):
    """Sub, Mul, and ReduceMean or ReduceSum of everything."""
    differences = node("Sub", "p t", "d")
    if job.variant == "none":
        return Graph([differences, node("Mul", "d d", "y")])
    operator = "ReduceSum" if job.variant == "sum" else "ReduceMean"
    elements = [math.prod(job.inputs[0].shape)]
    nodes = [differences, node("Mul", "d d", "squares"), node(operator, "squares axes", "y", keepdims=1)]
    return Graph(nodes, {"axes": np.array([0])}, {"p": elements, "t": elements})


@offer("cross-entropy cross-entropy.none", ["f32"])
@offer("cross-entropy cross-entropy.none", ["f64"], requires="finite")
def cross_entropy(job: Job):
    """SoftmaxCrossEntropyLoss."""
    reduction = job.variant or "mean"
    loss = node("SoftmaxCrossEntropyLoss", "x t", "y", reduction=reduction, ignore_index=-100)
    return Graph([loss], shapes={} if job.variant else {"y": []})


@offer("cross-entropy-prob", WIDE)
def cross_entropy_prob(job: Job):
    """Max, Log, MatMul of a row and a column, Neg."""
    n = math.prod(job.inputs[0].shape)
    nodes = [node("Max", "p least", "q"), node("Log", "q", "l"), node("MatMul", "l t", "s"), node("Neg", "s", "y")]
    return Graph(nodes, {"least": NUMPY[job.dtype](1e-8)}, {"p": [1, n], "t": [n, 1], "y": [1, 1]})


@offer("softmax.masked")
def masked_softmax(job: Job):
    """Softmax, and Where the maximum of a row is that of a masked one."""
    float_type = NUMPY[job.dtype]
    nodes = [
        node("ReduceMax", "x axes", "top", keepdims=1),
        node("Equal", "top masked", "is-masked"),
        node("Softmax", "x", "powers", axis=-1),
        node("Where", "is-masked zero powers", "y"),
    ]
    return Graph(nodes, {"axes": np.array([1]), "masked": float_type(-np.inf), "zero": float_type(0)})


# The epsilon of a norm is an f32 in a model, which is not the case's in f64.
NORMS = ["f32", "f16", "bf16"]


def rms_norm_node(job: Job, inputs: str, output: str):
    """SimplifiedLayerNormalization, which is rms-norm."""
    epsilon = job.params["eps"]
    return node("SimplifiedLayerNormalization", inputs, output, axis=-1, epsilon=epsilon, stash_type=1)


@offer("rms-norm qk-norm", NORMS, params=["eps"])
def rms_norm(job: Job):
    """SimplifiedLayerNormalization, which is rms-norm."""
    return Graph([rms_norm_node(job, "x w", "y")])


@offer("rms-norm.gemma", ["f32"], params=["eps"])
def gemma_norm(job: Job):
    """Add of 1 to the weights, and SimplifiedLayerNormalization."""
    return Graph([node("Add", "w one", "weight"), rms_norm_node(job, "x weight", "y")], {"one": np.float32(1)})


@offer("qk-norm.combined", NORMS, params=["eps"])
def both_norms(job: Job):
    """SimplifiedLayerNormalization of queries and of keys."""
    return Graph([rms_norm_node(job, "q wq", "yq"), rms_norm_node(job, "k wk", "yk")])


@offer("add-rms-norm", NORMS, params=["eps"])
def add_rms_norm(job: Job):
    """SkipSimplifiedLayerNormalization."""
    operator = "SkipSimplifiedLayerNormalization"
    return Graph([node(operator, "x r w", "y - - h", domain=OWN, epsilon=job.params["eps"])])


@offer("layer-norm", NORMS, params=["eps"])
def layer_norm(job: Job):
    """LayerNormalization."""
    return Graph([node("LayerNormalization", "x w b", "y", axis=-1, epsilon=job.params["eps"])])


@offer("layer-norm.plain", ["f32", "f16"], params=["eps"])
def plain_layer_norm(job: Job):
    """LayerNormalization with ones for weights."""
    weights = {"w": np.ones(job.inputs[0].shape[-1:], NUMPY[job.dtype])}
    return Graph([node("LayerNormalization", "x w", "y", axis=-1, epsilon=job.params["eps"])], weights)


@offer("layer-norm-gelu layer-norm-gelu.tanh", ["f32"], params=["eps"])
def layer_norm_gelu(job: Job):
    """LayerNormalization and Gelu."""
    norm = node("LayerNormalization", "x w b", "h", axis=-1, epsilon=job.params["eps"])
    return Graph([norm, node("Gelu", "h", "y", approximate=job.variant or "none")])


@offer("rope.cached rope.interleaved-cached", ["f32"])
def cached_rope(job: Job):
    """Cast of positions to 64 bits, and RotaryEmbedding."""
    seq, heads, dim = job.inputs[0].shape
    flat, interleaved = [1, seq, heads * dim], int(job.variant.startswith("interleaved"))
    turn = node("RotaryEmbedding", "x cos sin long", "y", num_heads=heads, interleaved=interleaved)
    shapes = {"x": flat, "y": flat, "positions": [1, seq]}
    return Graph([node("Cast", "positions", "long", to=7), turn], kept(job), shapes)


@offer("attention attention.masked attention.heads-first", ["f32"], params=["scale"])
def attention(job: Job):
    """Attention."""
    return attention_graph(job)


@offer("attention.causal attention.heads-first-causal", ["f32"], params=["scale"], requires="kv == seq")
def causal_attention(job: Job):
    """Attention, which counts from the first key."""
    return attention_graph(job, is_causal=1)


@offer("attention.soft-cap", ["f32"], params=["scale", "cap"], requires="kv == seq")
def capped_attention(job: Job):
    """Attention with a soft cap, which counts from the first key."""
    return attention_graph(job, is_causal=1, softcap=job.params["cap"])


def attention_graph(job: Job, **how) -> Graph:
    """Attention of whole heads, or of heads beside each other."""
    if job.params["scale"]:
        how["scale"] = job.params["scale"]
    shapes = {}
    if not job.variant.startswith("heads-first"):
        for tensor in (*job.inputs[:3], job.outputs[0]):
            batch, length, heads, dim = tensor.shape
            shapes[tensor.name] = [batch, length, heads * dim]
        how |= {"q_num_heads": job.inputs[0].shape[2], "kv_num_heads": job.inputs[1].shape[2]}
    return Graph([node("Attention", *names(job), **how)], shapes=shapes)


@offer("matmul matmul.fixed", [*FLOATS, "i8"])
def matmul(job: Job):
    """Gemm with B transposed; Transpose and MatMulInteger for i8; weights that stay the same are part of the graph."""
    if job.dtype == "i8":
        return Graph([node("Transpose", "b", "bt"), node("MatMulInteger", "a bt", "c")], kept(job))
    return Graph([node("Gemm", "a b", "c", transB=1)], kept(job))


@offer("matmul.nn", [*FLOATS, "i8"])
def matmul_nn(job: Job):
    """MatMul; MatMulInteger for i8."""
    return Graph([node("MatMulInteger" if job.dtype == "i8" else "MatMul", "a b", "c")])


@offer("matmul.tn", FLOATS)
def matmul_tn(job: Job):
    """Gemm with A transposed."""
    return Graph([node("Gemm", "a b", "c", transA=1)])


@offer("matmul.tt", FLOATS)
def matmul_tt(job: Job):
    """Gemm with both transposed."""
    return Graph([node("Gemm", "a b", "c", transA=1, transB=1)])


@offer("bmm.nn", FLOATS)
def bmm_nn(job: Job):
    """MatMul."""
    return Graph([node("MatMul", "a b", "c")])


@offer("bmm.tn", FLOATS)
def bmm_tn(job: Job):
    """Transpose and MatMul."""
    return Graph([node("Transpose", "a", "at", perm=(0, 2, 1)), node("MatMul", "at b", "c")])


@offer("bmm.tt", FLOATS)
def bmm_tt(job: Job):
    """MatMul, whose product is turned: Aᵀ·Bᵀ = (B·A)ᵀ."""
    return Graph([node("MatMul", "b a", "ct"), node("Transpose", "ct", "c", perm=(0, 2, 1))])


@offer("bmm", FLOATS)
def bmm(job: Job):
    """Transpose and MatMul."""
    return Graph([node("Transpose", "b", "bt", perm=(0, 2, 1)), node("MatMul", "a bt", "c")])


@offer("int8-matmul int8-matmul.row int8-matmul.channel int8-matmul.fixed", ["i8-f32", "i8-bf16"])
def int8_matmul(job: Job):
    """Transpose and MatMulInteger, then Mul with the scales; MatMulIntegerToFloat for two scales and f32."""
    if job.variant == "" and job.outputs[0].dtype == "f32":
        return Graph([node("Transpose", "b", "bt"), node("MatMulIntegerToFloat", "a bt sa sb", "c", domain=OWN)])
    scaled = [
        node("Transpose", "b", "bt"),
        node("MatMulInteger", "a bt", "sums"),
        node("Cast", "sums", "wide", to=TYPES["f32"]),
        node("Mul", "wide sa", "rows"),
    ]
    last = [node("Mul", "rows sb", "c")]
    if job.outputs[0].dtype == "bf16":
        last = [node("Mul", "rows sb", "columns"), node("Cast", "columns", "c", to=TYPES["bf16"])]
    # A column, that each scale meets its row.
    return Graph(scaled + last, kept(job), {"sa": [job.inputs[2].shape[0], 1]})


@offer("quantize quantize.tensor", ["f32"])
def quantize(job: Job):
    """Abs, ReduceMax and a quotient for the scales, then QuantizeLinear, which rounds ties to even."""
    nodes = [
        node("Abs", "x", "sizes"),
        node("ReduceMax", "sizes axis", "largest", keepdims=0),
        node("Equal", "largest zero", "zeros"),
        node("Div", "largest most", "scales"),
        node("Where", "zeros one scales", "s"),
    ]
    constants = {name: np.array(value, np.float32) for name, value in [("zero", 0), ("one", 1), ("most", 127)]}
    constants["axis"] = np.array([1])
    if job.variant == "":
        return Graph([*nodes, node("QuantizeLinear", "x s", "q", axis=0, output_dtype=TYPES["i8"])], constants)
    # All elements as one row, and its one scale as a number without axes.
    nodes += [node("Squeeze", "s", "one-scale"), node("QuantizeLinear", "x one-scale", "q", output_dtype=TYPES["i8"])]
    row = [1, math.prod(job.inputs[0].shape)]
    return Graph(nodes, constants, {"x": row, "q": row})


@offer("quantize-u8.tensor", ["f32"])
def quantize_u8(_job: Job):
    """DynamicQuantizeLinear."""
    return Graph([node("DynamicQuantizeLinear", "x", "q s z")], shapes={"s": [], "z": []})


@offer("dequantize.u8", ["f32"])
def dequantize_u8(_job: Job):
    """DequantizeLinear with a code of zero for each row."""
    return Graph([node("DequantizeLinear", "q s z", "y", axis=0)])


@offer("dequantize dequantize.block", ["f32"])
def dequantize(job: Job):
    """DequantizeLinear."""
    how = {"axis": 1, "block_size": 32} if job.variant == "block" else {"axis": 0}
    return Graph([node("DequantizeLinear", "q s", "y", **how)])
