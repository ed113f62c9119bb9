"""A first reading of the library's kernels beside torch, on one device, in one process.

    cargo build --release -p roofline-cuda --example embed
    python3 crates/roofline-cuda/examples/against_torch.py target/release/examples/libembed.so [PART...]

Parts are thin, decode, norms, softmax, elementwise, losses, rope, dropout, transpose and quantize; each
ends in time, and says what it left out for that (LIMIT is its seconds, 100 unless set). Every contender is a
graph of launches, each launch with tensors of its own, more of them than the cache holds; graphs take turns,
forwards and backwards. A line a case: its time, its share of the fastest of three probes that read and write
the same bytes, and how much longer the faster one of torch as it is and torch compiled takes. Geometric means
of the last a group end the page; cases of 4096x768 are a group of their own. This is no judge: `roofline run`
is, and `verify` judges what is computed.
"""

import ctypes
import math
import os
import statistics
import sys
import time

import torch
from torch.nn import functional

SMALL = (4096, 768)
LARGE = [(32768, 1024), (16384, 4096), (8192, 8192), (2048, 32768), (8192, 8191), SMALL]
SQUARE = [(8192, 8192), SMALL]
LOGITS = [(8192, 32000), (4096, 128256), SMALL]
# m, n, k; and batch, heads, heads of keys, keys, length of a head.
THIN = [(1, 4096, 4096), (1, 14336, 4096), (1, 4096, 14336), (4, 4096, 4096), (8, 14336, 4096)]
DECODE = [(1, 32, 8, 8192, 128), (1, 32, 8, 65536, 128), (32, 32, 8, 4096, 128), (8, 64, 8, 4096, 64)]
HEADS = [(16384, 32, 128), (4096, 12, 64)]
DTYPES = {"bf16": torch.bfloat16, "f32": torch.float32}
PROBES = ("512x1", "256x8", "walk")
ROTATED_BYTES = 700e6
ROUNDS = 15
LIMIT = float(os.environ.get("LIMIT", "100"))
# What a case with a compiled peer can take; none is begun with less left.
CASE_SECONDS = 10.0


class Tensor(ctypes.Structure):
    """As `Tensor` of embed.rs."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_uint64),
        ("bytes", ctypes.c_size_t),
        ("is_output", ctypes.c_uint),
    ]


def runner(library):
    """A function that queues a row of the catalogue on torch's current stream, the outputs last."""

    def run(case, name, tensors, outputs=1):
        given = list(tensors.items())
        own = [
            Tensor(key.encode(), x.data_ptr(), x.nbytes, index + outputs >= len(given))
            for index, (key, x) in enumerate(given)
        ]
        stream = ctypes.c_size_t(torch.cuda.current_stream().cuda_stream)
        error = ctypes.create_string_buffer(4096)
        count = ctypes.c_size_t(len(own))
        arguments = (case.encode(), name.encode(), (Tensor * len(own))(*own), count, stream)
        if library.roofline_cuda_run(*arguments, error, ctypes.c_size_t(len(error))):
            raise RuntimeError(f"{case} {name}: {error.value.decode()}")

    return run


def graph(work, sets):
    """Records one launch a set. Outputs that torch makes are kept, so that each is memory of its own."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        work(sets[0])
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded, stream=side):
        recorded.kept = [work(tensors) for tensors in sets]
    return recorded


def take_turns(graphs, launches):
    """Microseconds a launch, a list for each graph."""
    times = {name: [] for name in graphs}
    for recorded in graphs.values():
        recorded.replay()
    for turn in range(ROUNDS):
        marks = []
        torch.cuda._sleep(20000)
        for name in list(graphs)[:: -1 if turn % 2 else 1]:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graphs[name].replay()
            end.record()
            marks.append((name, begin, end))
        torch.cuda.synchronize()
        for name, begin, end in marks:
            times[name].append(begin.elapsed_time(end) * 1e3 / launches)
    return times


class Page:
    """Cases, a line each, and what they come to by group."""

    def __init__(self, library):
        self.run, self.groups, self.until = runner(library), {}, 0.0

    def begin(self, part):
        """A part of so many seconds."""
        self.part, self.until, self.left_out = part, time.monotonic() + LIMIT, []

    def end(self):
        if self.left_out:
            print(f"{self.part}: no time for {', '.join(self.left_out)}", flush=True)

    def case(self, group, case, name, make, eager=None, close=None, outputs=1, compiled=True):
        """A case beside torch: tensors are of `make`, outputs last; results differ by `close` at most."""
        if time.monotonic() > self.until - CASE_SECONDS:
            self.left_out.append(case)
            return
        try:
            self.measure(group, case, name, make, eager, close, outputs, compiled)
        except Exception as error:
            print(f"{case} {name}: {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
        torch.cuda.empty_cache()

    def measure(self, group, case, name, make, eager, close, outputs, compiled):
        first = make()
        bytes_of_set = sum(x.nbytes for x in first.values())
        count = max(3, min(40, math.ceil(ROTATED_BYTES / bytes_of_set)))
        sets = [first] + [make() for _ in range(count - 1)]
        if close is not None:
            self.run(case, name, first, outputs)
            wanted, got = eager(first).float(), list(first.values())[-1].float()
            assert torch.allclose(got.reshape(wanted.shape), wanted, rtol=close, atol=close), "another result"
        graphs = {"ours": graph(lambda s: self.run(case, name, s, outputs), sets)}
        for probe in PROBES:
            graphs[probe] = graph(lambda s, probe=probe: self.run("traffic//", probe, s, outputs), sets)
        peers = []
        if eager:
            graphs["eager"] = graph(eager, sets)
            peers.append("eager")
        if eager and compiled:
            torch._dynamo.reset()
            graphs["compile"] = graph(torch.compile(eager, dynamic=False), sets)
            peers.append("compile")
        times = take_turns(graphs, count)
        ours = statistics.median(times["ours"])
        probe = min(statistics.median(times[probe]) for probe in PROBES)

        def ratio(peer):
            return statistics.median(a / o for a, o in zip(times[peer], times["ours"], strict=True))

        ratios = {peer: ratio(peer) for peer in peers}
        told = f"{ours:.1f} us, {bytes_of_set / ours / 1e3:.0f} GB/s, {100 * probe / ours:.0f} % of the probe"
        if ratios:
            best = min(ratios.values())
            of_each = ", ".join(f"{peer} {ratio:.2f}x" for peer, ratio in ratios.items())
            told += f", best peer {best:.2f}x ({of_each})"
            group = "small" if sizes_of(SMALL) in case else group
            self.groups.setdefault(group, []).append((best, case))
        print(f"{case} {name}: {told}", flush=True)

    def sums(self):
        """A line for each group."""
        for group, found in self.groups.items():
            mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in found))
            worst, case = min(found)
            print(f"{group}: best peer {mean:.2f}x over {len(found)} cases, least {worst:.2f}x of {case}")


def rand(shape, dtype):
    return torch.randn(shape, device="cuda").to(dtype)


def empty(shape, dtype):
    return torch.empty(shape, device="cuda", dtype=dtype)


def each(shapes):
    """Number types and shapes, bf16 and the large ones first."""
    return [(element, dtype, shape) for element, dtype in DTYPES.items() for shape in shapes]


def thin(page):
    """Products of few rows beside `linear`."""
    for element, dtype, (m, n, k) in each(THIN):

        def make(m=m, n=n, k=k, dtype=dtype):
            return {"a": rand((m, k), dtype), "b": rand((n, k), dtype), "c": empty((m, n), dtype)}

        def linear(s):
            return functional.linear(s["a"], s["b"])

        case = f"matmul/{element}/m={m},n={n},k={k}"
        page.case(f"thin {element}", case, "thin", make, linear, 0.05, compiled=False)
    for m, n, k in THIN:

        def codes(m=m, n=n, k=k):
            a, b = (torch.randint(-128, 128, x, device="cuda", dtype=torch.int8) for x in ((m, k), (n, k)))
            return {"a": a, "b": b, "c": empty((m, n), torch.int32)}

        page.case("thin i8", f"matmul/i8/m={m},n={n},k={k}", "thin", codes)


def decode(page):
    """One query a sequence beside scaled_dot_product_attention; the last two with keys in pages."""
    for element, dtype, (batch, heads, kv_heads, kv, dim) in each(DECODE):

        def make(dtype=dtype, shapes=((batch, heads, 1, dim), (batch, kv_heads, kv, dim))):
            q, k, v = (rand(shapes[i > 0], dtype) for i in range(3))
            return {"q": q, "k": k, "v": v, "y": torch.empty_like(q)}

        def sdpa(s):
            return functional.scaled_dot_product_attention(s["q"], s["k"], s["v"], enable_gqa=True)

        sizes = f"batch={batch},seq=1,kv={kv},heads={heads},kv-heads={kv_heads},dim={dim},scale=0"
        name = "lanes" if element == "f32" else "matrix"
        case = f"attention.heads-first/{element}/{sizes}"
        page.case(f"decode {element}", case, name, make, sdpa, 0.02, compiled=False)
    for batch, pages in [(1, 512), (32, 8192)]:

        def paged(batch=batch, pages=pages):
            q = rand((batch, 32, 128), torch.bfloat16)
            k, v = (rand((pages, 16, 8, 128), torch.bfloat16) for _ in range(2))
            order = torch.randperm(pages, device="cuda").int()
            offsets = torch.arange(0, pages + 1, pages // batch, device="cuda").int()
            last = torch.full((batch,), 15, device="cuda").int()
            return dict(q=q, k=k, v=v, pages=order, offsets=offsets, last=last, y=torch.empty_like(q))

        sizes = f"batch={batch},pages={pages},page=16,heads=32,kv-heads=8,dim=128,scale=0"
        page.case("decode paged", f"paged-attention/bf16/{sizes}", "matrix", paged)


def sizes_of(shape):
    return f"rows={shape[0]},cols={shape[1]}"


def rowwise(page, group, case, name, eager, shared=(), more=""):
    """An operation of rows with what all rows share, at every large shape."""
    for element, dtype, shape in each(LARGE):

        def make(shape=shape, dtype=dtype):
            weights = {key: rand(shape[1:], dtype) for key in shared}
            return {"x": rand(shape, dtype), **weights, "y": empty(shape, dtype)}

        page.case(group, f"{case}/{element}/{sizes_of(shape)}{more}", name, make, eager, 0.02)


def norms(page):
    """Norms beside torch's."""

    def rms(s):
        return functional.rms_norm(s["x"], s["w"].shape, s["w"], 1e-6)

    def layer(s):
        return functional.layer_norm(s["x"], s["w"].shape, s["w"], s["b"], 1e-5)

    rowwise(page, "norms and softmax", "layer-norm", "registers", layer, ("w", "b"), ",eps=1e-5")
    rowwise(page, "norms and softmax", "rms-norm", "registers", rms, ("w",), ",eps=1e-6")


def softmax(page):
    """Softmax and its logarithm."""
    rowwise(page, "norms and softmax", "softmax", "registers", lambda s: torch.softmax(s["x"], -1))
    rowwise(page, "norms and softmax", "log-softmax", "registers", lambda s: torch.log_softmax(s["x"], -1))


def elementwise(page):
    """Arithmetic and activations."""
    activations = {
        "gelu": lambda s: functional.gelu(s["x"]),
        "gelu-tanh": lambda s: functional.gelu(s["x"], approximate="tanh"),
        "silu": lambda s: functional.silu(s["x"]),
        "sigmoid": lambda s: torch.sigmoid(s["x"]),
        "relu": lambda s: functional.relu(s["x"]),
    }
    for element, dtype, shape in each(SQUARE):

        def two(shape=shape, dtype=dtype):
            return {"x": rand(shape, dtype), "y": rand(shape, dtype), "z": empty(shape, dtype)}

        def one(shape=shape, dtype=dtype):
            return {"x": rand(shape, dtype), "y": empty(shape, dtype)}

        sizes = f"{element}/{sizes_of(shape)}"
        page.case(f"elementwise {element}", f"add/{sizes}", "stream", two, lambda s: s["x"] + s["y"], 0.02)
        page.case(f"elementwise {element}", f"mul/{sizes}", "stream", two, lambda s: s["x"] * s["y"], 0.02)
        for operation, eager in activations.items():
            # Compiled once in each number type: what it makes of the others is much alike.
            compiled, case = operation in ("gelu-tanh", "silu"), f"{operation}/{sizes}"
            page.case(f"activations {element}", case, "stream", one, eager, 0.02, compiled=compiled)


def losses(page):
    """Cross-entropy of logits, each loss and their mean, and the mean of squares."""
    for element, dtype, shape in each(LOGITS):

        def logits(shape=shape, dtype=dtype, count=1):
            targets = torch.randint(0, shape[1], shape[:1], device="cuda", dtype=torch.int32)
            return {"x": rand(shape, dtype), "t": targets, "y": empty((count,), dtype)}

        def logits_each(shape=shape, make=logits):
            return make(count=shape[0])

        group, sizes = f"cross-entropy {element}", f"{element}/{sizes_of(shape)}"
        mean = lambda s: functional.cross_entropy(s["x"], s["t"].long())  # noqa: E731
        every = lambda s: functional.cross_entropy(s["x"], s["t"].long(), reduction="none")  # noqa: E731
        page.case(group, f"cross-entropy.none/{sizes}", "online", logits_each, every, 0.05)
        page.case(group, f"cross-entropy/{sizes}", "online", logits, mean, 0.05)
    for element, dtype, shape in each(SQUARE):

        def pair(shape=shape, dtype=dtype):
            return {"p": rand(shape, dtype), "t": rand(shape, dtype), "y": empty((1,), dtype)}

        mse = lambda s: functional.mse_loss(s["p"], s["t"])  # noqa: E731
        page.case(f"mse {element}", f"mse/{element}/{sizes_of(shape)}", "shared", pair, mse, 0.05)


def rope(page):
    """Rotations by tables, as models have them."""
    for element, dtype, (seq, heads, dim) in each(HEADS):

        def make(seq=seq, heads=heads, dim=dim, dtype=dtype):
            positions = torch.arange(seq, device="cuda", dtype=torch.int32)
            angles = torch.rand((seq, dim // 2), device="cuda")
            x = rand((seq, heads, dim), dtype)
            tables = {"cos": angles.cos(), "sin": angles.sin()}
            return {"x": x, "positions": positions, **tables, "y": torch.empty_like(x)}

        def turned(s, half=dim // 2):
            cos, sin = (s[name][s["positions"]].unsqueeze(1) for name in ("cos", "sin"))
            a, b = s["x"][..., :half].float(), s["x"][..., half:].float()
            return torch.cat((a * cos - b * sin, a * sin + b * cos), -1).to(s["x"].dtype)

        case = f"rope.cached/{element}/seq={seq},heads={heads},dim={dim},base=1e4,angle-bits=53"
        page.case("rope", case, "shared", make, turned, 0.02)


def dropout(page):
    """Elements dropped by lot: the lots are others than torch's."""
    for element, dtype, shape in each(SQUARE):

        def make(shape=shape, dtype=dtype):
            seed = torch.tensor([7, 1], device="cuda", dtype=torch.int32)
            return {"x": rand(shape, dtype), "seed": seed, "y": empty(shape, dtype)}

        case = f"dropout/{element}/{sizes_of(shape)},p=0.1"
        page.case("dropout", case, "stream", make, lambda s: functional.dropout(s["x"], 0.1, True))


def transpose(page):
    """Rows as columns; the last shape has rows that lie anywhere."""
    for element, dtype, shape in each([*SQUARE, (8191, 8193)]):

        def make(shape=shape, dtype=dtype):
            return {"x": rand(shape, dtype), "y": empty(shape[::-1], dtype)}

        case = f"transpose/{element}/{sizes_of(shape)}"
        page.case("transpose", case, "tiles", make, lambda s: s["x"].t().contiguous(), 0)


def quantize(page):
    """Codes with a scale a row, and back."""
    for element, dtype, shape in each(SQUARE):

        def make(shape=shape, dtype=dtype, code=torch.int8):
            return {"x": rand(shape, dtype), "q": empty(shape, code), "s": empty(shape[:1], torch.float32)}

        def to_fp8(make=make):
            return make(code=torch.uint8)

        def coded(shape=shape, dtype=dtype):
            q = torch.randint(-127, 128, shape, device="cuda", dtype=torch.int8)
            return {"q": q, "s": torch.rand(shape[:1], device="cuda"), "y": empty(shape, dtype)}

        def whole(s):
            x = s["x"].float()
            scale = x.abs().amax(-1) / 127
            return (x / scale.unsqueeze(-1)).round().clamp(-127, 127).to(torch.int8), scale

        def fp8(s):
            x = s["x"].float()
            scale = x.abs().amax(-1) / 448
            return (x / scale.unsqueeze(-1)).to(torch.float8_e4m3fn), scale

        def back(s):
            return (s["q"].float() * s["s"].unsqueeze(-1)).to(s["y"].dtype)

        sizes = f"{element}/{sizes_of(shape)}"
        page.case("quantize", f"quantize/{sizes}", "shared", make, whole, outputs=2)
        page.case("quantize", f"quantize-fp8/{sizes}", "shared", to_fp8, fp8, outputs=2)
        page.case("dequantize", f"dequantize/{sizes}", "stream", coded, back, 0.02)


PARTS = (thin, decode, norms, softmax, elementwise, losses, rope, dropout, transpose, quantize)


def main():
    page, parts = Page(ctypes.CDLL(sys.argv[1])), sys.argv[2:]
    known = {part.__name__: part for part in PARTS}
    unknown = [name for name in parts if name not in known]
    if unknown:
        sys.exit(f"no part {', '.join(unknown)}: {', '.join(known)}")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}", flush=True)
    for name in parts or known:
        page.begin(name)
        known[name](page)
        page.end()
    page.sums()


if __name__ == "__main__":
    main()
