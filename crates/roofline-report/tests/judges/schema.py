"""Holds a document on standard input to the shape of the format that the first argument names.

A shape is a small schema: a type, a tuple of types, a list of one shape, a function, or a dictionary in which a key with
`?` may be missing and `*` stands for all others; without `*` no other key is allowed.
"""

import json
import math
import re
import sys

NUMBER = (int, float)


def text(value):
    return isinstance(value, str) and value.strip() != ""


def count(value):
    return type(value) is int and value >= 0


def one_of(*values):
    return lambda value: value in values


def bencher_name(value):
    return text(value) and len(value.encode()) <= 1024


METRIC = {"value": NUMBER, "lower_value?": NUMBER, "upper_value?": NUMBER}
ESTIMATE = {
    "confidence_interval": {"confidence_level": NUMBER, "lower_bound": NUMBER, "upper_bound": NUMBER},
    "point_estimate": NUMBER,
    "standard_error": NUMBER,
}
SCHEMAS = {
    "bencher": {"*": {"*": METRIC}},
    "github-action-benchmark": [
        {"name": text, "value": NUMBER, "unit": text, "range?": lambda value: re.fullmatch(r"(±|\+-) \S+", value), "extra?": str}
    ],
    "google-benchmark": {
        "context": {
            "date?": text,
            "host_name?": str,
            "executable?": str,
            "num_cpus?": count,
            "caches": [dict],
            "load_avg": [NUMBER],
            "library_version": text,
            "json_schema_version": one_of(1),
        },
        "benchmarks": [
            {
                "name": text,
                "run_name": text,
                "run_type": one_of("iteration", "aggregate"),
                "family_index": count,
                "per_family_instance_index": count,
                "repetitions": count,
                "repetition_index?": count,
                "threads": count,
                "aggregate_name?": one_of("median"),
                "aggregate_unit?": one_of("time"),
                "error_occurred?": one_of(True),
                "error_message?": text,
                "skipped?": one_of(True),
                "skip_message?": text,
                "iterations": count,
                "real_time": NUMBER,
                "cpu_time": NUMBER,
                "time_unit": one_of("ns"),
                "*": NUMBER,
            }
        ],
    },
    "flat-json": [
        {
            "operation": str,
            "implementation": str,
            "batch_size": (int, type(None)),
            "sequence_length": (int, type(None)),
            "tensor_dimension": (int, type(None)),
            "time_ms": (*NUMBER, type(None)),
            "memory_mb": (*NUMBER, type(None)),
            "inference_speed": (*NUMBER, type(None)),
            "gpu_efficiency": (*NUMBER, type(None)),
            "throughput_gbps": (*NUMBER, type(None)),
            "case": str,
            "dtype": (str, type(None)),
            "status": text,
            "why": str,
            "of_limit": (*NUMBER, type(None)),
            "notes": [str],
        }
    ],
    "criterion/benchmark": {
        "group_id": text,
        "function_id": (str, type(None)),
        "value_str": (str, type(None)),
        "throughput": (dict, type(None)),
        "full_id": text,
        "directory_name": text,
        "title": lambda value: text(value) and len(value.encode()) <= 103,
    },
    "criterion/sample": {"sampling_mode": one_of("Linear", "Flat"), "iters": [float], "times": [float]},
    "criterion/estimates": {
        "mean": ESTIMATE,
        "median": ESTIMATE,
        "median_abs_dev": ESTIMATE,
        "slope": (type(None),),
        "std_dev": ESTIMATE,
    },
    "criterion/tukey": [float],
}


def hold(value, shape, where):
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            sys.exit(f"{where}: no object")
        for key, inner in shape.items():
            if key == "*":
                continue
            name = key.rstrip("?")
            if name in value:
                hold(value[name], inner, f"{where}.{name}")
            elif not key.endswith("?"):
                sys.exit(f"{where}: `{name}` is missing")
        for key in value.keys() - {key.rstrip("?") for key in shape}:
            if "*" not in shape:
                sys.exit(f"{where}: `{key}` is unknown")
            hold(value[key], shape["*"], f"{where}.{key}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            sys.exit(f"{where}: no list")
        for place, inner in enumerate(value):
            hold(inner, shape[0], f"{where}[{place}]")
    elif isinstance(shape, (type, tuple)):
        if not isinstance(value, shape) or isinstance(value, bool):
            sys.exit(f"{where}: {value!r} is not {shape}")
        if isinstance(value, float) and not math.isfinite(value):
            sys.exit(f"{where}: not finite")
    elif not shape(value):
        sys.exit(f"{where}: {value!r}")


def refuse(word):
    sys.exit(f"{word} is no JSON")


def once(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        sys.exit("a key stands twice")
    return dict(pairs)


name = sys.argv[1]
document = json.loads(sys.stdin.buffer.read(), parse_constant=refuse, object_pairs_hook=once)
hold(document, SCHEMAS[name], name)
if name == "bencher" and not all(map(bencher_name, document)):
    sys.exit("a name is empty or too long")
if name == "github-action-benchmark" and len({one["name"] for one in document}) != len(document):
    sys.exit("a name stands twice: the second would overwrite the first")
if name == "google-benchmark":
    for one in document["benchmarks"]:
        if (one["run_type"] == "aggregate") != ("aggregate_name" in one):
            sys.exit("an aggregate has a name, a repetition has none")
        if ("error_occurred" in one or "skipped" in one) != (one["iterations"] == 0):
            sys.exit("only an entry without a time has no iterations")
