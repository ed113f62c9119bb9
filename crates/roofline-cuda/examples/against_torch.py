"""A first reading of the library's launchers beside torch, on one device, in one process.

    cargo build --release -p roofline-cuda --example embed
    python3 crates/roofline-cuda/examples/against_torch.py target/release/examples/libembed.so

Every contender is a graph of launches, each launch with tensors of its own, more of them than the
cache holds; graphs take turns, forwards and backwards. Ratios are of neighbours: above 1 torch, or
the copy, took longer. Beside products and attention stands the fastest of three probes that read and
write the same bytes. Words behind the library choose what is read: norms, thin, decode. This is no
judge: `roofline run` is, and `verify` judges what is computed.
"""

import ctypes
import math
import statistics
import sys

import torch
from torch.nn import functional

CASES = [(32768, 1024), (16384, 4096), (8192, 8192), (2048, 32768), (4096, 768), (8192, 8191)]
# m, n, k; and batch, heads, heads of keys, keys, length of a head.
THIN = [(1, 4096, 4096), (1, 14336, 4096), (1, 4096, 14336), (4, 4096, 4096), (8, 14336, 4096)]
DECODE = [(1, 32, 8, 8192, 128), (1, 32, 8, 65536, 128), (32, 32, 8, 4096, 128), (8, 64, 8, 4096, 64)]
DTYPES = {"bf16": torch.bfloat16, "f32": torch.float32}
ROTATED_BYTES = 700e6
ROUNDS = 15


class Job(ctypes.Structure):
    """As `Job` of embed.rs."""

    _fields_ = [
        ("operation", ctypes.c_char_p),
        ("element", ctypes.c_char_p),
        ("rows", ctypes.c_size_t),
        ("cols", ctypes.c_size_t),
        ("addresses", ctypes.c_uint64 * 4),
        ("stream", ctypes.c_size_t),
        ("cut", ctypes.c_uint * 5),
    ]


def launcher(library):
    """A function that queues one launch on torch's current stream."""

    def launch(operation, element, shape, tensors):
        addresses = [tensor.data_ptr() for tensor in tensors]
        addresses += [0] * (4 - len(addresses))
        stream = torch.cuda.current_stream().cuda_stream
        job = Job(operation.encode(), element.encode(), *shape, (ctypes.c_uint64 * 4)(*addresses), stream)
        error = ctypes.create_string_buffer(4096)
        if library.roofline_cuda_launch(ctypes.byref(job), error, len(error)):
            raise RuntimeError(error.value.decode())

    return launch


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


def operations(w, b):
    """Name, what torch calls, and what lies between input and output."""
    size = w.shape
    return [
        ("softmax", lambda x: torch.softmax(x, -1), []),
        ("rms-norm", lambda x: functional.rms_norm(x, size, w, 1e-6), [w]),
        ("layer-norm", lambda x: functional.layer_norm(x, size, w, b, 1e-5), [w, b]),
    ]


class Tensor(ctypes.Structure):
    """As `Tensor` of embed.rs."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_uint64),
        ("bytes", ctypes.c_size_t),
        ("is_output", ctypes.c_uint),
    ]


def runner(library):
    """A function that queues a row of the catalogue on torch's current stream, the output last."""

    def run(case, name, tensors):
        given = list(tensors.items())
        own = [
            Tensor(key.encode(), x.data_ptr(), x.nbytes, index + 1 == len(given))
            for index, (key, x) in enumerate(given)
        ]
        stream = ctypes.c_size_t(torch.cuda.current_stream().cuda_stream)
        error = ctypes.create_string_buffer(4096)
        count = ctypes.c_size_t(len(own))
        arguments = (case.encode(), name.encode(), (Tensor * len(own))(*own), count, stream)
        if library.roofline_cuda_run(*arguments, error, ctypes.c_size_t(len(error))):
            raise RuntimeError(f"{case} {name}: {error.value.decode()}")

    return run


PROBES = ("512x1", "256x8", "walk")


def beside_probe(run, case, name, make, torchs, close):
    """Prints a case beside probes of the same bytes and torch. `make` gives tensors, the output last."""
    first = make()
    count = max(3, min(40, math.ceil(ROTATED_BYTES / sum(x.nbytes for x in first.values()))))
    sets = [first] + [make() for _ in range(count - 1)]
    if torchs:
        run(case, name, first)
        wanted, got = next(iter(torchs.values()))(first).float(), list(first.values())[-1].float()
        assert torch.allclose(got.reshape(wanted.shape), wanted, rtol=close, atol=close), f"{case} {name}"
    graphs = {"ours": graph(lambda s: run(case, name, s), sets)}
    for probe in PROBES:
        graphs[probe] = graph(lambda s, probe=probe: run("traffic//", probe, s), sets)
    for other, work in torchs.items():
        graphs[other] = graph(work, sets)
    times = {key: statistics.median(values) for key, values in take_turns(graphs, count).items()}
    ours, probe = times["ours"], min(times[probe] for probe in PROBES)
    rate = sum(x.nbytes for x in first.values()) / ours / 1e3
    told = " ".join(f"{other} {times[other] / ours:.2f}x" for other in torchs)
    share = f"{rate:.0f} GB/s, {100 * probe / ours:.0f} % of the probe"
    print(f"{case} {name}: {ours:.1f} us, {share}, {told}", flush=True)
    del graphs, sets
    torch.cuda.empty_cache()


def thin(run):
    """Products of few rows beside `linear`."""
    for m, n, k in THIN:
        for element, dtype in DTYPES.items():

            def make(dtype=dtype):
                a, b = (torch.randn(shape, device="cuda").to(dtype) for shape in ((m, k), (n, k)))
                return {"a": a, "b": b, "c": torch.empty((m, n), device="cuda", dtype=dtype)}

            others = {"linear": lambda s: functional.linear(s["a"], s["b"])}
            beside_probe(run, f"matmul/{element}/m={m},n={n},k={k}", "thin", make, others, 0.05)

        def codes():
            shapes = ((m, k), (n, k))
            a, b = (torch.randint(-128, 128, x, device="cuda", dtype=torch.int8) for x in shapes)
            return {"a": a, "b": b, "c": torch.empty((m, n), device="cuda", dtype=torch.int32)}

        beside_probe(run, f"matmul/i8/m={m},n={n},k={k}", "thin", codes, {}, 0)


def decode(run):
    """One query a sequence beside scaled_dot_product_attention; the last two with keys in pages."""
    for batch, heads, kv_heads, kv, dim in DECODE:
        for element, dtype in DTYPES.items():

            def make(dtype=dtype, shapes=((batch, heads, 1, dim), (batch, kv_heads, kv, dim))):
                q, k, v = (torch.randn(shapes[i > 0], device="cuda").to(dtype) for i in range(3))
                return {"q": q, "k": k, "v": v, "y": torch.empty_like(q)}

            def sdpa(s):
                return functional.scaled_dot_product_attention(s["q"], s["k"], s["v"], enable_gqa=True)

            sizes = f"batch={batch},seq=1,kv={kv},heads={heads},kv-heads={kv_heads},dim={dim},scale=0"
            name = "lanes" if element == "f32" else "matrix"
            beside_probe(run, f"attention.heads-first/{element}/{sizes}", name, make, {"sdpa": sdpa}, 0.02)
    for batch, pages in [(1, 512), (32, 8192)]:

        def paged(batch=batch, pages=pages):
            q = torch.randn((batch, 32, 128), device="cuda").bfloat16()
            k, v = (torch.randn((pages, 16, 8, 128), device="cuda").bfloat16() for _ in range(2))
            order = torch.randperm(pages, device="cuda").int()
            offsets = torch.arange(0, pages + 1, pages // batch, device="cuda").int()
            last = torch.full((batch,), 15, device="cuda").int()
            return dict(q=q, k=k, v=v, pages=order, offsets=offsets, last=last, y=torch.empty_like(q))

        sizes = f"batch={batch},pages={pages},page=16,heads=32,kv-heads=8,dim=128,scale=0"
        beside_probe(run, f"paged-attention/bf16/{sizes}", "matrix", paged, {}, 0)


def norms(launch):
    """Softmax and norms beside torch's, as it is and compiled."""
    for element, dtype in DTYPES.items():
        for shape in CASES:
            traffic = 2 * shape[0] * shape[1] * dtype.itemsize
            count = max(3, min(40, math.ceil(ROTATED_BYTES / traffic)))
            made = [torch.randn(shape, device="cuda").to(dtype) for _ in range(count)]
            sets = [(x, torch.empty_like(x)) for x in made]
            w, b = (torch.randn(shape[1], device="cuda").to(dtype) for _ in range(2))
            for name, eager, shared in operations(w, b):
                torch._dynamo.reset()
                compiled = torch.compile(eager, dynamic=False)

                def ours(s, name=name, shared=shared):
                    launch(name, element, shape, [s[0], *shared, s[1]])

                graphs = {
                    "ours": graph(ours, sets),
                    "copy": graph(lambda s: s[1].copy_(s[0]), sets),
                    "eager": graph(lambda s, eager=eager: eager(s[0]), sets),
                    "compile": graph(lambda s, compiled=compiled: compiled(s[0]), sets),
                }
                times = take_turns(graphs, count)
                microseconds = statistics.median(times["ours"])
                ratios = {
                    other: statistics.median(a / o for a, o in zip(times[other], times["ours"], strict=True))
                    for other in ("copy", "eager", "compile")
                }
                told = " ".join(f"{other} {ratio:.2f}x" for other, ratio in ratios.items())
                print(f"{name} {element} {shape[0]}x{shape[1]}: {microseconds:.1f} us, {told}", flush=True)
                del graphs
            torch.cuda.empty_cache()


def main():
    library, parts = ctypes.CDLL(sys.argv[1]), sys.argv[2:] or ["norms", "thin", "decode"]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}")
    if "thin" in parts:
        thin(runner(library))
    if "decode" in parts:
        decode(runner(library))
    if "norms" in parts:
        norms(launcher(library))


if __name__ == "__main__":
    main()
