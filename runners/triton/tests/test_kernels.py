"""Every kernel against torch by Triton's interpreter, and compiled: no GPU is needed, only torch and triton."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
PEERS = Path(os.environ.get("ROOFLINE_PEERS", FOLDER.parent.parent / "target" / "peers"))
LIBRARIES = "import torch, triton"


def interpreter() -> str | None:
    """A Python that has both: this one, else the one of torch's own environment."""
    own = str(PEERS / "torch" / "bin" / "python")
    for python in (sys.executable, own):
        try:
            if subprocess.run([python, "-c", LIBRARIES], capture_output=True).returncode == 0:
                return python
        except OSError:
            pass
    return None


class Kernels(unittest.TestCase):
    def check(self, name: str, **environment: str) -> None:
        python = interpreter()
        if python is None:
            self.skipTest("no triton: its kernels are not tested")
        program = Path(__file__).resolve().parent / "checks" / name
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"TRITON_CACHE_DIR": folder} | environment
            done = subprocess.run([python, program], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_they_compute_what_torch_does(self) -> None:
        self.check("against_torch.py", TRITON_INTERPRET="1")

    def test_they_compile_for_cards_that_are_not_here(self) -> None:
        self.check("for_cards.py")


if __name__ == "__main__":
    unittest.main()
