"""The way to the conductor: lines over the socket on descriptor 3, or standard input and output.

On the socket, descriptors of tensor files travel beside the line of `prepare`. Standard output
belongs to the kernel: a conversation by hand takes it over and sends the kernel's to standard error.
"""

from __future__ import annotations

import os
import socket
import stat
import sys

from .errors import MalformedLine

MAX_LINE = 1 << 20
MAX_DESCRIPTORS = 64
DESCRIPTOR = 3
CHUNK = 1 << 16


def _is_socket(descriptor: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:
        return False


# Asked at import: later, a library may have opened a socket of its own under this number.
ON_SOCKET = _is_socket(DESCRIPTOR)
if ON_SOCKET:
    os.set_inheritable(DESCRIPTOR, False)


class Channel:
    """Lines in and out. `descriptors` holds the files that came with the latest line."""

    def __init__(self) -> None:
        self.descriptors: list[int] = []
        self._pending = b""

    def receive(self) -> bytes | None:
        """The next line without its end; `None` when the conductor has closed."""
        self.close_descriptors()
        while True:
            line, end, rest = self._pending.partition(b"\n")
            if len(line) >= MAX_LINE:
                raise MalformedLine(f"a line of more than {MAX_LINE} bytes")
            if end:
                self._pending = rest
                return line
            data = self._read()
            if not data:
                if self._pending:
                    raise MalformedLine("the last line has no end")
                return None
            self._pending += data

    def close_descriptors(self) -> None:
        """Forgets the files of the latest line; maps of them stay."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()

    def send(self, line: bytes) -> None:
        """Sends one line, its end included."""
        raise NotImplementedError

    def _read(self) -> bytes:
        raise NotImplementedError


class SocketChannel(Channel):
    """The conductor's socket pair."""

    by_path = False

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._socket = connection

    def send(self, line: bytes) -> None:
        """Sends one line, its end included."""
        self._socket.sendall(line)

    def _read(self) -> bytes:
        data, descriptors, flags, _ = socket.recv_fds(
            self._socket, CHUNK, MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        self.descriptors += descriptors
        if flags & socket.MSG_CTRUNC or len(self.descriptors) > MAX_DESCRIPTORS:
            raise MalformedLine(f"more than {MAX_DESCRIPTORS} descriptors with one line")
        return data


class PipeChannel(Channel):
    """A conversation by hand; tensors are named by their paths."""

    by_path = True

    def __init__(self) -> None:
        super().__init__()
        sys.stdout.flush()
        self._input, self._output = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def send(self, line: bytes) -> None:
        """Sends one line, its end included."""
        while line:
            line = line[os.write(self._output, line) :]

    def _read(self) -> bytes:
        return os.read(self._input, CHUNK)


def open_channel() -> SocketChannel | PipeChannel:
    """The channel that this process was started with."""
    return SocketChannel(socket.socket(fileno=DESCRIPTOR)) if ON_SOCKET else PipeChannel()
