"""A kernel for the operation `add`, z = x + y; `roofline list operations` shows the others."""

from array import array
from operator import add

from roofline_runner import implementation


@implementation("add", dtypes=["f32"], name="NAME")
def FUNCTION(job):
    """The standard library alone; with numpy, `x, y, z = job.arrays()` are arrays of it."""
    x, y, z = (memory.cast("f") for memory in job.buffers())

    def launch():
        # This is timed; what stands above is done once.
        z[:] = array("f", map(add, x, y))

    return launch
