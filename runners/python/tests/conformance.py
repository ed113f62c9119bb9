"""One conformance test for every runner.

    python3 conformance.py [--cwd FOLDER] COMMAND...

starts COMMAND as the conductor would and holds it to `docs/protocol.md`: every implementation that
it offers computes what it should on nasty shapes and contents, between pages that cannot be read,
and every question has its answer, also the wrong ones. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import unittest
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import reference
from conductor import DEADLINE, MAX_LINE, Conversation, File, RunnerEnded
from reference import Case

MALFORMED = {
    "no JSON": b"hello\n",
    "no object": b"[1,2]\n",
    "no id": b'{"ask":"hello","protocol":2}\n',
    "an id that is a text": b'{"id":"1","ask":"hello"}\n',
    "an end in the middle": b'{"id":1,"ask":"hel\n',
    "a zero byte": b'{"id":1,"ask":"hello"\0}\n',
    "deep nesting": b"[" * 200_000 + b"\n",
    "an open text": b'{"id":1,"ask":"\\\n',
    "an endless line": b'{"id":1,"ask":"hello","padding":"' + b"x" * MAX_LINE + b'"}\n',
}


class Conformance(unittest.TestCase):
    """What holds for every runner; `load` makes one for a command."""

    command: list[str]
    folder: str | None = None

    def start(self, by_path: bool = False) -> Conversation:
        conversation = Conversation(self.command, self.folder, by_path)
        self.addCleanup(conversation.__exit__)
        return conversation

    def offers(self, conversation: Conversation) -> list[dict[str, Any]]:
        return conversation.ok("hello", protocol=2)["offers"]

    def files(self, case: Case, values: list[list[float]], layout="middle", folder=None) -> list[File]:
        """A case's tensors, inputs filled and output poisoned."""
        contents = [reference.encode(case.dtype, value) for value in values] + [reference.poison(case)]
        files = []
        for (name, dtype, shape), content in zip(case.tensors(), contents):
            role = "output" if len(files) == len(values) else "input"
            files.append(File(name, role, dtype, shape, content, layout, folder))
            self.addCleanup(files[-1].close)
        return files

    def question(self, case: Case, implementation: str, files: list[File]) -> dict[str, Any]:
        """The fields of a `prepare`."""
        operation, _, variant = case.operation.partition(".")
        return {
            "case": case.name,
            "operation": operation,
            "variant": variant,
            "dtype": case.dtype,
            "accumulator": reference.ACCUMULATOR[case.dtype],
            "params": reference.PARAMS.get(case.operation, {}),
            "axes": case.axes,
            "implementation": implementation,
            "threads": 1,
            "device": "cpu",
            "cores": sorted(os.sched_getaffinity(0))[:1],
            "tensors": [file.place() for file in files],
        }

    def known_offers(self, conversation: Conversation) -> list[tuple[dict[str, Any], str]]:
        """Offers of operations that this test knows, each with the first type that it knows too."""
        known = []
        # Another device than the CPU may not be here; what holds under a condition is left to the conductor.
        offers = (one for one in self.offers(conversation) if not one.get("requires"))
        for offer in (one for one in offers if "cpu" in one.get("devices", ["cpu"])):
            dtypes = [dtype for dtype in offer["dtypes"] if reference.cases(offer["operation"], dtype)]
            known += [(offer, dtype) for dtype in dtypes[:1]]
        if not known:
            self.skipTest("offers no operation that this test knows")
        return known

    def a_case(self, conversation: Conversation) -> tuple[str, Case, list[list[float]], list[File]]:
        """The first offer that this test knows, with files of a middling shape."""
        offer, dtype = self.known_offers(conversation)[0]
        case = reference.cases(offer["operation"], dtype)[2]
        values = reference.inputs(case, "normal", 1)
        return offer["implementation"], case, values, self.files(case, values)

    def assert_right(self, case: Case, values: list[list[float]], files: list[File]) -> None:
        wrong = reference.fault(case, files[-1].read(), reference.expected(case, values))
        self.assertIsNone(wrong)
        for file in files:
            self.assertTrue(file.canaries_alive(), f"{case.name}: written outside `{file.name}`")
        for file, value in zip(files, values):
            self.assertEqual(file.read(), reference.encode(case.dtype, value), f"`{file.name}` has changed")

    def test_hello_says_who_and_what(self):
        hello = self.start().ok("hello", protocol=2)
        self.assertEqual(hello["protocol"], 2)
        self.assertTrue(hello["runner"] and hello["version"].strip())
        self.assertTrue(hello["offers"])
        seen = set()
        for offer in hello["offers"]:
            self.assertRegex(offer["implementation"], r"^[a-z0-9-]{1,64}/[a-z0-9-]{1,64}$")
            self.assertTrue(offer["dtypes"])
            self.assertIsInstance(offer.get("requires", ""), str)
            for device in offer.get("devices", ["cpu"]):
                for dtype in offer["dtypes"]:
                    one = (offer["implementation"], offer["operation"], device, dtype)
                    self.assertNotIn(one, seen, "an implementation is offered twice")
                    seen.add(one)
        for key, value in hello.get("notes", {}).items():
            self.assertIsInstance(key, str)
            self.assertIsInstance(value, str)

    def test_every_offer_is_right(self):
        conversation = self.start()
        for offer in (offer for offer, _ in self.known_offers(conversation)):
            for dtype in offer["dtypes"]:
                for case in reference.cases(offer["operation"], dtype):
                    self.run_case(conversation, offer["implementation"], case)

    def run_case(self, conversation: Conversation, implementation: str, case: Case) -> None:
        families = reference.FAMILIES[: 2 if case.dtype == "i8" else 3]
        for layout in ("end", "start", "middle"):
            with self.subTest(implementation, case=case.name, layout=layout):
                values = reference.inputs(case, families[0], 1)
                files = self.files(case, values, layout)
                prepared = conversation.ok("prepare", files, **self.question(case, implementation, files))
                self.assertIn(prepared.get("output", "in-place"), ("in-place", "fresh"))
            for family in families:
                with self.subTest(implementation, case=case.name, family=family, layout=layout):
                    values = reference.inputs(case, family, 1)
                    for file, value in zip(files, values):
                        file.write(reference.encode(case.dtype, value))
                    files[-1].write(reference.poison(case))
                    conversation.ok("launch", count=1)
                    self.assert_right(case, values, files)
            conversation.ok("release")

    def test_softmax_of_hopeless_rows(self):
        conversation = self.start()
        names = {
            offer["implementation"]: offer["dtypes"]
            for offer in self.offers(conversation)
            if offer["operation"] == "softmax"
        }
        inf = float("inf")
        for implementation, dtypes in names.items():
            for dtype in dtypes:
                if dtype in reference.SIZES:
                    case = Case("softmax", dtype, (4, 3))
                    values = [[-inf, -inf, -inf, inf, 0, 1, float("nan"), 0, 1, -inf, 0, 1]]
                    files = self.files(case, values)
                    conversation.ok("prepare", files, **self.question(case, implementation, files))
                    conversation.ok("launch", count=2)
                    self.assert_right(case, values, files)

    def test_changed_inputs_are_seen(self):
        conversation = self.start()
        implementation, case, values, files = self.a_case(conversation)
        conversation.ok("prepare", files, **self.question(case, implementation, files))
        for seed in (1, 2, 3):
            values = reference.inputs(case, "normal", seed)
            for file, value in zip(files, values):
                file.write(reference.encode(case.dtype, value))
            files[-1].write(reference.poison(case))
            if seed == 3:
                conversation.ok("visit", warmup=0, samples=1, batch=1)
            else:
                conversation.ok("launch", count=seed)
            self.assert_right(case, values, files)

    def test_a_visit_has_its_samples(self):
        conversation = self.start()
        implementation, case, values, files = self.a_case(conversation)
        conversation.ok("prepare", files, **self.question(case, implementation, files))
        for warmup, samples, batch in [(0, 1, 1), (2, 5, 3), (1, 10_000, 1)]:
            files[-1].write(reference.poison(case))
            times = conversation.ok("visit", warmup=warmup, samples=samples, batch=batch)["nanoseconds"]
            self.assertEqual(len(times), samples)
            self.assertTrue(
                all(isinstance(time, (int, float)) and 0 <= time < DEADLINE * 1e9 for time in times)
            )
            self.assertGreater(sum(times), 0)
            self.assert_right(case, values, files)
        conversation.error("visit", warmup=0, samples=10_001, batch=1)
        conversation.ok("visit", warmup=0, samples=1, batch=1)

    def test_cases_come_and_go(self):
        conversation = self.start()
        conversation.error("launch", count=1)
        implementation, case, values, files = self.a_case(conversation)
        others = self.files(case, reference.inputs(case, "normal", 2))
        conversation.ok("prepare", others, **self.question(case, implementation, others))
        conversation.ok("prepare", files, **self.question(case, implementation, files))
        conversation.ok("launch", count=1)
        self.assert_right(case, values, files)
        self.assertEqual(others[-1].read(), reference.poison(case), "written to a case that was replaced")
        conversation.ok("release")
        conversation.error("visit", warmup=0, samples=1, batch=1)
        conversation.ok("release")

    def test_maps_are_guarded_and_let_go(self):
        conversation = self.start()
        implementation, case, _, files = self.a_case(conversation)
        conversation.ok("prepare", files, **self.question(case, implementation, files))
        maps = self.maps(conversation)
        for file in files:
            at = next((i for i, line in enumerate(maps) if f"/memfd:tensor-{file.name} " in line[2]), None)
            self.assertIsNotNone(at, f"`{file.name}` is not mapped")
            (start, end), access, _ = maps[at]
            self.assertEqual(access, "rw-s" if file.role == "output" else "r--s")
            for neighbour, touches in ((maps[at - 1], 1), (maps[at + 1], 0)):
                self.assertEqual(neighbour[0][touches], end if touches == 0 else start, "no neighbour")
                self.assertEqual(neighbour[1], "---p", f"what lies beside `{file.name}` can be reached")
        conversation.ok("release")
        left = [line[2] for line in self.maps(conversation) if "/memfd:tensor-" in line[2]]
        self.assertEqual(left, [], "still mapped after `release`")
        links = f"/proc/{conversation.process.pid}/fd"
        held = [os.readlink(f"{links}/{name}") for name in os.listdir(links)]
        self.assertFalse([link for link in held if "tensor-" in link], "files are still open")

    def maps(self, conversation: Conversation) -> list[tuple[tuple[int, int], str, str]]:
        result = []
        with open(f"/proc/{conversation.process.pid}/maps") as lines:
            for line in lines:
                span, access = line.split(maxsplit=2)[:2]
                start, end = (int(part, 16) for part in span.split("-"))
                result.append(((start, end), access, line))
        return result

    def test_what_is_not_there_is_unsupported(self):
        conversation = self.start()
        implementation, case, values, files = self.a_case(conversation)
        question = self.question(case, implementation, files)
        for change in (
            {"implementation": "nobody/nothing"},
            {"operation": "no-such"},
            {"dtype": "i32"},
            {"variant": "no-such"},
        ):
            error = conversation.error("prepare", files, **{**question, **change})
            self.assertEqual(error["kind"], "unsupported", change)
        conversation.ok("prepare", files, **question)
        conversation.ok("launch", count=1)
        self.assert_right(case, values, files)

    def test_contradictions_are_refused(self):
        conversation = self.start()
        implementation, case, values, files = self.a_case(conversation)
        question = self.question(case, implementation, files)
        huge = 1 << 63
        for key, value in [
            ("bytes", 3),
            ("bytes", huge),
            ("offset", files[0].size),
            ("offset", huge),
            ("size", files[0].size * 2),
            ("size", 0),
            ("size", huge),
            ("role", "visitor"),
            ("offset", -1),
            ("bytes", None),
            ("dtype", 7),
            ("offset", 1),
        ]:
            places = [file.place() for file in files]
            places[0][key] = value
            with self.subTest(key=key, value=value):
                conversation.error("prepare", files, **{**question, "tensors": places})
                conversation.error("launch", count=1)
        for places in ([], question["tensors"][:-1], question["tensors"] * 2, 5, [1, 2, 3]):
            conversation.error("prepare", files, **{**question, "tensors": places})
        conversation.error("prepare", files[:-1], **question)
        conversation.error("prepare", None, **question)
        conversation.error("no-such-question")
        conversation.error(None)
        conversation.error("launch")
        conversation.error("visit", warmup="many", samples=1, batch=1)
        conversation.ok("prepare", files, **question)
        conversation.ok("launch", count=1)
        self.assert_right(case, values, files)

    def test_bye_ends_it(self):
        conversation = self.start()
        conversation.ok("bye")
        self.assertEqual(conversation.process.wait(timeout=DEADLINE), 0)

    def test_a_closed_conversation_ends_it(self):
        conversation = self.start()
        conversation.ok("hello", protocol=2)
        self.assertEqual(conversation.close(), 0)

    def test_malformed_lines_end_it(self):
        for name, line in MALFORMED.items():
            with self.subTest(name):
                conversation = self.start()
                conversation.ok("hello", protocol=2)
                conversation.send(line)
                with self.assertRaises(RunnerEnded):
                    conversation.line()
                self.assertEqual(conversation.process.returncode, 2, conversation.logged())
                self.assertTrue(conversation.logged().strip(), "says nothing on standard error")

    def test_questions_in_pieces_are_whole(self):
        conversation = self.start()
        line = (
            json.dumps({"id": 1, "ask": "hello", "protocol": 2, "padding": 'é\\"' * 50_000}).encode() + b"\n"
        )
        for first in range(0, len(line), 60_001):
            conversation.send(line[first : first + 60_001])
        self.assertEqual(json.loads(conversation.line())["id"], 1)

    def test_by_hand_on_standard_input_and_output(self):
        conversation = self.start(by_path=True)
        offers = self.known_offers(conversation)
        with tempfile.TemporaryDirectory(prefix='tensors "of" é ') as folder:
            for offer, dtype in offers:
                for case in reference.cases(offer["operation"], dtype)[1:3]:
                    values = reference.inputs(case, "normal", 1)
                    files = self.files(case, values, folder=folder)
                    os.chmod(files[0].path, 0o400)
                    conversation.ok("prepare", **self.question(case, offer["implementation"], files))
                    conversation.ok("launch", count=1)
                    self.assert_right(case, values, files)
                    conversation.ok("visit", warmup=1, samples=2, batch=2)
                    os.unlink(files[0].path)
            question = self.question(case, offer["implementation"], files)
            self.assertNotEqual(conversation.error("prepare", **question)["kind"], "out-of-memory")
        conversation.ok("bye")
        self.assertEqual(conversation.process.wait(timeout=DEADLINE), 0)


def load(name: str, command: list[str], folder: str | None = None) -> unittest.TestSuite:
    """The tests for one runner."""
    title = "".join(part.capitalize() for part in re.split(r"\W+", name))
    kind = type(f"{title}Conformance", (Conformance,), {"command": command, "folder": folder})
    return unittest.defaultTestLoader.loadTestsFromTestCase(kind)


def main() -> int:
    """Runs the tests on the command line's runner."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cwd", help="folder to start it in")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("which runner? give its command")
    suite = load("Runner", options.command, options.cwd)
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
