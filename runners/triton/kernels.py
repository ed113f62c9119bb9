"""The kernels, each with a function that launches it on tensors: inputs first, the output last."""

from __future__ import annotations

from functools import cache

import torch
import triton
import triton.language as tl

# Elements of the longest row that one program holds.
LONGEST = 65_536
# Elements of a program that walks along a row or a tensor.
BLOCK = 1024
# Programs that share a sum.
SHARES = 1024
FORMS = ["gelu", "gelu-tanh", "gelu-quick", "silu"]
NO_TARGET = tl.constexpr(-100)


def warps(block: int) -> int:
    """Warps of a program that holds so many elements."""
    return min(max(block // 512, 1), 16)


@triton.jit
def _form(x, FORM: tl.constexpr):
    if FORM == "gelu":
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    elif FORM == "gelu-tanh":
        # 1 + tanh u is twice the logistic function of 2 u.
        y = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    elif FORM == "gelu-quick":
        y = x * tl.sigmoid(1.702 * x)
    else:
        y = x * tl.sigmoid(x)
    return y


@triton.jit
def _stream(x, y, n, FORM: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y + at, _form(tl.load(x + at, inside, 0.0).to(tl.float32), FORM), inside)


def of_form(form: str):
    """A function of elements, by its name."""

    def apply(x: torch.Tensor, y: torch.Tensor) -> None:
        _stream[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), form, BLOCK)

    apply.__doc__ = "A program for every 1024 elements."
    return apply


@triton.jit
def _softmax(x, y, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    inside = at < cols
    value = tl.load(x + row * cols + at, inside, -float("inf")).to(tl.float32)
    power = tl.where(inside, tl.exp(value - tl.max(value, 0)), 0.0)
    tl.store(y + row * cols + at, power / tl.sum(power, 0), inside)


def softmax(x: torch.Tensor, y: torch.Tensor) -> None:
    """A program a row, which it holds whole."""
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    _softmax[(rows,)](x, y, cols, block, num_warps=warps(block))


@triton.jit
def _layer_norm(x, w, b, y, cols, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    inside = at < cols
    value = tl.load(x + row * cols + at, inside, 0.0).to(tl.float32)
    centred = tl.where(inside, value - tl.sum(value, 0) / cols, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / cols + eps)
    weight, bias = tl.load(w + at, inside, 0.0).to(tl.float32), tl.load(b + at, inside, 0.0).to(tl.float32)
    tl.store(y + row * cols + at, centred * scale * weight + bias, inside)


def layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, y: torch.Tensor, eps: float) -> None:
    """A program a row, which it holds whole."""
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    _layer_norm[(rows,)](x, w, b, y, cols, eps, block, num_warps=warps(block))


@triton.jit
def _rms_norm(x, w, y, cols, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    inside = at < cols
    value = tl.load(x + row * cols + at, inside, 0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(value * value, 0) / cols + eps)
    tl.store(y + row * cols + at, value * scale * tl.load(w + at, inside, 0.0).to(tl.float32), inside)


def rms_norm(x: torch.Tensor, w: torch.Tensor, y: torch.Tensor, eps: float) -> None:
    """A program a row, which it holds whole."""
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)
    _rms_norm[(rows,)](x, w, y, cols, eps, block, num_warps=warps(block))


@triton.jit
def _squares(p, t, parts, n, BLOCK: tl.constexpr):
    share, shares = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    total = tl.zeros([BLOCK], tl.float32)
    for begin in range(share * BLOCK, n, shares * BLOCK):
        at = begin + tl.arange(0, BLOCK)
        inside = at < n
        apart = tl.load(p + at, inside, 0.0).to(tl.float32) - tl.load(t + at, inside, 0.0).to(tl.float32)
        total += apart * apart
    tl.store(parts + share, tl.sum(total, 0))


@triton.jit
def _quotient(sums, counts, y, parts, n, COUNTS: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of all parts over that of their counts, or over `n`."""
    total, count = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32)
    for begin in range(0, parts, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        total += tl.load(sums + at, at < parts, 0.0)
        if COUNTS:
            count += tl.load(counts + at, at < parts, 0.0)
    tl.store(y, tl.sum(total, 0) / (tl.sum(count, 0) if COUNTS else n))


@cache
def _room(device: torch.device, numbers: int) -> torch.Tensor:
    """Memory between two kernels, made once."""
    return torch.empty(numbers, dtype=torch.float32, device=device)


def mse(p: torch.Tensor, t: torch.Tensor, y: torch.Tensor) -> None:
    """Sums of shares, then the sum of these."""
    shares, n = min(SHARES, triton.cdiv(p.numel(), BLOCK)), p.numel()
    parts = _room(p.device, SHARES)
    _squares[(shares,)](p, t, parts, n, BLOCK)
    _quotient[(1,)](parts, parts, y, shares, n, False, BLOCK)


@triton.jit
def _losses(x, t, losses, counts, cols, COUNTS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(t + row)
    most, total = tl.full([BLOCK], -float("inf"), tl.float32), tl.zeros([BLOCK], tl.float32)
    for begin in range(0, cols, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        value = tl.load(x + row * cols + at, at < cols, -float("inf")).to(tl.float32)
        larger = tl.maximum(most, value)
        # Nothing lies below minus infinity: there the difference would be none.
        base = tl.where(larger == -float("inf"), 0.0, larger)
        total = total * tl.exp(most - base) + tl.exp(value - base)
        most = larger
    largest = tl.max(most, 0)
    base = tl.where(largest == -float("inf"), 0.0, largest)
    total = tl.sum(total * tl.exp(most - base), 0)
    logit = tl.load(x + row * cols + target, (target >= 0) & (target < cols), float("nan")).to(tl.float32)
    loss = tl.where(target == NO_TARGET, 0.0, (base - logit) + tl.log(total))
    tl.store(losses + row, loss)
    if COUNTS:
        tl.store(counts + row, (target != NO_TARGET).to(tl.float32))


def cross_entropy(x: torch.Tensor, t: torch.Tensor, y: torch.Tensor) -> None:
    """A program a row, one walk; then the mean of those that count."""
    rows, cols = x.shape
    block = min(triton.next_power_of_2(cols), 4 * BLOCK)
    losses, counts = _room(x.device, 2 * rows).chunk(2)
    _losses[(rows,)](x, t, losses, counts, cols, True, block, num_warps=warps(block))
    _quotient[(1,)](losses, counts, y, rows, rows, True, BLOCK)


def cross_entropy_each(x: torch.Tensor, t: torch.Tensor, y: torch.Tensor) -> None:
    """A program a row, one walk."""
    rows, cols = x.shape
    block = min(triton.next_power_of_2(cols), 4 * BLOCK)
    _losses[(rows,)](x, t, y, y, cols, False, block, num_warps=warps(block))


@triton.jit
def _dropout(x, seed, y, n, least, scale, BLOCK: tl.constexpr):
    four = tl.program_id(0).to(tl.int64) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
    key = tl.load(seed).to(tl.uint32, bitcast=True).to(tl.uint64)
    none = tl.zeros([BLOCK // 4], tl.uint32)
    offset = none + tl.load(seed + 1).to(tl.uint32, bitcast=True)
    a, b, c, d = tl.philox(key, four.to(tl.uint32), (four >> 32).to(tl.uint32), offset, none)
    # In order: the last of two that are joined goes quickest.
    lots = tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), [BLOCK])
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, at < n, 0.0).to(tl.float32)
    tl.store(y + at, tl.where(lots.to(tl.int64) >= least, value * scale, 0.0), at < n)


def dropout(x: torch.Tensor, seed: torch.Tensor, y: torch.Tensor, p: float) -> None:
    """Lots of Philox, four of a block."""
    _dropout[(triton.cdiv(x.numel(), BLOCK),)](x, seed, y, x.numel(), round(p * 2**32), 1.0 / (1.0 - p), BLOCK)


@triton.jit
def _rope(x, positions, frequencies, y, pairs, half, INTERLEAVED: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.program_id(0).to(tl.int64)
    pair = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside, i = pair < pairs, pair % half
    # In f32 the angle alone would be off by 1e-4 at position 2048.
    angle = tl.load(positions + place).to(tl.float64) * tl.load(frequencies + i, inside, 0.0)
    cosine, sine = tl.cos(angle).to(tl.float32), tl.sin(angle).to(tl.float32)
    first = place * pairs * 2 + (2 * pair if INTERLEAVED else pair + pair // half * half)
    second = first + (1 if INTERLEAVED else half)
    a, b = tl.load(x + first, inside, 0.0).to(tl.float32), tl.load(x + second, inside, 0.0).to(tl.float32)
    tl.store(y + first, a * cosine - b * sine, inside)
    tl.store(y + second, b * cosine + a * sine, inside)


@cache
def _frequencies(device: torch.device, dim: int, base: float) -> torch.Tensor:
    exponents = torch.arange(0, dim, 2, dtype=torch.float64, device=device) / dim
    return base**-exponents


def rope(x: torch.Tensor, positions: torch.Tensor, y: torch.Tensor, base: float, interleaved: bool = False) -> None:
    """A program for pairs of one position, angles in f64."""
    seq, heads, dim = x.shape
    pairs = heads * dim // 2
    block = min(triton.next_power_of_2(pairs), BLOCK)
    grid = (seq, triton.cdiv(pairs, block))
    _rope[grid](x, positions, _frequencies(x.device, dim, base), y, pairs, dim // 2, interleaved, block)


def rope_interleaved(x: torch.Tensor, positions: torch.Tensor, y: torch.Tensor, base: float) -> None:
    """The same for pairs of neighbours."""
    rope(x, positions, y, base, True)
