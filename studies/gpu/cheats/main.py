"""Cheats on a GPU, and the status that each must get: `python3 main.py --table` prints them.

All compute softmax in f32 with torch, on the tensors that the device process owns, and are right as far as they do not
cheat. What each plays is in the catalogue of ways in which GPU harnesses were fooled.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "runners" / "torch"))

# What must become of each; several where it depends on which check meets it first.
TABLE = {
    "honest": ["ok"],
    "no-launch": ["wrong"],
    "other-stream": ["suspect", "wrong"],
    "cached-by-pointer": ["wrong"],
    "first-of-a-batch": ["wrong"],
    "right-for-ten-calls": ["wrong"],
    "lower-precision": ["wrong"],
    "one-too-many": ["wrong", "crashed"],
    "input-written": ["wrong", "crashed"],
    "last-result": ["wrong"],
    "left-running": ["suspect", "wrong"],
    "short-claims": ["suspect"],
}

if sys.argv[1:] == ["--table"]:
    print(json.dumps(TABLE))
    sys.exit(0)

from common import Runner, tensors, torch

gpus = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
runner = Runner("cheats", "1", gpus)
driver = ctypes.CDLL("libcuda.so.1")
driver.cuMemsetD8_v2.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t]


def cheat(prepare):
    """Offers a function as a cheat of its name."""
    name = prepare.__name__.replace("_", "-")
    runner.implementation(f"cheats/{name}", operation="softmax", dtypes=["f32"], devices=["cuda"], about=prepare.__doc__)(prepare)
    return prepare


def softmax(x, y):
    torch.softmax(x, -1, out=y)


def write(address: int, count: int) -> None:
    answer = driver.cuMemsetD8_v2(address, 0x5A, count)
    if answer:
        raise RuntimeError(f"cuMemsetD8: error {answer}")


@cheat
def honest(job):
    """Computes."""
    x, y = tensors(job)
    return lambda: softmax(x, y)


@cheat
def no_launch(job):
    """Does nothing."""
    tensors(job)
    return lambda: None


@cheat
def other_stream(job):
    """Computes on a stream that no event is on."""
    x, y = tensors(job)
    side = torch.cuda.Stream(job.device)

    def launch():
        with torch.cuda.stream(side):
            softmax(x, y)

    return launch


SEEN = {}


@cheat
def cached_by_pointer(job):
    """Computes once for each address."""
    x, y = tensors(job)

    def launch():
        key = (x.data_ptr(), tuple(x.shape))
        if key not in SEEN:
            SEEN[key] = torch.softmax(x, -1)
        y.copy_(SEEN[key])

    return launch


CALLS = {"number": 0}


@cheat
def first_of_a_batch(job):
    """Computes one launch in twenty once it was launched often, as a graph does that was recorded once."""
    x, y = tensors(job)

    def launch():
        CALLS["number"] += 1
        if CALLS["number"] < 60 or CALLS["number"] % 20 == 0:
            softmax(x, y)

    return launch


@cheat
def right_for_ten_calls(job):
    """Computes ten times, then nothing."""
    x, y = tensors(job)
    left = [10]

    def launch():
        left[0] -= 1
        if left[0] >= 0:
            softmax(x, y)

    return launch


@cheat
def lower_precision(job):
    """Computes in bf16."""
    x, y = tensors(job)
    return lambda: y.copy_(torch.softmax(x.bfloat16(), -1))


@cheat
def one_too_many(job):
    """Writes four bytes past its output."""
    x, y = tensors(job)

    def launch():
        softmax(x, y)
        torch.cuda.synchronize()
        write(y.data_ptr() + 4 * y.numel(), 4)

    return launch


@cheat
def input_written(job):
    """Writes to its input."""
    x, y = tensors(job)

    def launch():
        softmax(x, y)
        torch.cuda.synchronize()
        write(x.data_ptr(), 4)

    return launch


@cheat
def last_result(job):
    """Leaves the result of the call before."""
    x, y = tensors(job)
    kept = [torch.softmax(x, -1)]

    def launch():
        y.copy_(kept[0])
        kept[0] = torch.softmax(x, -1)

    return launch


@cheat
def left_running(job):
    """Leaves a kernel running on another stream."""
    x, y = tensors(job)
    side = torch.cuda.Stream(job.device)

    def wait(_result):
        torch.cuda.current_stream(job.device).synchronize()

    def launch():
        softmax(x, y)
        with torch.cuda.stream(side):
            torch.cuda._sleep(400_000_000)

    job.elsewhere(lambda: None, wait, wait, in_place=True)
    return launch


@cheat
def short_claims(job):
    """Says half of what its events say."""
    x, y = tensors(job)
    honest_clock = job.transfers.timed

    def timed(call, count):
        took, result = honest_clock(call, count)
        return took / 2, result

    wait = job.transfers.wait
    job.elsewhere(lambda: None, wait, wait, timed, in_place=True)
    return lambda: softmax(x, y)


if __name__ == "__main__":
    runner.serve()
