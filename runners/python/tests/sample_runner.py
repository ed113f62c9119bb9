"""A runner of odd implementations, for the tests of the package; needs no numpy unless asked."""

import array
import ctypes
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from roofline_runner import Runner, Unsupported

runner = Runner("sample", version="1.2.3", notes={"kind": "test"})
F32 = {"operation": "add", "dtypes": ["f32"]}


def sums(x: memoryview, y: memoryview) -> array.array:
    """The sums as new memory."""
    return array.array("f", (a + b for a, b in zip(x.cast("f"), y.cast("f"))))


@runner.implementation("sample/buffers", **F32)
def buffers(job):
    """Plain Python over bytes."""
    x, y, z = job.buffers()

    def run():
        z[:] = memoryview(sums(x, y)).cast("B")

    job.workspace_bytes = 7
    job.notes["cores"] = len(job.cores)
    return run


@runner.implementation("sample/fresh", output="fresh", parallel=True, **F32)
def fresh(job):
    """Returns new memory of the right shape."""
    x, y, _ = job.buffers()
    return lambda: memoryview(sums(x, y)).cast("B").cast("f", job.tensors[2].shape)


@runner.implementation("sample/fresh-numpy", output="fresh", **F32)
def fresh_numpy(job):
    """Returns a numpy array that is not contiguous."""
    x, y, _ = job.arrays()
    return lambda: (x.T + y.T).T


@runner.implementation("sample/fresh-wrong-shape", output="fresh", **F32)
def fresh_wrong_shape(job):
    """Returns too little."""
    return lambda: array.array("f", [1.0])


@runner.implementation("sample/fresh-nothing", output="fresh", **F32)
def fresh_nothing(job):
    """Returns nothing at all."""
    return lambda: None


@runner.implementation("sample/raises-in-launch", **F32)
def raises_in_launch(job):
    """Divides by zero."""
    return lambda: 1 // 0  # the line of the launch


@runner.implementation("sample/raises-in-prepare", **F32)
def raises_in_prepare(job):
    """Fails inside the standard library."""
    Path("/nowhere/at/all").read_text()  # the line of the prepare


@runner.implementation("sample/unsupported", **F32)
def unsupported(job):
    """Says no."""
    raise Unsupported(f"not for {job.axes['cols']} columns")


@runner.implementation("sample/greedy", **F32)
def greedy(job):
    """Wants more memory than there is."""
    return lambda: bytearray(1 << 60)


@runner.implementation("sample/no-callable", **F32)
def no_callable(job):
    """Forgets to return the callable."""


@runner.implementation("sample/huge-message", **F32)
def huge_message(job):
    """Raises a message that would not fit."""
    raise ValueError("x" * (2 << 20))


@runner.implementation("sample/writes-input", **F32)
def writes_input(job):
    """Writes to memory that is for reading."""
    return lambda: ctypes.memset(job.tensors[0].address, 0, 4)


@runner.implementation("sample/assigns-input", **F32)
def assigns_input(job):
    """Assigns to a view that is for reading."""
    return lambda: job.tensors[0].memory.__setitem__(0, 1)


@runner.implementation("sample/reads-past-end", **F32)
def reads_past_end(job):
    """Reads one byte behind an input that lies at the end of its file."""
    return lambda: ctypes.string_at(job.tensors[0].address + job.tensors[0].bytes, 1)


@runner.implementation("sample/prints", **F32)
def prints(job):
    """Talks on the kernel's own outputs."""

    def run():
        print("kernel on stdout", flush=True)
        os.write(1, b"kernel on descriptor 1\n")

    return run


@runner.implementation("sample/rounds-upward", **F32)
def rounds_upward(job):
    """Leaves the rounding mode changed."""
    upward = 0x800
    return lambda: ctypes.CDLL("libm.so.6").fesetround(upward)


@runner.implementation("sample/new-clock", **F32)
def new_clock(job):
    """Replaces the clock to look fast."""
    import time

    time.perf_counter_ns = lambda: 0
    return lambda: sum(range(1000))


if __name__ == "__main__":
    runner.serve()
