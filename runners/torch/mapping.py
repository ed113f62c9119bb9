"""A job's tensors as torch sees them, on the CPU and on a GPU: for every runner whose library takes torch's tensors."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter_ns

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from roofline_runner import Job, Runner  # before torch: this binds the clock

try:
    import torch
except ImportError as error:
    print(f"this runner needs torch: {error}", file=sys.stderr)
    sys.exit(3)

__all__ = ["Job", "Runner", "fresh", "gpus", "shared_tensors", "tensors", "torch"]

# numpy has no such types: their bits, and what they are.
BITS = {
    "bf16": ("uint16", torch.bfloat16),
    "fp8-e4m3": ("uint8", torch.float8_e4m3fn),
    "fp8-e5m2": ("uint8", torch.float8_e5m2),
}


def gpus() -> list[str]:
    """The devices that torch sees, as cases name them."""
    return [f"cuda:{index}" for index in range(torch.cuda.device_count())]


def tensors(job: Job) -> list[torch.Tensor]:
    """The tensors to compute with, on the job's device, and torch held to the job's threads."""
    torch.set_num_threads(job.threads)
    shared = shared_tensors(job)
    if job.device == "cpu":
        return shared
    if job.tensors[0].is_on_device:
        wait = lambda _: torch.cuda.synchronize(job.device)  # noqa: E731
        job.elsewhere(lambda: None, wait, wait, Queue(job).timed, in_place=True)
        return shared
    copies = [tensor.to(job.device) for tensor in shared]
    inputs = len(job.inputs)

    def bring():
        for copy, tensor in zip(copies[:inputs], shared):
            copy.copy_(tensor)
        torch.cuda.synchronize(job.device)

    def fetch(_result):
        for tensor, copy in zip(shared[inputs:], copies[inputs:]):
            tensor.copy_(copy)

    job.elsewhere(bring, lambda _: torch.cuda.synchronize(job.device), fetch)
    return copies


def fresh(job: Job) -> list[torch.Tensor]:
    """The inputs to compute with, for a function that makes its own outputs, copied off the clock."""
    inputs, outputs = tensors(job)[: len(job.inputs)], shared_tensors(job)[len(job.inputs) :]

    def fetch(results):
        for output, result in zip(outputs, results if isinstance(results, tuple) else (results,)):
            output.copy_(result.reshape(output.shape))
        if job.device != "cpu":
            torch.cuda.synchronize(job.device)  # A copy on the device is not waited for otherwise.

    elsewhere = job.transfers
    if elsewhere:
        job.elsewhere(elsewhere.bring, elsewhere.wait, fetch, elsewhere.timed)
    else:
        # numpy, through which results are copied otherwise, has no bf16.
        job.elsewhere(lambda: None, lambda _: None, fetch)
    return inputs


def shared_tensors(job: Job) -> list[torch.Tensor]:
    """The job's tensors over the shared memory itself."""
    found = []
    for tensor in job.tensors:
        bits, kind = BITS.get(tensor.dtype, (None, None))
        if tensor.is_on_device:
            # Of the same process and context: torch takes the addresses as they are.
            one = torch.as_tensor(tensor.span(), device=job.device)
        else:
            one = torch.from_dlpack(tensor.array(bits))
        one = one.view(kind) if kind else one
        if one.data_ptr() != tensor.address:
            raise RuntimeError(f"torch copied `{tensor.name}` instead of using it")
        found.append(one)
    return found


class Queue:
    """Launches on a GPU, timed by its events: by graph where a call can be recorded, else one by one, behind a sleeping kernel.

    The host asks for a launch more slowly than short kernels run; what it takes is noted apart, and neither way has it
    in its times.
    """

    # Calls that are recorded together, at least. A sample of any length is some of these and a rest, or repeats what was
    # recorded for a shorter one: a graph for every length would be made in the visit that first needs it, and be slower
    # there than ever after.
    PART = 64
    MOST_REPEATS = 16  # Graphs that make a sample, where longer ones would do.
    CYCLES_A_NANOSECOND = 2  # Rather too many: who sleeps too long only waits.
    LONGEST_SLEEP = 20_000_000
    REPLAY = 30_000  # Nanoseconds that asking for a graph takes, rather too many.

    def __init__(self, job: Job) -> None:
        self._job, self._graphs, self._host = job, {}, None
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        job.notes["queued"] = "by graph, or call by call where it cannot be recorded, behind a sleeping kernel"

    def timed(self, call, count: int):
        """Nanoseconds of the device for so many calls, and what the last returned."""
        first, last = self._events
        stream = torch.cuda.current_stream(self._job.device)
        graphs = self._recorded(call, count)
        # What runs while the host asks for the first graph lets the others be asked for in time.
        asking = self.REPLAY if graphs else min(self._host * count, self.LONGEST_SLEEP)
        torch.cuda._sleep(int(asking * self.CYCLES_A_NANOSECOND))
        first.record(stream)
        for graph, result, results in graphs:
            graph.replay()
            if results is not None:
                call.results = [*results, *call.results[len(results) :]]
        if not graphs:
            for _ in range(count):
                result = call()
        last.record(stream)
        last.synchronize()
        return first.elapsed_time(last) * 1e6, result

    def _recorded(self, call, count: int) -> list:
        """Graphs of so many calls, with what the last of each returned; none where they cannot be recorded."""
        if self._host is None:
            self._host = self._job.host_nanoseconds = self._asking(call)
        if count < 2:
            return []
        sets = len(call) if hasattr(call, "again") else 1
        counts = self._pieces(count, sets, self._graphs or {})
        for one in counts:
            if self._graphs is not None and one not in self._graphs:
                self._record(call, one)
        return [] if self._graphs is None else [self._graphs[one] for one in counts]

    @classmethod
    def _pieces(cls, count: int, sets: int, recorded) -> list[int]:
        """Lengths of the graphs that make so many calls; all but the last go round all sets."""
        for one in sorted(recorded, reverse=True):
            if one % sets == 0 and count % one == 0 and count // one <= cls.MOST_REPEATS:
                return [one] * (count // one)
        part = sets * 2 ** (-(-cls.PART // sets) - 1).bit_length()
        return [part] * (count // part) + [count % part] * (count % part > 0)

    def _record(self, call, count: int) -> None:
        """Records calls and runs them once: that brings them to the device."""
        takes_turns = hasattr(call, "again")
        graph = torch.cuda.CUDAGraph()
        if takes_turns:
            call.again()
            call.results = []  # Those of this graph alone: other tensors would be taken for what it computes.
        try:
            with torch.cuda.graph(graph):
                for _ in range(count):
                    result = call()
            graph.replay()
            torch.cuda.synchronize(self._job.device)
            self._graphs[count] = graph, result, [*call.results] if takes_turns else None
        except RuntimeError:
            torch.cuda.synchronize(self._job.device)
            self._graphs = None
        if takes_turns:
            call.again()

    def _asking(self, call) -> float:
        """Nanoseconds that asking for a call takes, the median of some; all is compiled and loaded after them."""
        times = []
        for _ in range(9):
            start = perf_counter_ns()
            call()
            times.append(perf_counter_ns() - start)
            torch.cuda.synchronize(self._job.device)
        getattr(call, "again", lambda: None)()
        return sorted(times)[len(times) // 2]
