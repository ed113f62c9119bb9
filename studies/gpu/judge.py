"""Reads rows (`--format jsonl`) and says whether they are what a part of the study must show; exit 1 where not."""

from __future__ import annotations

import json
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
        figures, name = row["derived"], f"{row['case']}@{row['implementation']}"
        share, low = figures["of_limit"], figures["of_limit_low"]
        if share is None:
            print(f"! {name}: no share")
            wrong.append(f"{name}: no share")
            continue
        print(f"  {name}: {1e6 * figures['median_seconds']:.1f} us, {100 * share:.1f} % of {figures['limiter']}")
        if low > 1.0:
            wrong.append(f"{name}: {100 * low:.1f} % at least")
    return wrong


def compare(path: str, names: str) -> list[str]:
    """How often rows of these names differ from what they are compared with, case by case, by their verdicts."""
    cases: dict[str, list[dict]] = {}
    for row in rows(path):
        if row["implementation"].split("/")[1] in names.split():
            cases.setdefault(row["case"].split("/cache")[0], []).append(row)
    for case, found in cases.items():
        speeds = sorted(row["derived"]["speed"] or 0.0 for row in found)
        words = Counter(row["derived"]["word"] or row["status"] for row in found)
        sets = sorted(len((row.get("rounds") or {}).get("to_hub") or []) for row in found)
        print(f"  {case}: {dict(words)}, speeds {speeds[0]:.4f} to {speeds[-1]:.4f}, sets {sets[0]} to {sets[-1]}")
    print(dict(Counter(row["derived"]["word"] or row["status"] for found in cases.values() for row in found)))
    return []


if __name__ == "__main__":
    checks = {"status": status, "honest": honest, "shares": shares, "compare": compare}
    wrong = checks[sys.argv[1]](*sys.argv[2:])
    for line in wrong:
        print(f"FAILED {line}")
    sys.exit(bool(wrong))
