"""Reads Go benchmark text on standard input as strictly as its description allows, and prints what it says as JSON.

Written from the description of the format and from nothing of ours: every line must be a configuration line, a unit
line, a result or a comment; names, numbers and units must be well formed; no unit may be said to be two things.
"""

import json
import math
import re
import sys

KEY = re.compile(r"[a-z][^\sA-Z]*")
NAME = re.compile(r"Benchmark[A-Z]\S*")
TIDY = {"ns/op": ("sec/op", 1e-9), "MB/s": ("B/s", 1e6)}
BETTER = {"sec/op": "lower", "B/op": "lower", "allocs/op": "lower", "B/s": "higher"}


def number(text):
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        sys.exit(f"no number: {text!r}")
    value = float(text)
    if not math.isfinite(value):
        sys.exit(f"not finite: {text!r}")
    return value


def result(fields):
    if len(fields) < 4 or len(fields) % 2:
        sys.exit(f"a result has a name, iterations and pairs of value and unit: {fields}")
    name, iterations = fields[:2]
    if not NAME.fullmatch(name):
        sys.exit(f"no name of a benchmark: {name!r}")
    if not re.fullmatch(r"[1-9]\d*", iterations):
        sys.exit(f"iterations are a whole number: {iterations!r}")
    path, _, procs = name.rpartition("-")
    if not path or not procs.isdigit():
        path, procs = name, "1"
    keys = dict(part.split("=", 1) for part in path.split("/")[1:])
    metrics = {}
    for value, unit in zip(fields[2::2], fields[3::2]):
        unit, scale = TIDY.get(unit, (unit, 1.0))
        if unit in metrics:
            sys.exit(f"{unit} twice in one line")
        metrics[unit] = number(value) * scale
    if "sec/op" not in metrics:
        sys.exit(f"no time: {fields}")
    return {"name": name, "procs": int(procs), "keys": keys, "iterations": int(iterations), "metrics": metrics}


def hold_exact(unit, results):
    by_name = {}
    for one in results:
        if by_name.setdefault(one["name"], one["metrics"].get(unit)) != one["metrics"].get(unit):
            sys.exit(f"{unit} of {one['name']} is said to be exact and differs")


def main():
    configuration, units, results = {}, {}, []
    for line in sys.stdin.buffer.read().decode("utf-8").splitlines():
        fields = line.split()
        if line.startswith("Benchmark"):
            results.append({**result(fields), "configuration": dict(configuration)})
        elif line.startswith("Unit "):
            for word in fields[2:]:
                key, value = word.split("=")
                if (key, value) not in [("better", "higher"), ("better", "lower"), ("assume", "exact")]:
                    sys.exit(f"no property of a unit: {word}")
                if units.setdefault(fields[1], {}).setdefault(key, value) != value:
                    sys.exit(f"two things about {fields[1]}")
        elif line.startswith("# "):
            continue
        else:
            key, colon, value = line.partition(":")
            if not colon or not KEY.fullmatch(key) or not value.startswith((" ", "\t")):
                sys.exit(f"neither a result nor a configuration: {line!r}")
            configuration[key] = value.strip()
    for unit in {unit for one in results for unit in one["metrics"]}:
        facts = units.get(unit, {})
        if unit not in BETTER and "better" not in facts and facts.get("assume") != "exact":
            sys.exit(f"nobody knows what is better in {unit}")
        if facts.get("assume") == "exact":
            hold_exact(unit, results)
    json.dump(results, sys.stdout)


main()
