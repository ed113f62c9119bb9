"""Started with TRITON_INTERPRET=1: all kernels on lengths around their blocks, held to torch in f64."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import kernels
import torch
from torch.nn import functional

torch.manual_seed(1)
SHAPES = [(1, 1), (3, 31), (5, 748), (2, 1025), (2, 5000)]
TYPES = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def hold(what: str, got: torch.Tensor, wanted: torch.Tensor) -> None:
    most = TYPES[got.dtype] * max(1.0, wanted.abs().max().item())
    apart = (got.double() - wanted.reshape(got.shape)).abs().max().item()
    assert apart <= most, f"{what} in {got.dtype}: {apart} apart, {most} at the most"


def elements(dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    return (2 * torch.randn(shape)).to(dtype)


def philox(index: int, key: int, offset: int) -> int:
    """The lot of an element, as the definition has it."""
    a, b, c, d, second = index // 4 & 0xFFFFFFFF, index // 4 >> 32, offset, 0, 0
    for _ in range(10):
        one, other = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = other >> 32 ^ b ^ key, other & 0xFFFFFFFF, one >> 32 ^ d ^ second, one & 0xFFFFFFFF
        key, second = key + 0x9E3779B9 & 0xFFFFFFFF, second + 0xBB67AE85 & 0xFFFFFFFF
    return (a, b, c, d)[index % 4]


def turned(x: torch.Tensor, positions: torch.Tensor, base: float, interleaved: bool) -> torch.Tensor:
    angles = positions[:, None, None] * base ** -(torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    left, right = a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()
    return torch.stack((left, right), -1).flatten(-2) if interleaved else torch.cat((left, right), -1)


FORMS = {
    "gelu": functional.gelu,
    "gelu-tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "gelu-quick": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": functional.silu,
}
assert list(FORMS) == kernels.FORMS

for dtype in TYPES:
    for shape in SHAPES:
        x, other, y = elements(dtype, shape), elements(dtype, shape), torch.empty(shape, dtype=dtype)
        w, b, one = elements(dtype, shape[1:]), elements(dtype, shape[1:]), torch.empty(1, dtype=dtype)
        wide, name = x.double(), f"of {shape}"
        for form, function in FORMS.items():
            kernels.of_form(form)(x, y)
            hold(f"{form} {name}", y, function(wide))
        kernels.softmax(x, y)
        hold(f"softmax {name}", y, torch.softmax(wide, -1))
        kernels.layer_norm(x, w, b, y, 1e-5)
        hold(f"layer-norm {name}", y, functional.layer_norm(wide, w.shape, w.double(), b.double(), 1e-5))
        kernels.rms_norm(x, w, y, 1e-5)
        hold(f"rms-norm {name}", y, functional.rms_norm(wide, w.shape, w.double(), 1e-5))
        kernels.mse(x, other, one)
        hold(f"mse {name}", one, functional.mse_loss(wide, other.double()))
        targets = torch.randint(shape[1], shape[:1], dtype=torch.int32)
        targets[1:2] = -100
        each = torch.empty(shape[0], dtype=dtype)
        kernels.cross_entropy_each(x, targets, each)
        hold(f"cross-entropy.none {name}", each, functional.cross_entropy(wide, targets.long(), reduction="none"))
        kernels.cross_entropy(x, targets, one)
        hold(f"cross-entropy {name}", one, functional.cross_entropy(wide, targets.long()))
        seed = torch.tensor([-5, 77], dtype=torch.int32)
        kernels.dropout(x, seed, y, 0.3)
        lots = [philox(index, -5 & 0xFFFFFFFF, 77) for index in range(x.numel())]
        kept = torch.tensor([lot >= round(0.3 * 2**32) for lot in lots]).reshape(shape)
        hold(f"dropout {name}", y, torch.where(kept, wide / 0.7, 0.0))
    for shape in [(1, 1, 2), (5, 3, 64), (3, 40, 80)]:
        x, y = elements(dtype, shape), torch.empty(shape, dtype=dtype)
        positions = torch.randint(5000, shape[:1], dtype=torch.int32)
        kernels.rope(x, positions, y, 10_000.0)
        hold(f"rope of {shape}", y, turned(x.double(), positions, 10_000.0, False))
        kernels.rope_interleaved(x, positions, y, 10_000.0)
        hold(f"rope.interleaved of {shape}", y, turned(x.double(), positions, 10_000.0, True))
print("all kernels are held to torch")
