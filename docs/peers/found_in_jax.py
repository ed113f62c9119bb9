"""Functions of jax that the gate found different from their operations; `docs/peers.md` says how.

roofline check max/f32/rows=69,cols=85 layer-norm.plain/f32/rows=5,cols=34 softmax/f32/rows=5,cols=37
attention/f64/seq=5,heads=4,dim=8 grouped-matmul/f32/experts=4,m=33,n=17,k=65
--python docs/peers/found_in_jax.py -i found_in_jax/* --seed 3
"""

from roofline_runner import implementation

import jax
import numpy as np
from jax import numpy as jnp

# Otherwise f64 is f32 from the start.
jax.config.update("jax_enable_x64", True)


def found(operation, function, dtypes=("f32",)):
    """Offers a compiled function of arrays."""

    @implementation(operation, dtypes=dtypes, name=operation.replace(".", "-"), output="fresh")
    def prepare(job):
        inputs, compiled = job.arrays()[: len(job.inputs)], jax.jit(function)
        return lambda: np.asarray(compiled(*inputs))

    return prepare


found("max", lambda x: jnp.max(x, axis=1))
found("layer-norm.plain", lambda x: jax.nn.standardize(x, axis=1, epsilon=1e-5))
found("softmax", lambda x: jax.nn.softmax(x, axis=1))
found("attention", jax.nn.dot_product_attention, ["f64"])
found("grouped-matmul", lambda a, b, offsets: jax.lax.ragged_dot(a, b.swapaxes(1, 2), jnp.diff(offsets)))
