"""An operation of your own, `NAME`: the formula in f64, and a kernel that is held to it."""

import numpy as np
from roofline_runner import implementation, operation


# Tensors with their sizes; how far an honest kernel may be off; axes along which an input reaches its own place alone.
@operation("a[rows, cols], x[cols] -> y[rows]", bound="dot(cols)", independent="rows", name="NAME")
def FUNCTION(a, x):
    """y = A·x"""
    return a @ x


@implementation("NAME", dtypes=["f32"])
def plain(job):
    """numpy, one call."""
    a, x, y = job.arrays()
    return lambda: np.dot(a, x, out=y)
