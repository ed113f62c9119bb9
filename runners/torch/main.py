"""PyTorch as a peer: eager functions with `out=` where there is one, and the same compiled, on CPU and GPU.

bf16 and f16 accumulate in f32 and are rounded once, at the output, as the cases declare. Where a
function of the library rounds in between (`rms_norm`), it is offered for the wide types only and the
formula is written out for the others. oneDNN's bf16 products in AMX tiles let an infinity or NaN of one row
spread to others, so where a processor has AMX they require finite inputs. On a GPU products keep
their sums in f32, and a sample ends when the device has finished; `rms_norm` gives NaN there where 0 is
due (tried on torch 2.11, which is not the pinned version), and is not offered. What else was seen of the
library stands in `docs/peers.md`.
"""

from __future__ import annotations

from common import runner  # before torch: this binds the clock

# isort: split
import attention
import elementwise
import functions
import layers
import movement
import products
import quantize
import serving
import sparse
import transforms

MODULES = [elementwise, movement, functions, attention, products, serving, layers, quantize, transforms, sparse]

if __name__ == "__main__":
    runner.serve()
