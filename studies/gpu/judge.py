"""Holds rows (`--format jsonl`) to what a part of the study must show, and keeps what it found in a journal.

    judge.py PART FILE...     exit 1 where the rows are not what they must be
    judge.py total            what the journal has come to; exit 1 where something is still to be shown

Parts add up: `$JOURNAL` has a line for each, and `total` adds those of `$REVISION`.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

HONEST_ROWS = 200
COMPARISONS, MOST_DIFFERENT = 200, 2
TRIES, LEAST_FOUND = 100, 0.95
PACE = 40 / 300  # Rows a second.
HITS, CREATION = 0.99, 5.0  # Share from the cache, milliseconds.
BELOW = 0.03

# What an H200 gave, in bytes or floating-point operations a second: reads, writes, copies, products.
ROOFS = {
    "sum/f32/rows=4096,cols=4096": 3.91e12,
    "sum/f32/rows=8192,cols=8192": 4.42e12,
    "sum/f32/rows=16384,cols=16384": 4.56e12,
    "expand/f32/copies=4096,rows=1,cols=4096": 4.19e12,
    "expand/f32/copies=8192,rows=1,cols=8192": 4.53e12,
    "expand/f32/copies=16384,rows=1,cols=16384": 4.62e12,
    "copy/f32/rows=2048,cols=4096": 3.55e12,
    "copy/f32/rows=4096,cols=8192": 3.89e12,
    "copy/f32/rows=8192,cols=16384": 4.00e12,
    "matmul/f32/m=8192,n=8192,k=8192": 51e12,
    "matmul/bf16/m=8192,n=8192,k=8192": 811e12,
}


def rows(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text().splitlines() if line.startswith("{")]


def name_of(row: dict) -> str:
    return f"{row['case']}@{row['implementation']}"


def own_name(row: dict) -> str:
    return row["implementation"].split("/")[1]


def told(row: dict) -> str:
    return f"{name_of(row)}: {row['status']}: {row.get('why', '')[:160]}"


def status(path: str, table: str) -> tuple[dict, list[str]]:
    """Every row has the status, or one of those, that the table gives its name."""
    wanted = json.loads(table)
    found = {own_name(row): row for row in rows(path)}
    wrong = [f"{name}: no row" for name in wanted if name not in found]
    wrong += ["no rows"] * (not found)
    for name, row in found.items():
        is_right = row["status"] in wanted.get(name, ["ok"])
        print(f"{'  ' if is_right else '! '}{name:20} {row['status']:12} {row.get('why', '')[:140]}")
        if not is_right:
            wrong.append(f"{name}: {row['status']}, not {wanted.get(name, ['ok'])}")
    return {}, wrong


def honest(path: str, theirs: str = "") -> tuple[dict, list[str]]:
    """No row fails but those that are known to be wrong by the library's own fault, named between spaces."""
    found = rows(path)
    print(dict(Counter(row["status"] for row in found)))
    fails = [row for row in found if row["status"] not in ("ok", "unsupported", "refused")]
    fails = [row for row in fails if row["status"] != "wrong" or name_of(row) not in theirs.split()]
    return {"honest": [name_of(row) for row in found if row["status"] == "ok"]}, [told(row) for row in fails]


def shares(path: str) -> tuple[dict, list[str]]:
    """Every measured row has its share of a limit, and none lies above it."""
    measured = [row for row in rows(path) if row["status"] == "ok" and not row["implementation"].startswith("limit/")]
    wrong = ["no row was measured"] * (not measured)
    for row in measured:
        figures = row["derived"]
        share, low = figures["of_limit"], figures["of_limit_low"]
        if share is None:
            wrong.append(f"{name_of(row)}: no share")
            continue
        print(f"  {name_of(row)}: {1e6 * figures['median_seconds']:.1f} us, {100 * share:.1f} % of {figures['limiter']}")
        if low > 1.0:
            wrong.append(f"{name_of(row)}: {100 * low:.1f} % at least")
    return {}, wrong


def compared(path: str, names: str) -> list[dict]:
    """The rows of these names, told case by case."""
    found = [row for row in rows(path) if own_name(row) in names.split()]
    cases: dict[str, list[dict]] = {}
    for row in found:
        cases.setdefault(row["case"].split("/cache")[0], []).append(row)
    for case, of_case in cases.items():
        speeds = sorted(row["derived"]["speed"] or 0.0 for row in of_case)
        words = Counter(row["derived"]["word"] or row["status"] for row in of_case)
        sets = sorted(len((row.get("rounds") or {}).get("to_hub") or []) for row in of_case)
        print(f"  {case}: {dict(words)}, speeds {speeds[0]:.4f} to {speeds[-1]:.4f}, sets {sets[0]} to {sets[-1]}")
    return found


def failed_rows(found: list[dict]) -> list[str]:
    return ["no rows of these names"] * (not found) + [told(row) for row in found if row["status"] != "ok"]


def same(path: str, names: str) -> tuple[dict, list[str]]:
    """Rows of these names do what the hub does: next to none is called different."""
    found = compared(path, names)
    different = [row for row in found if row["derived"]["word"] in ("faster", "slower")]
    for row in different:
        print(f"! {name_of(row)}: {row['derived']['word']}, {row['derived']['speed']}")
    wrong = failed_rows(found)
    if len(different) > MOST_DIFFERENT:
        wrong.append(f"{len(different)} of {len(found)} are called different")
    return {"compared": len(found), "different": len(different)}, wrong


def more(path: str, names: str) -> tuple[dict, list[str]]:
    """Rows of these names do 1 % more than the hub: next to all are called slower."""
    found = compared(path, names)
    slower = sum(row["derived"]["word"] == "slower" for row in found)
    wrong = failed_rows(found)
    if slower < LEAST_FOUND * len(found):
        wrong.append(f"{slower} of {len(found)} are called slower")
    return {"tried": len(found), "found": slower}, wrong


def faster(path: str, names: str) -> tuple[dict, list[str]]:
    """Every row of these names is faster than the hub, and what asking takes the host is told beside it."""
    found = compared(path, names)
    wrong = failed_rows(found)
    for row in found:
        word, host = row["derived"]["word"], row["provenance"]["notes"].get("host")
        print(f"  {name_of(row)}: {word}, {row['derived']['speed']} times as fast; host {host}")
        wrong += [f"{name_of(row)}: {word}, not faster"] * (word != "faster")
        wrong += [f"{name_of(row)}: no time of the host"] * (not host)
    return {}, wrong


def roofs(path: str) -> tuple[dict, list[str]]:
    """The limits of rows, as rates, are those of the card as it was first measured, or above them."""
    best: dict[str, float] = {}
    for row in rows(path):
        case, figures = "/".join(row["case"].split("/")[:3]), row["derived"]
        if row["status"] != "ok" or case not in ROOFS or not figures["of_limit"]:
            continue
        work, seconds = row["work"], figures["median_seconds"] * figures["of_limit"]
        by_compute = figures["limiter"] == "compute"
        amount = 2 * work["multiply_adds"] if by_compute else work["read"] + work["written"]
        best[case] = max(best.get(case, 0.0), amount / seconds)
    wrong = [f"{case}: no limit was measured" for case in ROOFS if case not in best]
    for case, rate in best.items():
        print(f"  {case}: {rate / 1e12:.2f} T/s, {ROOFS[case] / 1e12:.2f} before")
        if rate < (1 - BELOW) * ROOFS[case]:
            wrong.append(f"{case}: {rate / 1e12:.2f} T/s, more than {100 * BELOW:.0f} % below {ROOFS[case] / 1e12:.2f}")
    return {}, wrong


def pace(path: str, seconds: str) -> tuple[dict, list[str]]:
    """So many rows were measured in so many seconds: forty take five minutes at the most."""
    found = sum(row["status"] == "ok" for row in rows(path))
    print(f"  {found} rows in {seconds} s")
    wrong = [f"{found} rows, not 40"] * (found < 40)
    wrong += [f"{found} rows in {seconds} s"] * (found < PACE * float(seconds))
    return {}, wrong


def cache(path: str) -> tuple[dict, list[str]]:
    """A second run: kernels come from the cache, and soon."""
    notes = [row["provenance"]["notes"] for row in rows(path)]
    notes = [of_row for of_row in notes if of_row.get("compiled") in ("cache", "compiled")]
    hits = [of_row for of_row in notes if of_row["compiled"] == "cache"]
    slowest = max((float(of_row["created"].split()[0]) for of_row in hits), default=0.0)
    print(f"  {len(hits)} of {len(notes)} kernels from the cache, the slowest in {slowest} ms")
    wrong = ["no kernel was made"] * (not notes)
    wrong += [f"{len(hits)} of {len(notes)} from the cache"] * (len(hits) < HITS * len(notes))
    wrong += [f"a kernel took {slowest} ms"] * (slowest >= CREATION)
    return {}, wrong


def total() -> list[str]:
    """What all parts of this revision have shown together, and what is still to be shown."""
    found = [line for line in journal() if line["revision"] == revision()]
    added = lambda figure: sum(line["figures"].get(figure, 0) for line in found)  # noqa: E731
    honest_rows = {name for line in found for name in line["figures"].get("honest", [])}
    counts = {figure: added(figure) for figure in ("compared", "different", "tried", "found")}
    print(f"revision {revision()}: {len(honest_rows)} honest rows, {counts}")
    # A part that was run again counts by its last time.
    last = {line["part"]: line["failed"] for line in found}
    wrong = [f"{part}: {why}" for part, failures in last.items() for why in failures]
    wrong += [f"{len(honest_rows)} honest rows, not {HONEST_ROWS}"] * (len(honest_rows) < HONEST_ROWS)
    wrong += [f"{counts['compared']} comparisons, not {COMPARISONS}"] * (counts["compared"] < COMPARISONS)
    if counts["different"] > MOST_DIFFERENT * max(1, counts["compared"] / COMPARISONS):
        wrong.append(f"{counts['different']} of {counts['compared']} called different")
    wrong += [f"{counts['tried']} tries of 1 %, not {TRIES}"] * (counts["tried"] < TRIES)
    if counts["found"] < LEAST_FOUND * counts["tried"]:
        wrong.append(f"{counts['found']} of {counts['tried']} times 1 % were found")
    return wrong


def revision() -> str:
    return os.environ.get("REVISION", "unknown")


def journal() -> list[dict]:
    path = Path(os.environ["JOURNAL"]) if "JOURNAL" in os.environ else None
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def keep(part: str, path: str, figures: dict, failed: list[str]) -> None:
    """A line for a part; its name has the file's, for parts of one kind on other rows are other parts."""
    if "JOURNAL" in os.environ:
        line = {"revision": revision(), "part": f"{part} {Path(path).stem}", "figures": figures, "failed": failed}
        with Path(os.environ["JOURNAL"]).open("a") as file:
            file.write(json.dumps(line) + "\n")


PARTS = [status, honest, shares, same, more, faster, roofs, pace, cache]


def main(words: list[str]) -> int:
    if words == ["total"]:
        failed = total()
    else:
        figures, failed = {part.__name__: part for part in PARTS}[words[0]](*words[1:])
        keep(words[0], words[1], figures, failed)
    for line in failed:
        print(f"FAILED {line}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
