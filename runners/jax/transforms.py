"""Fourier transforms: complex numbers are made of the pairs that the cases hold, and taken apart."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from common import offer


def joined(pairs):
    """Pairs of real and imaginary part as complex numbers."""
    return jax.lax.complex(pairs[..., 0], pairs[..., 1])


def parted(numbers):
    """Complex numbers as pairs of real and imaginary part."""
    return jnp.stack((numbers.real, numbers.imag), -1)


def fft(x, function):
    """A function of jax.numpy.fft, from pairs and to pairs."""
    return parted(function(joined(x)))


def real_fft(x):
    """jax.numpy.fft.rfft, to pairs."""
    return parted(jnp.fft.rfft(x))


def real_fft2(x):
    """jax.numpy.fft.rfft2, to pairs."""
    return parted(jnp.fft.rfft2(x))


def real_inverse2(x, rows, cols):
    """jax.numpy.fft.irfft2, from pairs."""
    return jnp.fft.irfft2(joined(x), s=(rows, cols))


def real_inverse(x, n):
    """jax.numpy.fft.irfft, from pairs."""
    return jnp.fft.irfft(joined(x), n=n)


offer("fft", partial(fft, function=jnp.fft.fft), ["f64", "f32"])
offer("fft.inverse", partial(fft, function=jnp.fft.ifft), ["f64", "f32"])
offer("fft2", partial(fft, function=jnp.fft.fft2), ["f64", "f32"])
offer("fft2.inverse", partial(fft, function=jnp.fft.ifft2), ["f64", "f32"])
offer("fft2.real", real_fft2, ["f64", "f32"])
offer("fft2.real-inverse", real_inverse2, ["f64", "f32"], sizes=["rows", "cols"])
offer("fft.real", real_fft, ["f64", "f32"])
offer("fft.real-inverse", real_inverse, ["f64", "f32"], sizes=["n"])
