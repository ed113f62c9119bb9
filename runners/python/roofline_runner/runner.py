"""The runner: what it offers, and the loop that answers the conductor."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import inspect
import json
import os
import platform
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from .channel import MAX_LINE, PipeChannel, SocketChannel, open_channel
from .errors import InvalidQuestion, MalformedLine, Misused, Unsupported, place_of, refusal
from .job import SIZES, Block, Job, Tensor, device_of, field, precision_of
from .measure import MAX_SAMPLES, FloatMode, InTurn, launch, visit
from .operation import Formula, Operation, names

PROTOCOL = 2
MALFORMED_EXIT = 2
MOST_SETS = 4096

Call = Callable[[], Any]
Prepare = Callable[[Job], Call]


@dataclass(frozen=True)
class Implementation:
    """One implementation of one operation, as it is offered."""

    name: str
    operation: str
    dtypes: tuple[str, ...]
    about: str
    output: str
    parallel: bool
    devices: tuple[str, ...]
    requires: str
    params: tuple[str, ...]
    prepare: Prepare

    def call(self, job: Job) -> Call:
        """Prepares a case: the callable that is launched."""
        # Asked before, so that a TypeError from inside the function is not taken for one of these.
        if not _takes(self.prepare, 1):
            raise Misused(f"{place_of(self.prepare)}: `{self.name}` must take one argument, the job")
        call = self.prepare(job)
        if not callable(call):
            raise Misused(
                f"{place_of(self.prepare)}: `{self.name}` returned {type(call).__name__}, not a callable"
            )
        if not _takes(call, 0):
            raise Misused(f"{place_of(call)}: what `{self.name}` returned must take no argument")
        return call

    def offer(self) -> dict[str, Any]:
        """This implementation in the answer to `hello`."""
        offer = {
            "implementation": self.name,
            "operation": self.operation,
            "dtypes": list(self.dtypes),
            "about": self.about,
            "parallel": self.parallel,
            "devices": list(self.devices),
        }
        return (
            offer
            | ({"requires": self.requires} if self.requires else {})
            | ({"params": list(self.params)} if self.params else {})
        )


class Runner:
    """A process that hosts implementations. `version` is that of the library that is measured.

    `devices` are those that are here: `cpu`, `cuda:0`.
    """

    def __init__(
        self,
        name: str,
        version: str,
        devices: Iterable[str] = ("cpu",),
        notes: Mapping[str, str] | None = None,
    ) -> None:
        if not version.strip():
            raise ValueError("give the version of what is measured; no version, no measurement")
        faulthandler.enable()
        self.name, self.version, self.devices = name, version, list(devices)
        self.notes = {"python": platform.python_version(), **(notes or {})}
        # By name, operation, kind of device and dtype.
        self._implementations: dict[tuple[str, str, str, str], Implementation] = {}
        self._operations: dict[str, Operation] = {}
        self._floats = FloatMode()
        self._channel: SocketChannel | PipeChannel | None = None
        self._forget()

    def implementation(
        self,
        name: str,
        *,
        operation: str,
        dtypes: Iterable[str],
        about: str | None = None,
        output: str = "in-place",
        parallel: bool = False,
        devices: Iterable[str] = ("cpu",),
        requires: str = "",
        params: Iterable[str] = (),
    ) -> Callable[[Prepare], Prepare]:
        """Offers the decorated function as `name` for `operation` or `operation.variant`.

        It takes a `Job` and returns the callable to be timed. With `output="fresh"` the callable
        returns its result (a tuple when there are several), which is copied off the clock. `parallel`
        says that it uses all threads it may; otherwise it counts as one, or sets `job.threads_used`.
        `devices` are kinds, `cpu` and `cuda`; where the job is on another device than `cpu`, the function
        says by `job.elsewhere` how tensors get there and back. `requires` says for which cases it is right,
        where it is not for all: `"cols % 16 == 0, align 64, finite, flushes denormals"`; the same name may be
        offered again for other dtypes under another condition. `dtypes` may name other precisions too, such as
        `f16+f16`. `params` are those that it takes from `job.params`; of others it has the default alone.
        """
        if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}/[A-Za-z0-9._-]{1,64}", name):
            raise ValueError(f"`{name}` is not `provider/name`: write letters, digits, `-`, `_` and `.`")
        dtypes, devices = checked(dtypes, output), tuple(devices)
        keys = [(name, operation, device, dtype) for device in devices for dtype in dtypes]
        if any(key in self._implementations for key in keys):
            raise ValueError(f"`{name}` is offered twice for `{operation}` in one dtype")

        def register(prepare: Prepare) -> Prepare:
            text = about if about is not None else (prepare.__doc__ or "").strip().partition("\n")[0]
            one = Implementation(name, operation, dtypes, text, output, parallel, devices, requires, tuple(params), prepare)
            self._implementations |= dict.fromkeys(keys, one)
            return prepare

        return register

    def operation(
        self,
        name: str,
        signature: str,
        *,
        bound: str,
        about: str | None = None,
        dtypes: str | Iterable[str] = ("f32",),
        independent: str | Iterable[str] = (),
        legal: str = "",
        params: str = "",
        flops: str = "",
        may_be_nan: bool = False,
    ) -> Callable[[Formula], Formula]:
        """Declares an operation whose formula is the decorated function.

        The function takes the inputs of the signature as arrays of f64, and parameters by name; it returns
        the outputs. `docs/bring-your-own/python-operation.md` says what the texts may be.
        """
        if name in self._operations:
            raise ValueError(f"the operation `{name}` is declared twice")

        def register(formula: Formula) -> Formula:
            text = about if about is not None else (formula.__doc__ or "").strip().partition("\n")[0]
            self._operations[name] = Operation(
                name, text, signature, bound, names(dtypes), names(independent), legal, params, flops, may_be_nan, formula
            )
            return formula

        return register

    def serve(self) -> NoReturn:
        """Answers questions until the conductor says `bye` or closes; then ends the process."""
        self._channel = open_channel()
        gc.collect()
        gc.freeze()  # What was imported stays, so a collection between cases need not look at it.
        try:
            while (line := self._channel.receive()) is not None:
                if not self._answer(line):
                    break
        except MalformedLine as error:
            print(f"{self.name}: not a question of the protocol: {error}", file=sys.stderr)
            sys.exit(MALFORMED_EXIT)
        except BrokenPipeError:
            pass
        sys.exit(0)

    def _answer(self, line: bytes) -> bool:
        """Answers one question; whether there may be another."""
        question = _parse(line)
        ask = question.get("ask")
        try:
            method = self._METHODS.get(ask) if isinstance(ask, str) else None
            if method is None:
                raise InvalidQuestion(f"unknown question {json.dumps(ask)[:60]}")
            answer = {"id": question["id"], "ok": method(self, question)}
        except Exception as error:
            if not isinstance(error, (Unsupported, InvalidQuestion, Misused)):
                traceback.print_exception(type(error), error, error.__traceback__)
            answer = {"id": question["id"], "error": refusal(error)}
        text = json.dumps(answer, separators=(",", ":")).encode() + b"\n"
        if len(text) > MAX_LINE:
            why = {"kind": "failed", "message": f"an answer of {len(text)} bytes; {MAX_LINE} is the limit"}
            text = json.dumps({"id": question["id"], "error": why}).encode() + b"\n"
        self._channel.send(text)
        return ask != "bye"

    def _hello(self, _question: dict[str, Any]) -> dict[str, Any]:
        operations = [one.declaration() for one in self._operations.values()]
        hello = {
            "protocol": PROTOCOL,
            "runner": self.name,
            "version": self.version,
            "devices": self.devices,
            "offers": [one.offer() for one in dict.fromkeys(self._implementations.values())],
            "notes": self.notes,
        }
        return hello | ({"operations": operations} if operations else {})

    def _prepare(self, question: dict[str, Any]) -> dict[str, Any]:
        self._release(question)
        if question.get("purpose") is not None:
            return self._prepare_reference(question)
        implementation = self._chosen(question)
        jobs = self._jobs_of(question)
        job = jobs[0]
        if implementation.parallel:
            job.threads_used = job.threads
        calls = [implementation.call(one) for one in jobs]
        call = InTurn(calls) if len(calls) > 1 else calls[0]
        if job.device != "cpu" and job.transfers is None:
            raise Misused(
                f"{place_of(implementation.prepare)}: on {job.device}, `{implementation.name}` must say by "
                "`job.elsewhere` how tensors get there and back"
            )
        is_copied = job.transfers is not None and not job.transfers.in_place
        fresh = implementation.output == "fresh" or is_copied
        if fresh and job.restore is not None:
            raise Unsupported(f"`{implementation.name}` does not work in place")
        self._call, self._job, self._jobs, self._fresh = call, job, jobs, fresh
        return {
            "threads": int(job.threads_used),
            "output": "fresh" if fresh else "in-place",
            "workspace_bytes": int(job.workspace_bytes),
            "notes": {str(key): str(value) for key, value in job.notes.items()},
        }

    def _prepare_reference(self, question: dict[str, Any]) -> dict[str, Any]:
        """A formula in the place of an implementation: in a process that is asked for nothing else."""
        name = field(question, "operation", str)
        operation = self._operations.get(name)
        if operation is None or question["purpose"] not in ("reference", "evaluate"):
            raise Unsupported(f"`{self.name}` declares no operation `{name}`")
        job = self._jobs_of(question)[0]
        self._call, self._job, self._jobs, self._fresh = operation.call(job), job, [job], False
        return {}

    def _jobs_of(self, question: dict[str, Any]) -> list[Job]:
        """The case of a question with its tensors mapped, once for each set of them."""
        places = field(question, "tensors", list)
        with contextlib.ExitStack() as stack:
            descriptors = self._descriptors(places, stack)
            blocks = [Block(place, file, device_of(question)) for place, file in zip(places, descriptors)]
        sets = min((field(place["sets"], "count", int) if "sets" in place else 1 for place in places), default=1)
        if not 0 < sets <= MOST_SETS:
            raise InvalidQuestion(f"{sets} sets of tensors; {MOST_SETS} is the limit")
        jobs = []
        for number in range(sets):
            tensors = [Tensor(place, block, number) for place, block in zip(places, blocks)]
            written = [tensor.role == "output" for tensor in tensors]
            if written != sorted(written):
                raise InvalidQuestion("an input stands after an output")
            jobs.append(Job(question, tensors))
        return jobs

    def _chosen(self, question: dict[str, Any]) -> Implementation:
        name, operation = field(question, "implementation", str), field(question, "operation", str)
        variant = field(question, "variant", str)
        full = f"{operation}.{variant}" if variant else operation
        kind = device_of(question).partition(":")[0]
        if all(key[:3] != (name, full, kind) for key in self._implementations):
            where = "" if kind == "cpu" else f" on {kind}"
            raise Unsupported(f"`{self.name}` has no `{name}` for `{full}`{where}")
        dtype = precision_of(question)
        implementation = self._implementations.get((name, full, kind, dtype))
        if implementation is None:
            raise Unsupported(f"`{name}` has no {dtype} for `{full}`")
        return implementation

    def _descriptors(self, places: list[Any], stack: contextlib.ExitStack) -> list[int]:
        if not all(isinstance(place, dict) for place in places):
            raise InvalidQuestion("`tensors` is not a list of objects")
        if not self._channel.by_path:
            descriptors = self._channel.descriptors
            if len(descriptors) != len(places):
                raise InvalidQuestion(f"{len(descriptors)} descriptors came with {len(places)} tensors")
            return list(descriptors)
        descriptors = []
        for place in places:
            access = os.O_RDWR if place.get("role") == "output" else os.O_RDONLY
            path = field(place, "path", str)
            try:
                descriptor = os.open(path, access | os.O_CLOEXEC)
            except (OSError, ValueError) as error:
                raise InvalidQuestion(f"cannot open `{path}`: {error}") from None
            stack.callback(os.close, descriptor)
            descriptors.append(descriptor)
        return descriptors

    def _launch(self, question: dict[str, Any]) -> dict[str, Any]:
        count, call = field(question, "count", int), self._prepared()
        with self._at_risk():
            self._bring()
            self._floats.remember()
            result = launch(call, count, self._restore())
            if count and self._job.transfers:
                self._wait(result)
            changed = self._floats.restore()
            if count:
                self._keep(result)
        return {"float_mode_changed": changed}

    def _visit(self, question: dict[str, Any]) -> dict[str, Any]:
        warmup, samples, batch = (field(question, name, int) for name in ("warmup", "samples", "batch"))
        if samples > MAX_SAMPLES or not batch:
            raise InvalidQuestion(
                f"{samples} samples of {batch} launches: at most {MAX_SAMPLES} of at least 1"
            )
        call = self._prepared()
        with self._at_risk():
            self._bring()
            self._floats.remember()
            keep = self._keep if self._fresh else None
            transfers = self._job.transfers
            wait, timed = (self._wait, transfers.timed) if transfers else (None, None)
            times, copying, result = visit(
                call, warmup, samples, batch, wait=wait, keep=keep, restore=self._restore(), timed=timed
            )
            changed = self._floats.restore()
            if warmup and not samples:
                self._keep(result)
        answer = {"nanoseconds": times, "float_mode_changed": changed}
        if self._job.host_nanoseconds is not None:
            answer["host_nanoseconds"] = self._job.host_nanoseconds
        return answer | ({"copy_nanoseconds": sum(copying) / len(copying)} if copying else {})

    @contextlib.contextmanager
    def _at_risk(self) -> Iterator[None]:
        """An implementation that raised an error is not trusted with another launch."""
        try:
            yield
        except BaseException:
            self._forget()
            raise

    def _prepared(self) -> Call:
        if self._call is None:
            raise InvalidQuestion("nothing is prepared")
        return self._call

    def _bring(self) -> None:
        """Takes the inputs, which may have changed, to where they are computed with."""
        for job in self._jobs:
            if job.transfers:
                job.transfers.bring()

    def _restore(self) -> Callable[[], None] | None:
        """What makes outputs copies of inputs, in every set."""
        restores = [job.restore for job in self._jobs if job.restore is not None]
        return (lambda: [restore() for restore in restores]) if len(restores) > 1 else next(iter(restores), None)

    def _wait(self, result: Any) -> None:
        """Returns when the device has finished, in every set that was launched."""
        if isinstance(self._call, InTurn):
            for job, one in zip(self._jobs, self._call.results):
                job.transfers.wait(one)
        else:
            self._job.transfers.wait(result)

    def _keep(self, result: Any) -> None:
        """Copies the result of a `fresh` implementation to where it is judged."""
        if not self._fresh:
            return
        if isinstance(self._call, InTurn):
            for job, one in zip(self._jobs, self._call.results):
                self._keep_one(job, one)
            self._call.results = []
        else:
            self._keep_one(self._job, result)

    def _keep_one(self, job: Job, result: Any) -> None:
        if job.transfers:
            result = job.transfers.fetch(result)
            if result is None:
                return
        outputs = job.outputs
        results = result if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(outputs):
            raise ValueError(f"returned {len(results)} results for {len(outputs)} outputs")
        for output, one in zip(outputs, results):
            output.fill(one)

    def _release(self, _question: dict[str, Any]) -> dict[str, Any]:
        self._forget()
        gc.collect()  # Views of the tensors in cycles would keep the maps.
        return {}

    def _forget(self) -> None:
        self._call: Call | None = None
        self._job: Job | None = None
        self._jobs: list[Job] = []
        self._fresh = False

    def _bye(self, question: dict[str, Any]) -> dict[str, Any]:
        return self._release(question)

    _METHODS: Mapping[str, Callable[[Runner, dict[str, Any]], dict[str, Any]]] = {
        "hello": _hello,
        "prepare": _prepare,
        "launch": _launch,
        "visit": _visit,
        "release": _release,
        "bye": _bye,
    }


# A precision that is more than a type: `f16+f16`, `w8a16`, `i8-bf16`.
_PRECISION = re.compile(r"[a-z0-9-]+\+[a-z0-9-]+|(i8|w[0-9]+a[0-9]+)(-[a-z0-9]+)?")


def checked(dtypes: Iterable[str], output: str) -> tuple[str, ...]:
    """The dtypes of an offer, if they and the output mode are such."""
    dtypes = (dtypes,) if isinstance(dtypes, str) else tuple(dtypes)
    unknown = [dtype for dtype in dtypes if dtype not in SIZES and not _PRECISION.fullmatch(dtype)]
    if unknown or not dtypes:
        raise ValueError(f"dtypes are some of {', '.join(SIZES)}, not {unknown or 'none'}")
    if output not in ("in-place", "fresh"):
        raise ValueError(f"output is `in-place` or `fresh`, not `{output}`")
    return dtypes


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments; what cannot tell is believed."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _parse(line: bytes) -> dict[str, Any]:
    try:
        question = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MalformedLine(str(error) or type(error).__name__) from None
    if not isinstance(question, dict) or type(question.get("id")) is not int or question["id"] < 0:
        raise MalformedLine("an object with a number `id` is expected")
    return question
