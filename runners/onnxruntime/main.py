"""ONNX Runtime as a peer: a model for each operation, its inputs and outputs bound to the given memory.

Its pool spins after a call, which would disturb whoever is measured next, so `onnxruntime/parked` turns
that off; `onnxruntime/as-shipped` is the same model with the library's own settings, after whose
visits the conductor waits until the pool sleeps. f16 is computed in f32 by the library itself, which
rounds between nodes, so that few graphs of several are offered for it. bf16 is moved, and normalised.
What else was seen of the library stands in `docs/peers.md`.
"""

from __future__ import annotations

from common import runner  # before onnxruntime: this binds the clock

# isort: split
import layers
import operators

MODULES = [operators, layers]

if __name__ == "__main__":
    runner.serve()
