"""A first reading of the library's launchers beside torch, on one device, in one process.

    cargo build --release -p roofline-cuda --example embed
    python3 crates/roofline-cuda/examples/against_torch.py target/release/examples/libembed.so

Every contender is a graph of launches, each launch with tensors of its own, more of them than the
cache holds; graphs take turns, forwards and backwards. Ratios are of neighbours: above 1 torch, or
the copy, took longer. This is no judge: `roofline run` is, once it knows these kernels.
"""

import ctypes
import math
import statistics
import sys

import torch
from torch.nn import functional

CASES = [(32768, 1024), (16384, 4096), (8192, 8192), (2048, 32768), (4096, 768), (8192, 8191)]
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


def main():
    launch = launcher(ctypes.CDLL(sys.argv[1]))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}")
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


if __name__ == "__main__":
    main()
