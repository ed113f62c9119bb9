"""Functions of scipy that the gate found different from their operations; `docs/peers.md` says how.

roofline check log-softmax/f32/rows=5,cols=37 --python docs/peers/found_in_scipy.py -i found_in_scipy/* --seed 3
"""

from roofline_runner import implementation

import numpy as np
from scipy import special

np.seterr(all="ignore")


@implementation("log-softmax", dtypes=["f32"], name="log-softmax", output="fresh")
def log_softmax(job):
    """scipy.special.log_softmax: -inf or a number where NaN is due."""
    (x, _) = job.arrays()
    return lambda: special.log_softmax(x, axis=1)
