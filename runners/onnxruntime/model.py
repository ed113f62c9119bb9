"""ONNX models of a few nodes as bytes, without the package `onnx`.

A model is a protobuf message: fields of a number and a wire type, each a varint, four bytes, or a
length and so many bytes. Field numbers are those of `onnx.proto`.
"""

from __future__ import annotations

import struct

IR_VERSION, OPSET = 10, 21
TYPES = {"f32": 1, "i8": 3, "i32": 6, "f16": 10, "f64": 11}
FLOAT, INT = 1, 2  # Kinds of attributes.


def model(nodes: list[bytes], inputs: list[bytes], outputs: list[bytes]) -> bytes:
    """A model of the standard operators."""
    graph = [*(field(1, one) for one in nodes), field(2, "graph")]
    graph += [*(field(11, one) for one in inputs), *(field(12, one) for one in outputs)]
    return field(1, IR_VERSION) + field(7, b"".join(graph)) + field(8, field(1, "") + field(2, OPSET))


def node(operator: str, inputs: str, output: str, **attributes: float) -> bytes:
    """An operator on values named in `inputs`, between spaces."""
    names = b"".join(field(1, name) for name in inputs.split())
    extra = b"".join(field(5, attribute(*one)) for one in attributes.items())
    return names + field(2, output) + field(4, operator) + extra


def value(name: str, dtype: str, shape: tuple[int, ...]) -> bytes:
    """An input or output of the graph."""
    sizes = b"".join(field(1, field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, TYPES[dtype]) + field(2, sizes)))


def attribute(name: str, content: float) -> bytes:
    """A number by which an operator is set."""
    if isinstance(content, int):
        return field(1, name) + field(3, content) + field(20, INT)
    return field(1, name) + varint(2 << 3 | 5) + struct.pack("<f", content) + field(20, FLOAT)


def field(number: int, content: int | str | bytes) -> bytes:
    """One field: a number as a varint, anything else with its length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content % (1 << 64))
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; all but the last have the top bit set."""
    parts = []
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])
