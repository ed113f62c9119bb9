"""Does our sample loop cost anything? It and `torch.utils.benchmark`, alternated in one process.

    python harness_cost.py [ROUNDS]

times softmax on the same buffers by both, one after the other and in turning order, and prints the
median of the ratios: 1.00 means that the harness adds nothing. Exits with 1 where a median lies outside
0.95 to 1.05. Wants a Python that has torch, and a machine that does nothing else meanwhile.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from roofline_runner.measure import visit  # before torch: this binds the clock

import torch
from torch.utils.benchmark import Timer

SHAPES = [(1, 16), (64, 1000), (1024, 1024)]
LENGTH_NS = 20_000_000  # Of one measurement.
ALLOWED = (0.95, 1.05)


def compare(rows: int, cols: int, rounds: int) -> list[float]:
    """Our time over torch's, a ratio each round."""
    x, y = torch.randn(rows, cols), torch.empty(rows, cols)

    def call():
        torch.softmax(x, -1, out=y)

    launches = max(1, LENGTH_NS // min(visit(call, 20, 20, 1)[0]))
    timer = Timer("call()", globals={"call": call}, num_threads=torch.get_num_threads())

    def ours() -> float:
        return visit(call, 0, 1, launches)[0][0] * 1e-9 / launches

    def theirs() -> float:
        return timer.timeit(launches).mean

    ratios = []
    for turn in range(rounds):
        if turn % 2:
            their_time, our_time = theirs(), ours()
        else:
            our_time, their_time = ours(), theirs()
        ratios.append(our_time / their_time)
    return ratios


def main(rounds: int) -> int:
    """Every shape at one thread, which is what `Timer` sets as well; 1 when one of them tells of a cost."""
    torch.set_num_threads(1)
    outside = 0
    for rows, cols in SHAPES:
        ratios = compare(rows, cols, rounds)
        low, _, high = statistics.quantiles(ratios, n=4)
        median = statistics.median(ratios)
        print(f"softmax {rows}x{cols}: ours / torch.utils.benchmark {median:.3f}, quartiles {low:.3f} to {high:.3f}")
        outside += not ALLOWED[0] <= median <= ALLOWED[1]
    if outside:
        print(f"{outside} of {len(SHAPES)} medians lie outside {ALLOWED[0]} to {ALLOWED[1]}", file=sys.stderr)
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
