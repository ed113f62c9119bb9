"""Every kernel compiled for cards that are not here."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

CARDS = [80, 90, 100]
TENSOR = "*bf16"

# Of each kernel what its arguments are; a number or a text is known to the compiler.
ROW = {"x": TENSOR, "y": TENSOR, "cols": "i32", "BLOCK": 4096}
NORM = ROW | {"w": TENSOR, "eps": "fp32"}
LOSSES = {"x": TENSOR, "t": "*i32", "losses": TENSOR, "counts": "*fp32", "cols": "i32", "BLOCK": 4096}
QUOTIENT = {"sums": "*fp32", "counts": "*fp32", "y": TENSOR, "parts": "i32", "n": "i32", "BLOCK": 1024}
ROPE = {"x": TENSOR, "positions": "*i32", "frequencies": "*fp64", "y": TENSOR, "pairs": "i32", "half": "i32", "BLOCK": 1024}
KERNELS = [
    *((kernels._stream, {"x": TENSOR, "y": TENSOR, "n": "i64", "FORM": form, "BLOCK": 1024}) for form in kernels.FORMS),
    (kernels._softmax, ROW),
    (kernels._layer_norm, NORM | {"b": TENSOR}),
    (kernels._rms_norm, NORM),
    (kernels._squares, {"p": TENSOR, "t": TENSOR, "parts": "*fp32", "n": "i64", "BLOCK": 1024}),
    *((kernels._quotient, QUOTIENT | {"COUNTS": counts}) for counts in (False, True)),
    *((kernels._losses, LOSSES | {"COUNTS": counts}) for counts in (False, True)),
    (kernels._dropout, {"x": TENSOR, "seed": "*i32", "y": TENSOR, "n": "i32", "least": "i64", "scale": "fp32", "BLOCK": 1024}),
    *((kernels._rope, ROPE | {"INTERLEAVED": interleaved}) for interleaved in (False, True)),
]

for card in CARDS:
    for kernel, arguments in KERNELS:
        names = kernel.arg_names
        is_known = {name: not str(arguments[name]).startswith(("*", "i", "fp")) for name in names}
        signature = {name: "constexpr" if is_known[name] else arguments[name] for name in names}
        known = {(names.index(name),): arguments[name] for name in names if is_known[name]}
        source = ASTSource(fn=kernel, signature=signature, constexprs=known)
        compiled = triton.compile(source, target=GPUTarget("cuda", card, 32))
        assert compiled.asm["cubin"].startswith(b"\x7fELF"), f"{kernel.__name__} for sm_{card}"
print(f"{len(KERNELS)} kernels for {CARDS}")
