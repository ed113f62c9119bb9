"""Device memory of another process, mapped into this one by the CUDA driver.

The owner of a case's tensors passes descriptors; here they become addresses on the device, inputs for reading
alone, between addresses that nobody can touch. Only `ctypes` and the driver are needed. A library takes such
memory without a copy through `__cuda_array_interface__`.
"""

from __future__ import annotations

import ctypes
import weakref
from functools import cache
from typing import Any

_DESCRIPTOR = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_DEVICE = 1  # CU_MEM_LOCATION_TYPE_DEVICE
_PINNED = 1  # CU_MEM_ALLOCATION_TYPE_PINNED
_READ, _READ_WRITE = 1, 3  # CU_MEM_ACCESS_FLAGS_PROT_…
TYPES = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "<u2", "fp8-e4m3": "|u1", "fp8-e5m2": "|u1", "i8": "|i1", "i32": "<i4"}


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


class _Flags(ctypes.Structure):
    _fields_ = [("compression", ctypes.c_ubyte), ("rdma", ctypes.c_ubyte), ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 4)]


class _Properties(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", _Location),
        ("win32", ctypes.c_void_p),
        ("flags", _Flags),
    ]


class CudaError(RuntimeError):
    """What the driver says instead of doing what it was asked."""


@cache
def _driver() -> Any:
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuMemAddressReserve.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint64]
    driver.cuMemMap.argtypes = [ctypes.c_uint64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint64]
    driver.cuMemSetAccess.argtypes = [ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
    driver.cuMemUnmap.argtypes = [ctypes.c_uint64, ctypes.c_size_t]
    driver.cuMemAddressFree.argtypes = [ctypes.c_uint64, ctypes.c_size_t]
    driver.cuMemRelease.argtypes = [ctypes.c_uint64]
    driver.cuMemImportFromShareableHandle.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    return driver


def _check(doing: str, answer: int) -> None:
    if answer:
        name = ctypes.c_char_p()
        _driver().cuGetErrorName(answer, ctypes.byref(name))
        raise CudaError(f"{doing}: {(name.value or str(answer).encode()).decode()}")


def _bind(ordinal: int) -> None:
    """The device's own context, which libraries use too."""
    driver, device, context = _driver(), ctypes.c_int(), ctypes.c_void_p()
    _check("cuInit", driver.cuInit(0))
    _check("cuDeviceGet", driver.cuDeviceGet(ctypes.byref(device), ordinal))
    _check("cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    _check("cuCtxSetCurrent", driver.cuCtxSetCurrent(context))


@cache
def _granule(ordinal: int) -> int:
    properties = _Properties(_PINNED, _DESCRIPTOR, _Location(_DEVICE, ordinal))
    size = ctypes.c_size_t()
    answer = _driver().cuMemGetAllocationGranularity(ctypes.byref(size), ctypes.byref(properties), 0)
    _check("cuMemGetAllocationGranularity", answer)
    return size.value


class Mapping:
    """Memory of `size` bytes, mapped until this object is gone; `address` is where it begins."""

    def __init__(self, descriptor: int, size: int, writable: bool, ordinal: int) -> None:
        _bind(ordinal)
        driver, guard = _driver(), _granule(ordinal)
        size = -(-size // guard) * guard
        handle, base = ctypes.c_uint64(), ctypes.c_uint64()
        _check(
            "cuMemImportFromShareableHandle",
            driver.cuMemImportFromShareableHandle(ctypes.byref(handle), ctypes.c_void_p(descriptor), _DESCRIPTOR),
        )
        span = size + 2 * guard
        answer = driver.cuMemAddressReserve(ctypes.byref(base), span, guard, 0, 0)
        if answer:
            driver.cuMemRelease(handle)
        _check("cuMemAddressReserve", answer)
        self.address = base.value + guard
        answer = driver.cuMemMap(self.address, size, 0, handle, 0)
        driver.cuMemRelease(handle)  # The map keeps the memory.
        if answer:
            driver.cuMemAddressFree(base, span)
        _check("cuMemMap", answer)
        weakref.finalize(self, _unmap, driver, self.address, size, base.value, span).atexit = False
        access = _Access(_Location(_DEVICE, ordinal), _READ_WRITE if writable else _READ)
        _check("cuMemSetAccess", driver.cuMemSetAccess(self.address, size, ctypes.byref(access), 1))


def _unmap(driver: Any, address: int, size: int, base: int, span: int) -> None:
    driver.cuMemUnmap(address, size)
    driver.cuMemAddressFree(base, span)


def copy(to: int, source: int, size: int) -> None:
    """Copies on the device from one address to another, and waits."""
    driver = _driver()
    _check("cuMemcpyDtoD", driver.cuMemcpyDtoD_v2(ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(size)))
    _check("cuCtxSynchronize", driver.cuCtxSynchronize())


class Span:
    """A tensor on the device, as libraries take it: `torch.as_tensor(span, device=…)`."""

    def __init__(self, mapping: Mapping, address: int, shape: tuple[int, ...], dtype: str, writable: bool) -> None:
        self.mapping = mapping
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": TYPES[dtype],
            # torch warns of read-only memory and cannot honour it; the map itself does.
            "data": (address, False),
            "strides": None,
        }
        self.writable = writable
