"""A file of decorated functions as a runner: `python -m roofline_runner FILE`.

The file offers its functions and nothing else; its name and theirs make the implementations' names,
its content the version. One that builds a `Runner` of its own is served as it is.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from .errors import describe, place_of
from .operation import Formula
from .runner import Prepare, Runner, checked

BROKEN_EXIT = 3

_offered: list[Callable[[Runner, str], None]] = []


def implementation(
    operation: str,
    *,
    dtypes: Iterable[str],
    name: str | None = None,
    output: str = "in-place",
    parallel: bool = False,
    devices: Iterable[str] = ("cpu",),
    requires: str = "",
    params: Iterable[str] = (),
) -> Callable[[Prepare], Prepare]:
    """Offers the decorated function for `operation`; called as the function unless `name` says otherwise.

    The function takes a `Job` and returns the callable to be timed; `Runner.implementation` says more.
    """
    dtypes = checked(dtypes, output)  # Here, where the author's line is at hand.

    def register(prepare: Prepare) -> Prepare:
        about = (prepare.__doc__ or "").strip().partition("\n")[0]

        def offer(runner: Runner, provider: str) -> None:
            runner.implementation(
                f"{provider}/{name or prepare.__name__}",
                operation=operation,
                dtypes=dtypes,
                about=f"{about} ({place_of(prepare)})".strip(),
                output=output,
                parallel=parallel,
                devices=devices,
                requires=requires,
                params=params,
            )(prepare)

        _offered.append(offer)
        return prepare

    return register


def operation(
    signature: str,
    *,
    bound: str,
    name: str | None = None,
    dtypes: str | Iterable[str] = ("f32",),
    independent: str | Iterable[str] = (),
    legal: str = "",
    params: str = "",
    flops: str = "",
    may_be_nan: bool = False,
) -> Callable[[Formula], Formula]:
    """Declares an operation whose formula, in f64, is the decorated function; called as the function unless
    `name` says otherwise. `Runner.operation` says more.
    """

    def register(formula: Formula) -> Formula:
        own = name or formula.__name__

        def offer(runner: Runner, _provider: str) -> None:
            runner.operation(
                own,
                signature,
                bound=bound,
                dtypes=dtypes,
                independent=independent,
                legal=legal,
                params=params,
                flops=flops,
                may_be_nan=may_be_nan,
            )(formula)

        _offered.append(offer)
        return formula

    return register


def serve_file(path: Path) -> NoReturn:
    """Runs the file and serves what it offers; a mistake in it is its last words, with its line."""
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.parent))
    try:
        module = load(path)
        runner = runner_of(path, module)
    except Exception as error:
        traceback.print_exception(type(error), error, error.__traceback__)
        sys.exit(say(describe(error)))
    if runner is None:
        sys.exit(say(f"{path.name} offers nothing; put `@implementation(...)` above a function"))
    runner.serve()


def load(path: Path) -> ModuleType:
    """The file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def runner_of(path: Path, module: ModuleType) -> Runner | None:
    """The runner that a file makes, else one with the functions that it offers."""
    if not _offered:
        return next((value for value in vars(module).values() if isinstance(value, Runner)), None)
    # What is measured is the file; a version of its own is easily forgotten when it changes.
    version = "sha256 " + hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    notes = {"file": path.name, **libraries(module)}
    runner = Runner(path.stem, version, ["cpu", *gpus()], notes)
    for offer in _offered:
        offer(runner, runner.name)
    return runner


def gpus() -> list[str]:
    """The GPUs that the driver shows, without asking a library that the file may not use."""
    found = (re.fullmatch(r"nvidia(\d+)", name) for name in os.listdir("/dev"))
    return [f"cuda:{index}" for index in range(sum(one is not None for one in found))]


def libraries(module: ModuleType) -> dict[str, str]:
    """Versions of the libraries that the file imports by name."""
    modules = [value for value in vars(module).values() if isinstance(value, ModuleType)]
    found = {one.__name__: getattr(one, "__version__", None) for one in modules}
    return {name: version for name, version in found.items() if isinstance(version, str)}


def say(why: str) -> int:
    """The last words, and the exit code."""
    print(why, file=sys.stderr, flush=True)
    return BROKEN_EXIT


def main(arguments: list[str]) -> NoReturn:
    """`python -m roofline_runner FILE`."""
    if len(arguments) != 1:
        sys.exit("usage: python -m roofline_runner FILE")
    serve_file(Path(os.path.abspath(arguments[0])))
