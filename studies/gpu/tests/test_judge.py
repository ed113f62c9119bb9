"""What the judge of a card's study lets pass, and what not, on rows that were made up."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import judge

CASE = "softmax/f32/rows=8,cols=8/cache=cold/device=cuda:0"


def row(implementation: str, word: str | None = "same", status: str = "ok", case: str = CASE, **more) -> dict:
    derived = {"median_seconds": 1e-5, "of_limit": 0.9, "of_limit_low": 0.89, "limiter": "traffic", "speed": 1.0, "word": word}
    derived |= {name: more.pop(name) for name in list(more) if name in derived}
    work = {"multiply_adds": 0, "read": 0, "written": 0} | more.pop("work", {})
    notes = more.pop("notes", {})
    rest = {"rounds": {"to_hub": [0.0] * 6}, "why": "", "provenance": {"notes": notes}}
    return {"case": case, "implementation": implementation, "status": status, "derived": derived, "work": work} | rest


class Judge(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "rows.txt"
        os.environ |= {"JOURNAL": str(Path(self.folder.name) / "journal.jsonl"), "REVISION": "abc"}

    def judge(self, part: str, rows: list[dict], *words: str) -> list[str]:
        """What is said to have failed."""
        self.path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "12 rows\n")
        return self.said(part, str(self.path), *words)

    def said(self, *words: str) -> list[str]:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = judge.main(list(words))
        failed = [line for line in out.getvalue().splitlines() if line.startswith("FAILED ")]
        self.assertEqual(code, int(bool(failed)))
        return failed

    def test_a_status_is_the_one_of_the_table(self) -> None:
        rows = [row("cheats/honest"), row("cheats/stale", status="wrong")]
        table = '{"honest": ["ok"], "stale": ["wrong", "suspect"]}'
        self.assertEqual(self.judge("status", rows, table), [])
        self.assertEqual(len(self.judge("status", rows[:1], table)), 1, "a row is missing")
        self.assertEqual(len(self.judge("status", [rows[0], row("cheats/stale")], table)), 1)
        self.assertEqual(self.judge("status", [], "{}"), ["FAILED no rows"])

    def test_an_honest_row_is_neither_suspect_nor_wrong(self) -> None:
        rows = [row("torch/eager"), row("jax/jit", status="unsupported")]
        self.assertEqual(self.judge("honest", rows), [])
        for status in ("suspect", "wrong", "crashed", "timeout"):
            self.assertEqual(len(self.judge("honest", [*rows, row("torch/compile", status=status)])), 1, status)
        theirs = f"{CASE}@torch/compile"
        self.assertEqual(self.judge("honest", [row("torch/compile", status="wrong")], theirs), [])
        self.assertEqual(len(self.judge("honest", [row("torch/compile", status="suspect")], theirs)), 1)

    def test_every_row_has_a_share_and_none_lies_above_it(self) -> None:
        self.assertEqual(self.judge("shares", [row("cuda/stream"), row("limit/traffic-walk", of_limit=None)]), [])
        self.assertEqual(len(self.judge("shares", [row("cuda/stream", of_limit=None)])), 1)
        self.assertEqual(len(self.judge("shares", [row("cuda/stream", of_limit=1.02, of_limit_low=1.01)])), 1)
        self.assertEqual(self.judge("shares", [row("cuda/stream", of_limit=1.01, of_limit_low=0.99)]), [])
        self.assertEqual(self.judge("shares", []), ["FAILED no row was measured"])

    def test_two_of_the_same_may_be_called_different(self) -> None:
        rows = [row("knob/b") for _ in range(198)] + [row("knob/b", "faster"), row("knob/b", "slower")]
        self.assertEqual(self.judge("same", rows, "b c"), [])
        self.assertEqual(len(self.judge("same", [*rows, row("knob/c", "slower")], "b c")), 1)
        self.assertEqual(len(self.judge("same", [row("knob/b", status="crashed")], "b")), 1)
        self.assertEqual(len(self.judge("same", rows, "d")), 1, "none has that name")

    def test_one_in_twenty_may_not_be_found(self) -> None:
        found, missed = row("knob/more-a", "slower"), row("knob/more-a", None)
        self.assertEqual(self.judge("more", [found] * 95 + [missed] * 5, "more-a"), [])
        self.assertEqual(len(self.judge("more", [found] * 94 + [missed] * 6, "more-a")), 1)
        self.assertEqual(len(self.judge("more", [row("knob/more-a", "faster")], "more-a")), 1)

    def test_faster_is_the_word_and_the_host_is_beside_it(self) -> None:
        compiled = row("torch/compile", "faster", notes={"host": "70.0 µs a launch"})
        self.assertEqual(self.judge("faster", [row("torch/eager"), compiled], "compile"), [])
        self.assertEqual(len(self.judge("faster", [row("torch/compile", "same", notes={"host": "1"})], "compile")), 1)
        self.assertEqual(len(self.judge("faster", [row("torch/compile", "faster")], "compile")), 1)

    def test_roofs_are_those_of_the_card(self) -> None:
        def at(case: str, share: float) -> dict:
            is_product = case.startswith("matmul")
            amount = {"multiply_adds": 1e12} if is_product else {"read": 1e12, "written": 1e12}
            seconds = 2e12 / (share * judge.ROOFS[case])
            limiter = "compute" if is_product else "traffic"
            case = f"{case}/device=cuda:0"
            return row("cuda/stream", case=case, work=amount, of_limit=0.5, median_seconds=2 * seconds, limiter=limiter)

        self.assertEqual(self.judge("roofs", [at(case, 0.98) for case in judge.ROOFS]), [])
        low = [at(case, 0.96 if case.startswith("sum") else 1.1) for case in judge.ROOFS]
        self.assertEqual(len(self.judge("roofs", low)), 3)
        self.assertEqual(self.judge("roofs", [*low, *(at(case, 1.0) for case in judge.ROOFS)]), [], "the best counts")
        self.assertEqual(len(self.judge("roofs", [])), len(judge.ROOFS))

    def test_forty_rows_take_five_minutes(self) -> None:
        rows = [row("cuda/stream")] * 40
        self.assertEqual(self.judge("pace", rows, "299"), [])
        self.assertEqual(len(self.judge("pace", rows, "301")), 1)
        self.assertEqual(self.judge("pace", rows * 2, "500"), [])
        self.assertEqual(len(self.judge("pace", rows[1:], "100")), 1)

    def test_kernels_come_from_the_cache_and_soon(self) -> None:
        def of(compiled: str, created: str) -> dict:
            return row("cuda/stream", notes={"compiled": compiled, "created": created})

        self.assertEqual(self.judge("cache", [of("cache", "4.90 ms")] * 99 + [of("compiled", "300.00 ms")]), [])
        self.assertEqual(len(self.judge("cache", [of("cache", "4.90 ms")] * 98 + [of("compiled", "300.00 ms")] * 2)), 1)
        self.assertEqual(len(self.judge("cache", [of("cache", "5.10 ms")])), 1)
        self.assertEqual(len(self.judge("cache", [row("torch/eager")])), 1)

    def test_parts_of_a_revision_add_up(self) -> None:
        self.assertEqual(len(self.said("total")), 3, "nothing was shown yet")
        for part in range(2):
            rows = [row("torch/eager", case=f"add/f32/rows={part},cols={n}") for n in range(100)]
            self.judge("honest", rows)
            self.judge("honest", rows)  # Rows that are there again are no more rows.
            self.judge("same", [row("knob/b")] * 99 + [row("knob/b", "faster")], "b")
            self.judge("more", [row("knob/more-a", "slower")] * 50, "more-a")
            if part == 0:
                self.assertEqual(len(self.said("total")), 3)
        self.assertEqual(self.said("total"), [])
        self.judge("same", [row("knob/b", "faster")], "b")
        self.assertEqual(len(self.said("total")), 1, "three of 201")
        os.environ["REVISION"] = "another"
        self.assertEqual(len(self.said("total")), 3, "what two revisions found is not added up")
        self.judge("shares", [row("cuda/stream", of_limit=None)])
        self.assertEqual(len(self.said("total")), 4)
        self.judge("shares", [row("cuda/stream")])
        self.assertEqual(len(self.said("total")), 3, "run again, and right")


if __name__ == "__main__":
    unittest.main()
