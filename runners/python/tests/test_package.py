"""The package `roofline_runner` against its promises, over both channels."""

from __future__ import annotations

import importlib.util
import inspect
import os
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from conductor import Conversation, File, RunnerEnded

from roofline_runner import Runner, Unsupported

HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = [sys.executable, os.path.join(HERE, "sample_runner.py")]
HAS_NUMPY = importlib.util.find_spec("numpy") is not None
X, Y, Z = [1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -3.0, 1000.0], [1.5, 2.25, 0.0, 1004.0]


def floats(values: list[float]) -> bytes:
    """Values as f32 bytes."""
    return struct.pack(f"<{len(values)}f", *values)


class PackageTest(unittest.TestCase):
    """Starts the sample runner and asks it."""

    def start(self, by_path: bool = False) -> Conversation:
        conversation = Conversation(COMMAND, by_path=by_path)
        self.addCleanup(conversation.__exit__)
        return conversation

    def files(self, layout: str = "middle", folder: str | None = None) -> list[File]:
        tensors = [("x", "input", X), ("y", "input", Y), ("z", "output", [-1.0] * 4)]
        files = [
            File(name, role, "f32", [2, 2], floats(values), layout, folder) for name, role, values in tensors
        ]
        for file in files:
            self.addCleanup(file.close)
        return files

    def question(self, name: str, files: list[File]) -> dict:
        return {
            "case": "add/f32/rows=2,cols=2",
            "operation": "add",
            "variant": "",
            "dtype": "f32",
            "accumulator": "f32",
            "axes": {"rows": 2, "cols": 2},
            "implementation": f"sample/{name}",
            "threads": 2,
            "cores": [0, 1],
            "tensors": [file.place() for file in files],
        }

    def prepare(self, conversation: Conversation, name: str, layout: str = "middle") -> list[File]:
        files = self.files(layout)
        self.prepared = conversation.ok("prepare", files, **self.question(name, files))
        return files

    def prepare_error(self, name: str) -> dict:
        files = self.files()
        return self.start().error("prepare", files, **self.question(name, files))

    def line_of(self, mark: str) -> int:
        with open(COMMAND[1]) as lines:
            return next(number for number, line in enumerate(lines, 1) if mark in line)

    def test_hello(self):
        hello = self.start().ok("hello", protocol=2)
        self.assertEqual((hello["runner"], hello["version"]), ("sample", "1.2.3"))
        self.assertEqual(hello["notes"]["kind"], "test")
        offer = hello["offers"][0]
        self.assertEqual(offer["about"], "Plain Python over bytes.")
        self.assertEqual((offer["dtypes"], offer["parallel"]), (["f32"], False))
        self.assertEqual(offer["devices"], ["cpu"])

    def test_spoilt_questions_are_answered(self):
        draw = random.Random(7)
        odd = [None, -1, 0, 1, 10**30, 1e300, "x", "x" * 5000, [], {}, [[[0]]], 4096, True, "\0", "é"]
        conversation = self.start()
        answers = {"ok": 0, "error": 0}
        for _ in range(400):
            files = self.files()
            fields = self.question("buffers", files)
            part = draw.choice([fields, fields["axes"], draw.choice(fields["tensors"])])
            name = draw.choice(list(part))
            if draw.random() < 0.2:
                del part[name]
            else:
                part[name] = draw.choice(odd)
            answer = conversation.ask("prepare", files, **fields)
            answers["ok" if "ok" in answer else "error"] += 1
            # After a refusal nothing is prepared, and that is an answer too.
            many = 10**30 if "error" in answer else 2
            conversation.ask("launch", count=draw.choice([1, -1, many, "x", None, 1.5]))
        self.assertGreater(min(answers.values()), 20, answers)
        files = self.prepare(conversation, "buffers")
        conversation.ok("launch", count=1)
        self.assertEqual(files[2].read(), floats(Z))

    def test_buffers_without_numpy(self):
        conversation = self.start()
        files = self.prepare(conversation, "buffers")
        self.assertEqual(
            self.prepared, {"threads": 1, "output": "in-place", "workspace_bytes": 7, "notes": {"cores": "2"}}
        )
        self.assertEqual(conversation.ok("launch", count=1), {"float_mode_changed": False})
        self.assertEqual(files[2].read(), floats(Z))

    def test_fresh_results_are_copied(self):
        names = ["fresh", "fresh-numpy"] if HAS_NUMPY else ["fresh"]
        for name in names:
            conversation = self.start()
            files = self.prepare(conversation, name)
            self.assertEqual(self.prepared["output"], "fresh")
            self.assertEqual(self.prepared["threads"], 2 if name == "fresh" else 1)
            conversation.ok("launch", count=0)
            self.assertEqual(files[2].read(), floats([-1.0] * 4))
            conversation.ok("launch", count=1)
            self.assertEqual(files[2].read(), floats(Z))
            files[2].write(floats([-1.0] * 4))
            self.assertEqual(len(conversation.ok("visit", warmup=1, samples=3, batch=2)["nanoseconds"]), 3)
            self.assertEqual(files[2].read(), floats(Z))

    def test_fresh_results_must_fit(self):
        for name, words in [("fresh-wrong-shape", "4 bytes of shape [1]"), ("fresh-nothing", "NoneType")]:
            conversation = self.start()
            self.prepare(conversation, name)
            error = conversation.error("launch", count=1)
            self.assertEqual(error["kind"], "failed")
            self.assertIn(words, error["message"])

    def test_an_exception_names_the_authors_line(self):
        conversation = self.start()
        for ask, fields in [("launch", {"count": 1}), ("visit", {"warmup": 0, "samples": 1, "batch": 1})]:
            self.prepare(conversation, "raises-in-launch")
            error = conversation.error(ask, **fields)
            self.assertEqual(error["kind"], "failed")
            self.assertIn("nothing is prepared", conversation.error(ask, **fields)["message"])
            line = self.line_of("the line of the launch")
            start = f"sample_runner.py:{line}: ZeroDivisionError: "
            self.assertTrue(error["message"].startswith(start), error)
        error = self.prepare_error("raises-in-prepare")
        line = self.line_of("the line of the prepare")
        self.assertTrue(error["message"].startswith(f"sample_runner.py:{line}: FileNotFoundError: "), error)

    def test_refusals(self):
        self.assertEqual(
            self.prepare_error("unsupported"), {"kind": "unsupported", "message": "not for 2 columns"}
        )
        self.assertIn("not a callable", self.prepare_error("no-callable")["message"])
        message = self.prepare_error("huge-message")["message"]
        self.assertLess(len(message), 5000)
        conversation = self.start()
        self.prepare(conversation, "greedy")
        self.assertEqual(conversation.error("launch", count=1)["kind"], "out-of-memory")

    def test_inputs_cannot_be_written(self):
        conversation = self.start()
        files = self.prepare(conversation, "assigns-input")
        self.assertIn("read-only", conversation.error("launch", count=1)["message"])
        self.prepare(conversation, "writes-input")
        with self.assertRaisesRegex(RunnerEnded, r"exit -11: (?s:.)*sample_runner.py"):
            conversation.ok("launch", count=1)
        self.assertEqual(files[0].read(), floats(X))

    def test_reading_past_the_end_faults(self):
        conversation = self.start()
        self.prepare(conversation, "reads-past-end", layout="end")
        with self.assertRaisesRegex(RunnerEnded, "exit -11: "):
            conversation.ok("launch", count=1)

    def test_the_kernel_has_its_own_output(self):
        for by_path in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                conversation = self.start(by_path)
                files = self.files(folder=folder if by_path else None)
                conversation.ok("prepare", files, **self.question("prints", files))
                conversation.ok("launch", count=3)
                conversation.ok("bye")
                conversation.process.wait()
                self.assertEqual(conversation.logged().count("kernel on stdout"), 3)
                self.assertEqual(conversation.logged().count("kernel on descriptor 1"), 3)

    @unittest.skipUnless(os.uname().machine == "x86_64", "looks at MXCSR")
    def test_a_changed_float_mode_is_told_and_undone(self):
        conversation = self.start()
        self.prepare(conversation, "rounds-upward")
        self.assertTrue(conversation.ok("launch", count=1)["float_mode_changed"])
        self.assertTrue(conversation.ok("visit", warmup=0, samples=1, batch=1)["float_mode_changed"])
        self.prepare(conversation, "buffers")
        self.assertFalse(conversation.ok("launch", count=1)["float_mode_changed"])

    def test_the_clock_is_bound_early(self):
        conversation = self.start()
        self.prepare(conversation, "new-clock")
        times = conversation.ok("visit", warmup=0, samples=5, batch=10)["nanoseconds"]
        self.assertTrue(all(time > 1000 for time in times), times)

    def test_offers_are_checked(self):
        runner = Runner("test", version="1")
        decorate = runner.implementation("test/one", operation="add", dtypes=["f32"])
        self.assertIs(decorate(inspect.isclass), inspect.isclass)
        for name, output in [("test/one", "in-place"), ("te st/one", "in-place"), ("test/two", "elsewhere")]:
            with self.assertRaises(ValueError):
                runner.implementation(name, operation="add", dtypes=["f32"], output=output)
        with self.assertRaises(ValueError):
            Runner("test", version=" ")

    def test_a_name_is_offered_for_other_types_under_another_condition(self):
        runner = Runner("test", version="1")
        for dtype, requires in [("f32", ""), ("bf16", "finite")]:
            offer = runner.implementation("test/one", operation="add", dtypes=[dtype], requires=requires)
            offer(inspect.isclass)
        offers = runner._hello({})["offers"]
        self.assertEqual([offer["dtypes"] for offer in offers], [["f32"], ["bf16"]])
        self.assertEqual([offer.get("requires") for offer in offers], [None, "finite"])
        question = {"implementation": "test/one", "operation": "add", "variant": "", "device": "cpu"}
        self.assertEqual(runner._chosen(question | {"dtype": "bf16"}).requires, "finite")
        with self.assertRaisesRegex(Unsupported, "no f64"):
            runner._chosen(question | {"dtype": "f64"})


class SetsOfTensors(unittest.TestCase):
    """Launches take turns with sets of tensors."""

    def test_every_sample_begins_with_the_first(self):
        from roofline_runner.measure import InTurn, visit

        log = []
        turns = InTurn([lambda number=number: log.append(number) or number for number in range(3)])
        kept = []

        def keep(_result):
            kept.append(turns.results)
            turns.results = []

        visit(turns, 2, 2, 4, keep=keep)
        self.assertEqual(log, [0, 1, 0, 1, 2, 0, 0, 1, 2, 0])
        self.assertEqual(kept, [[0, 1, 2], [0, 1, 2]])

    def test_what_only_the_warm_up_launched_is_kept_too(self):
        from roofline_runner.measure import InTurn, visit

        turns = InTurn([lambda number=number: number for number in range(3)])
        kept = []
        visit(turns, 2, 1, 1, keep=lambda _result: kept.append(list(turns.results)))
        self.assertEqual(kept, [[0, 1]])


if __name__ == "__main__":
    unittest.main()
