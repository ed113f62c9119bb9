"""numpy as a peer: whole-array functions that write into the given memory.

f16 is computed in f32 and rounded once, at the output, because that is what the cases declare.
All scratch memory is made while preparing, so nothing is allocated on the clock but numpy's own
buffers and small things. Conversions are part of the computation and therefore of the time. What
numpy has no function for, it is offered as steps where its functions make them: of `gelu` the error
function is missing, and of `dropout` the generator that the case names.
"""

from __future__ import annotations

from common import runner  # before numpy: this binds the clock

# isort: split
import attention
import elementwise
import layers
import movement
import norms
import products
import quantize
import reductions
import rope
import serving
import sparse
import transforms

MODULES = [elementwise, movement, reductions, norms, rope, attention, products]
MODULES += [serving, layers, quantize, transforms, sparse]

if __name__ == "__main__":
    runner.serve()
