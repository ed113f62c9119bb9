"""Operations of one's own: a signature, the name of a bound, and the formula in f64.

The formula runs in a process where nothing is timed. It is called with whole arrays and returns whole
arrays; what it returns is held to their shapes and types here, where the author's line is at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .errors import Misused, place_of
from .job import Job, Tensor

Formula = Callable[..., Any]


@dataclass(frozen=True)
class Operation:
    """One declared operation; the conductor understands its texts."""

    name: str
    about: str
    signature: str
    bound: str
    dtypes: tuple[str, ...]
    independent: tuple[str, ...]
    legal: str
    params: str
    flops: str
    may_be_nan: bool
    formula: Formula

    def declaration(self) -> dict[str, Any]:
        """This operation in the answer to `hello`."""
        return {
            "name": self.name,
            "about": self.about,
            "signature": self.signature,
            "bound": self.bound,
            "dtypes": list(self.dtypes),
            "independent": list(self.independent),
            "legal": self.legal,
            "params": self.params,
            "flops": self.flops,
            "may_be_nan": self.may_be_nan,
        }

    def call(self, job: Job) -> Callable[[], None]:
        """What computes the outputs from the inputs as they are then."""
        inputs = [tensor.array() for tensor in job.inputs]

        def launch() -> None:
            result = self.formula(*inputs, **job.params)
            results = result if isinstance(result, (tuple, list)) else (result,)
            if len(results) != len(job.outputs):
                names = ", ".join(f"`{output.name}`" for output in job.outputs)
                raise self._misused(f"returned {len(results)} results for {names}")
            for output, one in zip(job.outputs, results):
                self._write(output, one)

        return launch

    def _write(self, output: Tensor, result: Any) -> None:
        import numpy

        result, target = numpy.asarray(result), output.array()
        if result.shape != target.shape:
            raise self._misused(
                f"returned the shape {list(result.shape)} for `{output.name}`, which is {list(target.shape)}"
            )
        if result.dtype.kind not in "biu" and result.dtype != target.dtype:
            raise self._misused(
                f"returned {result.dtype} for `{output.name}` from inputs of {target.dtype}; "
                "let it compute in the type of its inputs"
            )
        target[...] = result

    def _misused(self, why: str) -> Misused:
        return Misused(f"{place_of(self.formula)}: `{self.name}` {why}")


def names(words: str | Iterable[str]) -> tuple[str, ...]:
    """Names in a list, or in one text with commas."""
    parts = words.split(",") if isinstance(words, str) else words
    return tuple(word for word in (part.strip() for part in parts) if word)
