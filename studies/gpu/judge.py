"""Reads rows (`--format jsonl`) and says whether they are what a part of the study must show; exit 1 where not."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from pathlib import Path


def rows(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text().splitlines() if line.startswith("{")]


def status(path: str, table: str) -> list[str]:
    """Every row has the status, or one of those, that the table gives its name."""
    wanted = json.loads(table)
    found = {row["implementation"].split("/")[1]: row for row in rows(path)}
    wrong = [f"{name}: no row" for name in wanted if name not in found]
    for name, row in found.items():
        is_right = row["status"] in wanted.get(name, ["ok"])
        print(f"{'  ' if is_right else '! '}{name:20} {row['status']:12} {row.get('why', '')[:140]}")
        if not is_right:
            wrong.append(f"{name}: {row['status']}, not {wanted.get(name)}")
    return wrong


def honest(path: str) -> list[str]:
    """No row is `suspect`; those that are `wrong` are named."""
    found = rows(path)
    count = Counter(row["status"] for row in found)
    print(dict(count))
    for row in found:
        if row["status"] not in ("ok", "unsupported", "refused"):
            print(f"! {row['case']}@{row['implementation']}: {row['status']}: {row.get('why', '')[:160]}")
    return [f"{count['suspect']} suspect"] if count["suspect"] else []


def shares(path: str) -> list[str]:
    """Every measured row has its share of a limit, and none lies above it."""
    wrong = []
    for row in rows(path):
        if row["status"] != "ok" or row["implementation"].startswith("limit/"):
            continue
        share = (row.get("rounds") or {}).get("share") or {}
        mean = share.get("mean")
        name = f"{row['case']}@{row['implementation']}"
        print(f"  {name}: {100 * math.exp(mean):.1f} %" if mean is not None else f"! {name}: no share")
        if mean is None or mean > 0.03:
            wrong.append(f"{name}: {mean}")
    return wrong


def compare(path: str, name: str) -> list[str]:
    """How often rows of a name differ from the hub, by the word of their verdict."""
    words = Counter(verdict(row) for row in rows(path) if row["implementation"].endswith(f"/{name}"))
    print(name, dict(words))
    return []


def verdict(row: dict) -> str:
    """The word of a row, from its set values against the hub."""
    to_hub = (row.get("rounds") or {}).get("to_hub") or []
    values = [one if isinstance(one, (int, float)) else one.get("log", 0.0) for one in to_hub]
    if len(values) < 6:
        return "none"
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
    # Two-sided 5 % by Student's t: 2.57 at six sets, 2.2 at twelve.
    half = spread * (2.57 if len(values) < 12 else 2.2)
    if abs(mean) - half > 0.003:
        return "slower" if mean < 0 else "faster"
    return "same or unclear"


if __name__ == "__main__":
    checks = {"status": status, "honest": honest, "shares": shares, "compare": compare}
    wrong = checks[sys.argv[1]](*sys.argv[2:])
    for line in wrong:
        print(f"FAILED {line}")
    sys.exit(bool(wrong))
