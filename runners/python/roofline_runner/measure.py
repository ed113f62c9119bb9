"""Launches, timed and not.

This is the one place that reads a clock. It is bound when this module is imported, before the
library that is measured, so that replacing `time.perf_counter_ns` later changes nothing here.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import platform
from collections.abc import Callable
from itertools import repeat
from time import perf_counter_ns
from typing import Any

MAX_SAMPLES = 10_000


def launch(call: Callable[[], Any], count: int, restore: Callable[[], None] | None = None) -> Any:
    """Runs the callable `count` times, after `restore()` each time, and returns its last result."""
    result = None
    begin(call)
    for _ in repeat(None, count):
        if restore is not None:
            restore()
        result = call()
    return result


def begin(call: Callable[[], Any]) -> None:
    """Lets calls that take turns begin with the first."""
    if isinstance(call, InTurn):
        call.again()


class InTurn:
    """Calls of several sets of tensors in turn; `again()` begins with the first.

    `results` are the last of each, until somebody has taken them.
    """

    def __init__(self, calls: list[Callable[[], Any]]) -> None:
        self._calls, self._next = calls, 0
        self.results: list[Any] = []

    def __len__(self) -> int:
        return len(self._calls)

    def again(self) -> None:
        """A sample, a warm-up or some launches begin."""
        self._next = 0

    def __call__(self) -> Any:
        number = self._next % len(self._calls)
        self._next += 1
        result = self._calls[number]()
        if number < len(self.results):
            self.results[number] = result
        else:
            self.results.append(result)
        return result


def visit(
    call: Callable[[], Any],
    warmup: int,
    samples: int,
    batch: int,
    clock: Callable[[], int] = perf_counter_ns,
    wait: Callable[[Any], Any] | None = None,
    keep: Callable[[Any], None] | None = None,
    restore: Callable[[], None] | None = None,
    timed: Callable[[Callable[[], Any], int], tuple[float, Any]] | None = None,
) -> tuple[list[float], list[int], Any]:
    """Duration of each sample of `batch` launches after `warmup` untimed ones, of what was done with its
    result, and the last result.

    `wait` gets the last result of every sample on the clock, for launches that return before they have
    ended; `keep` gets it off the clock. Where there is a `restore`, it is called off the clock before every
    launch, each of which is timed by itself. `timed` takes a sample by another clock than the host's.
    """
    times, keeping = [], []
    collecting = gc.isenabled()
    # A collection inside a sample would be Python's time, not the kernel's.
    gc.disable()
    try:
        result = launch(call, warmup, restore)
        if wait is not None and warmup:
            wait(result)
        for _ in repeat(None, samples if restore is not None else 0):
            working = 0
            start = clock()
            for _ in repeat(None, batch):
                restore()
                ready = clock()
                result = call()
                working += clock() - ready
            times.append(working)
            # Without a gap: what reading the clock takes is part of the one or the other.
            keeping.append(clock() - start - working)
        for _ in repeat(None, samples if restore is None and timed is not None else 0):
            begin(call)
            took, result = timed(call, batch)
            times.append(took)
            if keep is not None:
                start = clock()
                keep(result)
                keeping.append(clock() - start)
        for _ in repeat(None, samples if restore is None and timed is None else 0):
            launches = repeat(None, batch)
            begin(call)
            start = clock()
            for _ in launches:
                result = call()
            if wait is not None:
                wait(result)
            times.append(clock() - start)
            if keep is not None:
                start = clock()
                keep(result)
                keeping.append(clock() - start)
        if keeping and keep is not None:
            # Nobody replaces the last result: releasing it takes a while too, where it is large.
            start = clock()
            result = None
            keeping[-1] += clock() - start
    finally:
        if collecting:
            gc.enable()
    return times, keeping, result


class FloatMode:
    """The rounding and flush-to-zero modes, which a kernel must leave as it found them."""

    # On x86-64 the last four bytes of an environment are MXCSR, whose low six bits are mere flags.
    _SIZE, _MXCSR, _FLAGS = 32, 28, 0x3F

    def __init__(self) -> None:
        self._library = None
        if platform.machine() == "x86_64":
            with contextlib.suppress(OSError):
                self._library = ctypes.CDLL("libm.so.6")
        self._start = ctypes.create_string_buffer(self._SIZE)
        self._now = ctypes.create_string_buffer(self._SIZE)

    def remember(self) -> None:
        """Takes the present mode as the one to keep."""
        if self._library:
            self._library.fegetenv(self._start)

    def restore(self) -> bool:
        """Whether the mode has changed since; puts it back."""
        if not self._library:
            return False
        self._library.fegetenv(self._now)
        changed = self._mode(self._start) != self._mode(self._now)
        if changed:
            self._library.fesetenv(self._start)
        return changed

    def _mode(self, environment: ctypes.Array) -> int:
        return int.from_bytes(environment.raw[self._MXCSR :], "little") & ~self._FLAGS
