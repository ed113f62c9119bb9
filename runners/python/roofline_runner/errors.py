"""What can go wrong, and how it is told to the conductor."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from typing import Any

MAX_MESSAGE = 2000
PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Unsupported(Exception):
    """Raised by an implementation that does not have what it was asked for: not a failure."""


class Misused(Exception):
    """A function that is not what this package asks of it; the message has its place."""


class InvalidQuestion(Exception):
    """A question whose fields contradict each other: answered, not fatal."""


class MalformedLine(Exception):
    """A line that is no question at all: the conversation cannot go on."""


def refusal(error: BaseException) -> dict[str, str]:
    """The `error` part of an answer."""
    if isinstance(error, Unsupported):
        return {"kind": "unsupported", "message": _clip(_text(error))}
    if isinstance(error, (InvalidQuestion, Misused)):
        return {"kind": "failed", "message": _clip(_text(error))}
    kind = "out-of-memory" if _is_out_of_memory(error) else "failed"
    return {"kind": kind, "message": _clip(describe(error))}


def describe(error: BaseException) -> str:
    """One line: the author's own file and line, the exception and its message."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_shorten(error.filename)}:{error.lineno}: {type(error).__name__}: {error.msg}"
    text = f"{type(error).__name__}: {_text(error)}".rstrip(": ")
    frame = _own_frame(error)
    if frame is None:
        return text
    return f"{_shorten(frame.filename)}:{frame.lineno}: {text}"


def place_of(function: Any) -> str:
    """Where a function is written, as `FILE:LINE`; its name where that is not known."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{_shorten(code.co_filename)}:{code.co_firstlineno}" if code else repr(function)


def _own_frame(error: BaseException) -> traceback.FrameSummary | None:
    """The innermost frame of the runner's folder, else the innermost outside this package."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not os.path.abspath(frame.filename).startswith(PACKAGE)
    ]
    home = _home()
    own = [frame for frame in frames if os.path.abspath(frame.filename).startswith(home)]
    return (own or frames or [None])[-1]


def _is_out_of_memory(error: BaseException) -> bool:
    # Frameworks raise their own classes, which do not derive from MemoryError.
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _home() -> str:
    """The folder of the program, with a separator at its end."""
    return os.path.join(os.path.dirname(os.path.abspath(sys.argv[0] or ".")), "")


def _shorten(path: str) -> str:
    home = _home()
    return path[len(home) :] if path.startswith(home) else path


def _text(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())
    except Exception:
        return "(its message could not be made)"


def _clip(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"
