"""A conductor for tests: starts a runner, makes tensor files, asks and reads answers."""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

DEADLINE = 120.0
MAX_LINE = 1 << 20
CANARY = 0xA5
PAGE = mmap.PAGESIZE
F_SEAL_FUTURE_WRITE = 0x10  # Not in `fcntl` before Python 3.13.


@dataclass
class File:
    """A tensor's file: data flush against the end or the start, or in the middle between canaries."""

    name: str
    role: str
    dtype: str
    shape: list[int]
    content: bytes
    layout: str = "middle"
    folder: str | None = None

    def __post_init__(self) -> None:
        length = len(self.content)
        self.size = -(-length // PAGE) * PAGE + (2 * PAGE if self.layout == "middle" else 0)
        self.offset = {"middle": PAGE, "end": self.size - length, "start": 0}[self.layout]
        if self.folder is None:
            self.path = None
            self.descriptor = os.memfd_create(f"tensor-{self.name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        else:
            self.path = os.path.join(self.folder, f"{self.name}.bin")
            self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.ftruncate(self.descriptor, self.size)
        self.memory = mmap.mmap(self.descriptor, self.size)
        self.memory[:] = bytes([CANARY]) * self.size
        self.write(self.content)
        if self.role == "input" and self.path is None:
            seals = F_SEAL_FUTURE_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, seals)

    def write(self, content: bytes) -> None:
        """Replaces the data."""
        self.memory[self.offset : self.offset + len(content)] = content

    def read(self) -> bytes:
        """The data as it is now."""
        return self.memory[self.offset : self.offset + len(self.content)]

    def canaries_alive(self) -> bool:
        """Whether everything but the data is as it was made."""
        around = self.memory[: self.offset] + self.memory[self.offset + len(self.content) :]
        return around.count(CANARY) == len(around)

    def place(self) -> dict[str, Any]:
        """The tensor in a `prepare`."""
        place = {
            "name": self.name,
            "role": self.role,
            "dtype": self.dtype,
            "shape": self.shape,
            "offset": self.offset,
            "bytes": len(self.content),
            "size": self.size,
        }
        return place if self.path is None else {**place, "path": self.path}

    def close(self) -> None:
        """Lets go of the file."""
        self.memory.close()
        os.close(self.descriptor)


class RunnerEnded(Exception):
    """The runner closed the conversation."""


class Conversation:
    """A runner process and the questions asked of it; a context manager."""

    def __init__(self, command: list[str], folder: str | None = None, by_path: bool = False) -> None:
        self.by_path = by_path
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `__exit__`)
        self._next, self._pending = 1, b""
        ours, theirs = socket.socketpair()
        self._socket = ours
        ours.settimeout(DEADLINE)

        def take_descriptor_three() -> None:
            if by_path:
                with contextlib.suppress(OSError):
                    os.close(3)
            elif theirs.fileno() == 3:
                os.set_inheritable(3, True)
            else:
                os.dup2(theirs.fileno(), 3)

        # Everything this process opens is closed on exec, so descriptor 3 is all that is handed on.
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=theirs if by_path else subprocess.DEVNULL,
            stdout=theirs if by_path else self.log,
            stderr=self.log,
            close_fds=False,
            preexec_fn=take_descriptor_three,
        )
        theirs.close()

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._socket.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def ask(self, ask: str, files: list[File] | None = None, **fields: Any) -> dict[str, Any]:
        """Asks a question and returns the answer, whose number must be the question's."""
        number, self._next = self._next, self._next + 1
        line = json.dumps({"id": number, "ask": ask, **fields}, ensure_ascii=False).encode() + b"\n"
        self.send(line, [file.descriptor for file in files or []])
        answer = json.loads(self.line())
        assert answer.get("id") == number, answer
        assert len({"ok", "error"} & answer.keys()) == 1 and len(answer) == 2, answer
        return answer

    def ok(self, ask: str, files: list[File] | None = None, **fields: Any) -> dict[str, Any]:
        """The `ok` of an answer that must have one."""
        answer = self.ask(ask, files, **fields)
        assert "ok" in answer, f"{ask} {fields}: {answer['error']}"
        return answer["ok"]

    def error(self, ask: str, files: list[File] | None = None, **fields: Any) -> dict[str, Any]:
        """The `error` of an answer that must have one."""
        answer = self.ask(ask, files, **fields)
        assert "error" in answer, f"{ask}: {answer}"
        assert answer["error"].keys() == {"kind", "message"} and answer["error"]["message"], answer
        return answer["error"]

    def send(self, line: bytes, descriptors: list[int] | None = None) -> None:
        """Sends bytes as they are."""
        try:
            if descriptors and not self.by_path:
                sent = socket.send_fds(self._socket, [line], descriptors)
                line = line[sent:]
            self._socket.sendall(line)
        except (BrokenPipeError, ConnectionResetError):
            pass  # Seen when reading.

    def line(self) -> bytes:
        """The next line of the runner."""
        while b"\n" not in self._pending:
            try:
                data = self._socket.recv(1 << 16)
            except ConnectionResetError:
                data = b""
            if not data:
                raise RunnerEnded(f"exit {self.process.wait(timeout=DEADLINE)}: {self.logged()}")
            self._pending += data
            assert len(self._pending) <= MAX_LINE
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def close(self) -> int:
        """Closes the conversation and returns the runner's exit code."""
        self._socket.shutdown(socket.SHUT_WR)
        return self.process.wait(timeout=DEADLINE)

    def logged(self) -> str:
        """What the runner wrote to standard output and error."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace")
