"""Kernels in Triton as a peer, on a GPU: a layer's operations, each as a user of Triton would write it.

`kernels.py` has the kernels, this what is offered. All compute in f32, whatever the type of their tensors. Tensors, graphs
and clocks are those of the torch runner (`../torch/mapping.py`).
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "torch"))

from mapping import Job, Runner, gpus, tensors, torch  # before triton: this binds the clock

try:
    import kernels
    import triton
except ImportError as error:
    print(f"the triton runner needs triton: {error}", file=sys.stderr)
    sys.exit(3)

runner = Runner("triton", triton.__version__, gpus(), {"torch": torch.__version__})

FLOATS = ["f32", "f16", "bf16"]


def offer(operation: str, function, name: str, *, params=(), requires: str = "") -> None:
    """Offers a function of all tensors of an operation, and of its parameters by name."""
    add = partial(runner.implementation, f"triton/{name}", operation=operation, about=function.__doc__.partition("\n")[0])
    add(dtypes=FLOATS, devices=["cuda"], params=params, requires=requires)(prepared(function, params))


def prepared(function, params):
    """Prepares a function on the job's tensors; compiled before it is timed."""

    def prepare(job: Job):
        given = {name: job.params[name] for name in params}
        call = partial(function, *tensors(job), **given)
        with job.timed_note("compile"):
            # Where inputs hold nothing yet, whatever comes out; kernels look at no place that contents name unchecked.
            call()
        return call

    return prepare


IN_ONE_BLOCK = f"cols <= {kernels.LONGEST}"

for form in kernels.FORMS:
    offer(form, kernels.of_form(form), "stream")
offer("softmax", kernels.softmax, "block", requires=IN_ONE_BLOCK)
offer("layer-norm", kernels.layer_norm, "block", params=["eps"], requires=IN_ONE_BLOCK)
offer("rms-norm", kernels.rms_norm, "block", params=["eps"], requires=IN_ONE_BLOCK)
offer("mse", kernels.mse, "partial")
offer("cross-entropy", kernels.cross_entropy, "online")
offer("cross-entropy.none", kernels.cross_entropy_each, "online")
offer("dropout", kernels.dropout, "philox", params=["p"])
offer("rope", kernels.rope, "pairs", params=["base"])
offer("rope.interleaved", kernels.rope_interleaved, "pairs", params=["base"])

if __name__ == "__main__":
    runner.serve()
