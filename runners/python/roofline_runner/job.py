"""What an implementation is asked to prepare: a case and its tensors."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .cuda import Mapping, Span
from .errors import InvalidQuestion, Unsupported
from .measure import perf_counter_ns
from .memory import map_file

SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "fp8-e4m3": 1, "fp8-e5m2": 1, "i8": 1, "u8": 1, "i32": 4}
NUMPY_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "i8": "int8", "u8": "uint8", "i32": "int32"}
# Types that numpy lacks and the package `ml_dtypes` (part of jax) adds.
EXTENDED_NAMES = {"bf16": "bfloat16", "fp8-e4m3": "float8_e4m3fn", "fp8-e5m2": "float8_e5m2"}
MOST_BYTES = 1 << 46


class Tensor:
    """One tensor in shared memory: `memory` are its bytes, read-only for an input."""

    def __init__(self, place: dict[str, Any], block: Block, set_number: int = 0) -> None:
        self.name = field(place, "name", str)
        self.role = field(place, "role", str)
        self.dtype = field(place, "dtype", str)
        self.shape = tuple(numbers(place, "shape"))
        self.bytes = field(place, "bytes", int)
        # Of an output, the input that it is a copy of before every launch.
        self.starts_as = field(place, "starts_as", str) if "starts_as" in place else None
        offset, size = field(place, "offset", int), field(place, "size", int)
        if set_number:
            offset += set_number * field(field(place, "sets", dict), "stride", int)
        self._check(offset, size)
        self.address = block.address + offset
        self.is_on_device = block.memory is None
        self._block = block
        if block.memory is not None:
            memory = block.memory[offset : offset + self.bytes]
            self.memory = memory if self.role == "output" else memory.toreadonly()

    def __getattr__(self, name: str) -> Any:
        if name == "memory":
            raise Unsupported(f"`{self.name}` lies on the device; `tensor.span()` is what libraries take it by")
        raise AttributeError(name)

    def span(self) -> Span:
        """The tensor on the device, with `__cuda_array_interface__`; bits of types that have no name there."""
        return Span(self._block, self.address, self.shape, self.dtype, self.role == "output")

    def _check(self, offset: int, size: int) -> None:
        if self.role not in ("input", "constant", "output"):
            raise InvalidQuestion(f"tensor `{self.name}` has the role `{self.role}`")
        if self.dtype not in SIZES:
            raise Unsupported(f"unknown dtype `{self.dtype}`")
        expected = math.prod(self.shape) * SIZES[self.dtype]
        if self.bytes != expected:
            raise InvalidQuestion(
                f"tensor `{self.name}` of shape {list(self.shape)} in {self.dtype} has {expected} bytes, "
                f"not {self.bytes}"
            )
        if not (0 < size <= MOST_BYTES and offset + self.bytes <= size):
            raise InvalidQuestion(
                f"tensor `{self.name}`: {self.bytes} bytes at {offset} do not lie in a file of {size}"
            )
        if offset % SIZES[self.dtype]:
            raise InvalidQuestion(f"tensor `{self.name}`: {offset} is not aligned for {self.dtype}")

    def array(self, dtype: Any = None) -> Any:
        """The tensor as a numpy array over the shared memory.

        `dtype` looks at the same bytes as another type, for example `uint16` for bf16 bits.
        """
        import numpy

        kind = _numpy_type(self.dtype) if dtype is None else numpy.dtype(dtype)
        if kind.itemsize != SIZES[self.dtype]:
            raise ValueError(f"{kind} is not of the size of {self.dtype}")
        return numpy.frombuffer(self.memory, dtype=kind).reshape(self.shape)

    def fill(self, result: Any) -> None:
        """Copies the result of a library that allocates its own output."""
        if hasattr(result, "__array__"):
            import numpy

            result = numpy.ascontiguousarray(result)
            shape, content = result.shape, memoryview(result.reshape(-1).view(numpy.uint8))
        else:
            view = memoryview(result)
            shape, content = view.shape, memoryview(view.tobytes())
        if tuple(shape) != self.shape or content.nbytes != self.bytes:
            raise ValueError(
                f"returned {content.nbytes} bytes of shape {list(shape)} for `{self.name}`, "
                f"which has {self.bytes} of shape {list(self.shape)}"
            )
        self.memory[:] = content


class Block:
    """The memory of a tensor's file, mapped once for all sets: `memory` are its bytes where the host has them.

    The owner of a device's tensors passes descriptors of device memory, which no file is behind.
    """

    def __init__(self, place: dict[str, Any], descriptor: int, device: str) -> None:
        size, writable = field(place, "size", int), place.get("role") == "output"
        there = os.fstat(descriptor).st_size
        if not 0 < size <= MOST_BYTES:
            raise InvalidQuestion(f"tensor `{place.get('name')}`: a file of {size} bytes")
        if device.startswith("cuda:") and there < size:
            self._mapping = Mapping(descriptor, size, writable, int(device.partition(":")[2]))
            self.address, self.memory = self._mapping.address, None
            return
        if there < size:
            raise InvalidQuestion(f"tensor `{place.get('name')}`: its file has {there} bytes, not {size}")
        self._mapping = map_file(descriptor, size, writable=writable)
        self.address = ctypes.addressof(self._mapping)
        self.memory = memoryview(self._mapping).cast("B")


@dataclass(frozen=True)
class Transfers:
    """How tensors get to a device and back: see `Job.elsewhere`."""

    bring: Callable[[], Any]
    wait: Callable[[Any], Any]
    fetch: Callable[[Any], Any]
    # Runs a batch of launches, and says how long the device took, in nanoseconds, and what they returned.
    timed: Callable[[Callable[[], Any], int], tuple[float, Any]] | None = None
    # Whether launches write into the given memory itself, so that nothing is fetched.
    in_place: bool = False


class Job:
    """A case for one implementation.

    An implementation may set `threads_used`, `workspace_bytes` (memory that it holds beside the
    tensors) and `notes` (what was chosen for this case) while it prepares.
    """

    def __init__(self, question: dict[str, Any], tensors: Sequence[Tensor]) -> None:
        self.case = field(question, "case", str)
        self.operation = field(question, "operation", str)
        self.variant = field(question, "variant", str)
        self.dtype = field(question, "dtype", str)
        self.accumulator = field(question, "accumulator", str)
        self.precision = precision_of(question)
        self.axes: dict[str, int] = field(question, "axes", dict)
        self.params: dict[str, float] = field(question, "params", dict) if "params" in question else {}
        self.implementation = field(question, "implementation", str)
        self.device = device_of(question)
        self.threads = field(question, "threads", int)
        if not self.threads:
            raise InvalidQuestion("`threads` is 0; a launch needs one")
        self.cores = numbers(question, "cores")
        self.tensors = list(tensors)
        self.restore = _restore(self.tensors)
        self.threads_used = 1
        self.workspace_bytes = 0
        self.notes: dict[str, str] = {}
        # What asking a device for a launch takes the host, where that is known after a visit.
        self.host_nanoseconds: float | None = None
        self.transfers: Transfers | None = None

    def elsewhere(
        self,
        bring: Callable[[], Any],
        wait: Callable[[Any], Any],
        fetch: Callable[[Any], Any],
        timed: Callable[[Callable[[], Any], int], tuple[float, Any]] | None = None,
        in_place: bool = False,
    ) -> None:
        """Says that the tensors to compute with are on the job's device.

        Off the clock, `bring()` copies the inputs there before launches, and `fetch(result)` copies the
        outputs back after a sample, or returns what is to be copied. On the clock, `wait(result)` ends a
        sample: it returns when the device has finished. `result` is what the last launch returned. `timed(call, count)`
        launches, waits and says what the device's own clock says, where it has one. With `in_place` launches write into
        the given memory, and nothing is fetched.
        """
        self.transfers = Transfers(bring, wait, fetch, timed, in_place)

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors that are read."""
        return [tensor for tensor in self.tensors if tensor.role != "output"]

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that are written."""
        return [tensor for tensor in self.tensors if tensor.role == "output"]

    def arrays(self) -> list[Any]:
        """All tensors as numpy arrays, inputs first; inputs cannot be written."""
        return [tensor.array() for tensor in self.tensors]

    def buffers(self) -> list[memoryview]:
        """All tensors as bytes, inputs first, without numpy."""
        return [tensor.memory for tensor in self.tensors]

    @contextlib.contextmanager
    def timed_note(self, name: str) -> Iterator[None]:
        """Notes how long the block took, for what is done once and never timed: compiling."""
        start = perf_counter_ns()
        yield
        self.notes[name] = f"{(perf_counter_ns() - start) * 1e-9:.2f} s"


def _restore(tensors: Sequence[Tensor]) -> Callable[[], None] | None:
    """What makes outputs copies of inputs before a launch, if any is to be one."""
    if all(tensor.starts_as is None for tensor in tensors):
        return None
    inputs = {tensor.name: tensor.memory for tensor in tensors if tensor.role != "output"}
    pairs = []
    for tensor in tensors:
        if tensor.starts_as is not None:
            start = inputs.get(tensor.starts_as)
            if start is None or start.nbytes != tensor.bytes or tensor.role != "output":
                raise InvalidQuestion(f"tensor `{tensor.name}` starts as no input of its size")
            pairs.append((tensor.memory, start))

    def restore() -> None:
        for memory, start in pairs:
            memory[:] = start

    return restore if pairs else None


def device_of(question: dict[str, Any]) -> str:
    """The device of a question; older conductors name none."""
    return field(question, "device", str) if "device" in question else "cpu"


def precision_of(question: dict[str, Any]) -> str:
    """The id of a question's precision; older conductors have types alone."""
    return field(question, "precision" if question.get("precision") else "dtype", str)


def field(question: dict[str, Any], name: str, kind: type) -> Any:
    """A field of a question, of the type that it must have."""
    value = question.get(name)
    if not isinstance(value, kind) or isinstance(value, bool) or (kind is int and value < 0):
        raise InvalidQuestion(f"`{name}` is missing or is not {_KINDS[kind]}")
    return value


def numbers(question: dict[str, Any], name: str) -> list[int]:
    """A field that is a list of numbers."""
    values = field(question, name, list)
    if not all(type(value) is int and value >= 0 for value in values):
        raise InvalidQuestion(f"`{name}` is not a list of numbers")
    return values


_KINDS = {str: "a text", int: "a number", list: "a list", dict: "an object"}


def _numpy_type(dtype: str) -> Any:
    import numpy

    if dtype in NUMPY_NAMES:
        return numpy.dtype(NUMPY_NAMES[dtype])
    try:
        import ml_dtypes
    except ImportError:
        raise Unsupported(f"numpy has no {dtype}; the package `ml_dtypes` adds it") from None
    return numpy.dtype(getattr(ml_dtypes, EXTENDED_NAMES[dtype]))
