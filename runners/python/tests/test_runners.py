"""The conformance test on the runners of this repository, and the transcript of `docs/protocol.md`.

`ROOFLINE_RUNNER="COMMAND"` (with `ROOFLINE_RUNNER_FOLDER`) tests another runner instead.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import conformance

# As the runners' own files set them for one thread.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NPROC="1")
os.environ.update(JAX_ENABLE_X64="1", JAX_PLATFORMS="cpu", TORCHINDUCTOR_COMPILE_THREADS="1")

RUNNERS = Path(__file__).resolve().parent.parent.parent
PAGE = RUNNERS.parent / "docs" / "protocol.md"
BUILD = tempfile.TemporaryDirectory()
COMPILER = shutil.which(os.environ.get("CC", "cc"))


PYTHON_RUNNERS = ("numpy", "scipy", "torch", "onnxruntime", "jax")
# Environments that `cargo xtask peers` made.
PEERS = Path(os.environ.get("ROOFLINE_PEERS", RUNNERS.parent / "target" / "peers"))
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(PEERS / "compiled"))  # A quarter of an hour, once.


def interpreter(library: str) -> str | None:
    """A Python that has a library: this one, else the one of its own environment."""
    if importlib.util.find_spec(library) is not None:
        return sys.executable
    own = PEERS / library / "bin" / "python"
    return str(own) if own.exists() else None


def c_example() -> list[str]:
    """The C runner, built anew."""
    program = os.path.join(BUILD.name, "c-example")
    source = str(RUNNERS / "c-example" / "c-example.c")
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    if not os.path.exists(program):
        subprocess.run([COMPILER, "-std=c11", "-O2", *warnings, "-o", program, source, "-lm"], check=True)
    return [program]


class Absent(unittest.TestCase):
    """Says which runners were not tested, and why."""

    def test_compiler(self):
        if COMPILER is None:
            self.skipTest("no C compiler: the C runner is not tested")

    def test_numpy(self):
        if interpreter("numpy") is None:
            self.skipTest("no numpy: its runner is not tested")

    def test_scipy(self):
        if interpreter("scipy") is None:
            self.skipTest("no scipy: its runner is not tested")

    def test_torch(self):
        if interpreter("torch") is None:
            self.skipTest("no torch: its runner is not tested; `cargo xtask peers` brings it")

    def test_onnxruntime(self):
        if interpreter("onnxruntime") is None:
            self.skipTest("no onnxruntime: its runner is not tested; `cargo xtask peers` brings it")

    def test_jax(self):
        if interpreter("jax") is None:
            self.skipTest("no jax: its runner is not tested; `cargo xtask peers` brings it")


class LibraryMissing(unittest.TestCase):
    """What a runner says where its library is not."""

    def test_one_clear_line(self):
        for library in PYTHON_RUNNERS:
            with self.subTest(library), tempfile.TemporaryDirectory() as folder:
                Path(folder, f"{library}.py").write_text("raise ImportError('none here')\n")
                done = subprocess.run(
                    [sys.executable, str(RUNNERS / library / "main.py")],
                    env={"PYTHONPATH": folder},
                    capture_output=True,
                    text=True,
                    stdin=subprocess.DEVNULL,
                )
                self.assertEqual((done.returncode, done.stdout), (3, ""))
                self.assertEqual(done.stderr.count("\n"), 1)
                self.assertIn(f"needs {library}: none here", done.stderr)


@unittest.skipIf(COMPILER is None, "no C compiler")
class TranscriptTest(unittest.TestCase):
    """The page's transcript, replayed with the C runner."""

    VARIES = ("version", "notes", "message")

    def test_the_transcript_is_true(self):
        text = PAGE.read_text()
        tensors = self.block(text, "tensors")
        transcript = self.block(text, "transcript")
        asked = [line[2:] for line in transcript if line.startswith("> ")]
        answered = [line[2:] for line in transcript if line.startswith("< ")]
        self.assertEqual(len(asked) + len(answered), len(transcript))
        with tempfile.TemporaryDirectory() as folder:
            files = [json.loads(line) for line in tensors]
            for file in files:
                data = struct.pack("<4f", *file["before"])
                content = bytes(file["offset"]) + data
                Path(folder, file["path"]).write_bytes(content.ljust(file["size"], b"\0"))
            done = subprocess.run(
                c_example(), cwd=folder, input="\n".join(asked) + "\n", capture_output=True, text=True
            )
            for file in files:
                content = Path(folder, file["path"]).read_bytes()
                values = struct.unpack_from("<4f", content, file["offset"])
                self.assertEqual(list(values), file["after"], file["path"])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(answered))
        for got, wanted in zip(lines, answered):
            self.assertEqual(self.comparable(json.loads(got)), self.comparable(json.loads(wanted)))

    def comparable(self, answer: dict) -> dict:
        """The answer without what varies: times keep their number only."""
        for part in (answer.get("ok", {}), answer.get("error", {})):
            for name in self.VARIES:
                part.pop(name, None)
            if "nanoseconds" in part:
                part["nanoseconds"] = len(part["nanoseconds"])
        return answer

    def block(self, text: str, name: str) -> list[str]:
        found = re.search(rf"<!-- {name} -->\s*```jsonl\n(.*?)```", text, re.S)
        self.assertIsNotNone(found, f"{PAGE} has no block `{name}`")
        return found.group(1).splitlines()


def load_tests(
    loader: unittest.TestLoader, tests: unittest.TestSuite, _pattern: object
) -> unittest.TestSuite:
    """Adds the conformance tests of the runners that can be had here."""
    chosen = os.environ.get("ROOFLINE_RUNNER")
    if chosen:
        folder = os.environ.get("ROOFLINE_RUNNER_FOLDER")
        return conformance.load("chosen", shlex.split(chosen), folder)
    # `Conformance` itself has no command.
    if COMPILER is not None:
        tests.addTest(conformance.load("c-example", c_example()))
    for library in PYTHON_RUNNERS:
        python = interpreter(library)
        if python is not None:
            tests.addTest(conformance.load(library, [python, "main.py"], str(RUNNERS / library)))
    return tests


if __name__ == "__main__":
    unittest.main()
