"""Every kernel against torch, by Triton's interpreter: no GPU is needed, only torch and triton."""

from __future__ import annotations

import os
import subprocess
import sys
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
    def test_they_compute_what_torch_does(self) -> None:
        python = interpreter()
        if python is None:
            self.skipTest("no triton: its kernels are not tested")
        checks = Path(__file__).resolve().parent / "checks" / "against_torch.py"
        environment = os.environ | {"TRITON_INTERPRET": "1"}
        done = subprocess.run([python, checks], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
