"""Functions of numpy that the gate found different from their operations; `docs/peers.md` says how.

roofline check fft2.inverse/f32/rows=8,cols=6 --python docs/peers/found_in_numpy.py -i found_in_numpy/* --seed 3
"""

from roofline_runner import implementation

import numpy as np


@implementation("fft2.inverse", dtypes=["f32"], name="fft2-inverse")
def fft2_inverse(job):
    """numpy.fft.ifft2 with `out`, which it leaves as it was."""
    x, y = (one.view(np.complex64)[..., 0] for one in job.arrays())
    return lambda: np.fft.ifft2(x, out=y)
