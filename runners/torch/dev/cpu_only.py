"""For tests only: a torch that runs on the CPU, without three gigabytes of CUDA packages.

    python3 cpu_only.py FOLDER

makes FOLDER a virtual environment with the wheel that `requirements.txt` names, but none of the
libraries of CUDA that it is linked to. In their place stand empty ones, compiled here, whose functions
all answer "no device": torch loads, finds no GPU and works on the CPU, `torch.compile` included. Users
get the ordinary wheel. Needs gcc, g++ and binutils. An environment that works already is left alone.
"""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from collections import defaultdict
from pathlib import Path

PINS = (Path(__file__).resolve().parent.parent / "requirements.txt").read_text().split()
TRY = "import torch; assert not torch.cuda.is_available(); assert (torch.ones(8, 8) @ torch.ones(8, 8)).sum() == 512"
NO_DEVICE = 100  # cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE


def main(folder: Path) -> None:
    """Makes the environment, unless it works."""
    python = folder / "bin" / "python"
    if python.exists() and works(python):
        return
    venv.create(folder, clear=True, with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    torch = [pin for pin in PINS if pin.startswith("torch==")]
    subprocess.run([*pip, *(pin for pin in PINS if pin not in torch)], check=True)
    subprocess.run([*pip, "--no-deps", *torch], check=True)
    (libraries,) = folder.glob("lib/python3*/site-packages/torch/lib")
    for name, versions in missing(libraries).items():
        compile_empty(libraries / name, versions)
    if not works(python):
        subprocess.run([python, "-c", TRY], check=False)
        sys.exit(f"torch does not load in {folder}; its message stands above")


def works(python: Path) -> bool:
    """Whether torch computes."""
    return subprocess.run([python, "-W", "ignore", "-c", TRY], capture_output=True, check=False).returncode == 0


def missing(folder: Path) -> dict[str, dict[str, set[str]]]:
    """By library that is not there: its versions, and by version the symbols that torch wants of it.

    A symbol says of which version it is and a version of which library. Symbols without a version may
    come from anywhere, so that every library without versions gets all of them.
    """
    there = {path.name for path in folder.iterdir()}
    absent: dict[str, dict[str, set[str]]] = {}
    symbols: dict[str, set[str]] = defaultdict(set)
    library_of: dict[str, str] = {}
    for path in folder.glob("*.so"):
        for name in re.findall(r"NEEDED.*\[(.*)\]", said("readelf", "--dynamic", "--wide", path)):
            if re.match(r"lib(cu|nv|nccl)", name) and name not in there:
                absent.setdefault(name, {})
        for part in said("readelf", "--version-info", "--wide", path).split("File: ")[1:]:
            library_of.update((version, part.split()[0]) for version in re.findall(r"Name: (\S+)", part))
        listing = said("nm", "--dynamic", "--undefined-only", "--with-symbol-versions", path)
        for symbol in re.findall(r" [Uwv] (\S+)$", listing, re.M):
            name, _, version = symbol.partition("@")
            symbols[version.lstrip("@")].add(name)
    for version, library in library_of.items():
        if library in absent:
            absent[library][version] = symbols[version]
    loose = {name for name in symbols[""] if re.match(r"p?(cu[A-Z]|cu[a-z]+[A-Z]|nccl|nv)", name)}
    return {library: versions or {"": loose} for library, versions in absent.items()}


def compile_empty(path: Path, versions: dict[str, set[str]]) -> None:
    """A shared library with these symbols, all of them functions that find no device."""
    names = sorted(set().union(*versions.values()))
    source = "\n".join(
        # Texts of errors are printed, numbers compared.
        f'const char *{name}(void) {{ return "no CUDA in this environment"; }}'
        if re.search(r"Error(String|Name)$", name)
        else f"long {name}(void) {{ return {NO_DEVICE}; }}"
        for name in names
    )
    code, script = path.with_suffix(".c"), path.with_suffix(".map")
    code.write_text(source)
    script.write_text("".join(f"{version} {{ {'; '.join(sorted(of))}; }};\n" for version, of in versions.items() if version))
    options = ["-shared", "-fPIC", "-w", "-fno-builtin", "-nostdlib", f"-Wl,-soname,{path.name}"]
    if any(versions):
        options.append(f"-Wl,--version-script={script}")
    subprocess.run(["gcc", *options, "-o", path, code], check=True)
    code.unlink()
    script.unlink()


def said(*command: object) -> str:
    """What a command prints."""
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).absolute())
