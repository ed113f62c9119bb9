"""Tensor files in memory, each between two pages that cannot be read.

The standard `mmap` module cannot choose an address, so this calls the C library: reserve the file's
size and more without access, then map the file over the middle. A kernel that reads or writes past
its file faults instead of computing with a neighbour's bytes.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import weakref

PAGE = mmap.PAGESIZE
HUGE = 2 << 20  # Files begin at a multiple of this, so that huge pages can serve them.

_NO_ACCESS, _READ, _WRITE = 0, mmap.PROT_READ, mmap.PROT_WRITE
_FIXED, _NORESERVE, _POPULATE = 0x10, 0x4000, 0x8000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_FAILED = ctypes.c_void_p(-1).value


def map_file(descriptor: int, size: int, writable: bool) -> ctypes.Array:
    """The first `size` bytes of a file; unmapped when the last view of them is gone."""
    padded = -(-size // PAGE) * PAGE
    span = padded + 2 * PAGE + HUGE
    reserve = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    base = _map(None, span, _NO_ACCESS, reserve, -1)
    address = -(-(base + PAGE) // HUGE) * HUGE
    access = _READ | _WRITE if writable else _READ
    try:
        _map(address, size, access, mmap.MAP_SHARED | _FIXED | _POPULATE, descriptor)
    except BaseException:
        _libc.munmap(base, span)
        raise
    block = (ctypes.c_ubyte * size).from_address(address)
    weakref.finalize(block, _libc.munmap, base, span).atexit = False
    return block


def _map(address: int | None, length: int, access: int, flags: int, descriptor: int) -> int:
    result = _libc.mmap(address, length, access, flags, descriptor, 0)
    if result != _FAILED:
        return result
    code = ctypes.get_errno()
    if code == errno.ENOMEM:
        raise MemoryError(f"cannot map {length} bytes: {os.strerror(code)}")
    raise OSError(code, f"cannot map {length} bytes: {os.strerror(code)}")
