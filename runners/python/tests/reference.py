"""Operations for tests: tensors, inputs, f64 references and error bounds, in the standard library alone.

The same formulas as the conductor's, kept small: what a runner must compute to be called one.
"""

from __future__ import annotations

import math
import random
import struct
from dataclasses import dataclass

CODES = {"f64": "d", "f32": "f", "f16": "e", "i8": "b", "i32": "i"}
SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i8": 1, "i32": 4}
ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8, "i8": 0.0, "i32": 0.0}
SUBNORMAL = {"f64": 2.0**-1074, "f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133, "i8": 0.0, "i32": 0.0}
ACCUMULATOR = {"f64": "f64", "f32": "f32", "f16": "f32", "bf16": "f32", "i8": "i32"}
MARGIN = 4.0
EPSILON = 1e-6
PARAMS = {"rms-norm": {"eps": EPSILON}}

# Widths around vector lengths, and past a block of 1024; a nonfinite family plants what kernels forget.
ELEMENTWISE_SHAPES = [(1, 1), (1, 4), (3, 17), (5, 64), (2, 1031)]
PRODUCT_SHAPES = [(1, 1, 1), (3, 4, 5), (1, 9, 33), (7, 1, 16), (9, 13, 70), (2, 3, 2050)]
FAMILIES = ["normal", "extreme", "nonfinite"]


@dataclass(frozen=True)
class Case:
    """One operation on tensors of one shape."""

    operation: str  # With the variant, as offered.
    dtype: str
    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        axes = ",".join(f"{key}={value}" for key, value in self.axes.items())
        return f"{self.operation}/{self.dtype}/{axes}"

    @property
    def axes(self) -> dict[str, int]:
        names = "mnk" if self.operation.startswith("matmul") else ("rows", "cols")
        return dict(zip(names, self.sizes))

    @property
    def output_dtype(self) -> str:
        return "i32" if self.dtype == "i8" else self.dtype

    def tensors(self) -> list[tuple[str, str, list[int]]]:
        """Name, dtype and shape of each tensor, the output last."""
        if self.operation.startswith("matmul"):
            m, n, k = self.sizes
            b = [k, n] if self.operation.endswith(".nn") else [n, k]
            return [
                ("a", self.dtype, [m, k]),
                ("b", self.dtype, b),
                ("c", self.output_dtype, [m, n]),
            ]
        full, cols = list(self.sizes), [self.sizes[1]]
        shapes = {
            "add": [("x", full), ("y", full), ("z", full)],
            "softmax": [("x", full), ("y", full)],
            "rms-norm": [("x", full), ("w", cols), ("y", full)],
        }
        return [(name, self.dtype, shape) for name, shape in shapes[self.operation]]


def cases(operation: str, dtype: str) -> list[Case]:
    """The cases of an offer; none when the operation or the type is not known here."""
    known = ("add", "softmax", "rms-norm", "matmul", "matmul.nn")
    if operation not in known or dtype not in SIZES:
        return []
    shapes = PRODUCT_SHAPES if operation.startswith("matmul") else ELEMENTWISE_SHAPES
    return [Case(operation, dtype, shape) for shape in shapes]


def inputs(case: Case, family: str, seed: int) -> list[list[float]]:
    """Values of the input tensors, as they are after rounding to their type."""
    draw = random.Random(f"{case.name} {family} {seed}")
    return [
        decode(dtype, encode(dtype, [_value(case, family, draw) for _ in range(math.prod(shape))]))
        for _, dtype, shape in case.tensors()[:-1]
    ]


def _value(case: Case, family: str, draw: random.Random) -> float:
    if case.dtype == "i8":
        return draw.choice([-128, 127]) if family == "extreme" else draw.randint(-128, 127)
    if family == "extreme":
        limit = 1000.0 if case.dtype == "f64" else 100.0
        return draw.choice([-limit, limit, draw.uniform(-limit, limit), draw.gauss(0, 1)])
    if family == "nonfinite" and draw.random() < 0.04:
        return draw.choice([math.nan, math.inf, -math.inf, -0.0, 0.0])
    return draw.gauss(0, 1)


def expected(case: Case, values: list[list[float]]) -> list[tuple[float, float]]:
    """Value and soft error bound of every output element."""
    if case.operation == "add":
        return [(x + y, 0.0) for x, y in zip(*values)]
    if case.operation.startswith("matmul"):
        return _product(case, *values)
    rows = [values[0][i : i + case.sizes[1]] for i in range(0, len(values[0]), case.sizes[1])]
    if case.operation == "softmax":
        return [one for row in rows for one in _softmax(case, row)]
    return [one for row in rows for one in _rms_norm(case, row, values[1])]


def _softmax(case: Case, row: list[float]) -> list[tuple[float, float]]:
    accumulator = ACCUMULATOR[case.dtype]
    u, lost = ROUNDOFF[accumulator], SUBNORMAL[accumulator]
    top = math.nan if any(map(math.isnan, row)) else max(row)
    below = [x - top for x in row]
    powers = [math.exp(x) for x in below]
    total = math.fsum(powers)
    relative = [u * (abs(x) + 2 * math.sqrt(len(row)) + 6) if math.isfinite(x) else 0.0 for x in below]
    return [(p / total, p / total * r + lost) for p, r in zip(powers, relative)]


def _rms_norm(case: Case, row: list[float], weight: list[float]) -> list[tuple[float, float]]:
    accumulator = ACCUMULATOR[case.dtype]
    u = ROUNDOFF[accumulator] * (math.sqrt(len(row)) + 5)
    scale = math.sqrt(_sum(x * x for x in row) / len(row) + EPSILON)
    return [(y, abs(y) * u + SUBNORMAL[accumulator]) for y in (x / scale * w for x, w in zip(row, weight))]


def _product(case: Case, a: list[float], b: list[float]) -> list[tuple[float, float]]:
    m, n, k = case.sizes
    accumulator = ACCUMULATOR[case.dtype]
    u = 7 * math.sqrt(k) * ROUNDOFF[accumulator]
    columns = [b[j::n] if case.operation.endswith(".nn") else b[j * k : (j + 1) * k] for j in range(n)]
    result = []
    for i in range(m):
        for column in columns:
            products = [x * y for x, y in zip(a[i * k : (i + 1) * k], column)]
            result.append((_sum(products), u * sum(map(abs, products)) + SUBNORMAL[accumulator]))
    return result


def _sum(values) -> float:
    """An exact sum; infinities of both signs make NaN, where `math.fsum` raises."""
    values = list(values)
    return math.fsum(values) if all(map(math.isfinite, values)) else sum(values)


def fault(case: Case, content: bytes, wanted: list[tuple[float, float]]) -> str | None:
    """The first output element outside its bound."""
    dtype = case.output_dtype
    for index, (got, (value, soft)) in enumerate(zip(decode(dtype, content), wanted)):
        allowed = ROUNDOFF[dtype] * abs(value) * (1 + 1 / 512) + SUBNORMAL[dtype] / 2 + MARGIN * soft
        if math.isfinite(value) and math.isfinite(got):
            right = abs(got - value) <= allowed
        else:
            overflows = math.isinf(got) and _overflows(dtype, value) and (got > 0) == (value > 0)
            right = got == value or (math.isnan(got) and math.isnan(value)) or overflows
        if not right:
            return f"{case.name}: element {index}: got {got!r}, expected {value!r} ± {allowed:.3g}"
    return None


def _overflows(dtype: str, value: float) -> bool:
    return math.isinf(decode(dtype, encode(dtype, [value]))[0])


def encode(dtype: str, values: list[float]) -> bytes:
    """Values as the tensor's bytes."""
    if dtype == "bf16":
        return b"".join(struct.pack("<H", _bfloat(value)) for value in values)
    if dtype in ("i8", "i32"):
        values = [int(value) for value in values]
    try:
        return struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
    except OverflowError:
        return b"".join(_pack_one(dtype, value) for value in values)


def _pack_one(dtype: str, value: float) -> bytes:
    try:
        return struct.pack(f"<{CODES[dtype]}", value)
    except OverflowError:
        return struct.pack(f"<{CODES[dtype]}", math.copysign(math.inf, value))


def decode(dtype: str, content: bytes) -> list[float]:
    """The tensor's bytes as values."""
    if dtype == "bf16":
        words = struct.unpack(f"<{len(content) // 2}H", content)
        return list(
            struct.unpack(f"<{len(words)}f", struct.pack(f"<{len(words)}I", *(w << 16 for w in words)))
        )
    return list(struct.unpack(f"<{len(content) // SIZES[dtype]}{CODES[dtype]}", content))


def _bfloat(value: float) -> int:
    """Nearest bf16, ties to even; NaN stays NaN."""
    bits = struct.unpack("<I", _pack_one("f32", value))[0]
    if math.isnan(value):
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


POISON = {"f64": math.nan, "f32": math.nan, "f16": math.nan, "bf16": math.nan, "i32": -559038737}


def poison(case: Case) -> bytes:
    """An output that nobody has written yet."""
    count = math.prod(case.tensors()[-1][2])
    return encode(case.output_dtype, [POISON[case.output_dtype]] * count)
