"""JAX as a peer: each formula under `jit`, on CPU and GPU, timed until its result is ready.

JAX writes into no given memory, so the output is fresh and copied off the clock. bf16 and f16 are
computed in f32 and rounded once, at the output, as the cases declare. XLA flushes denormals to zero, which
many small results of a softmax are; that of f16 is far from them in f32. On a GPU products are
asked for in the highest precision, as f32 would be rounded to tf32 otherwise; those of i8 are not offered there,
because twice the product came back for shapes such as 3 × 6 × 6 (tried on JAX 0.11.2, which is not the pinned
version). What else was seen of the library stands in `docs/peers.md`.
"""

from __future__ import annotations

from common import runner  # before jax: this binds the clock

# isort: split
import draws
import formulas
import layers
import movement
import serving
import sparse
import transforms

MODULES = [formulas, movement, draws, serving, layers, transforms, sparse]

if __name__ == "__main__":
    runner.serve()
