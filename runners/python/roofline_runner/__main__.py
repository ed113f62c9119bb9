"""`python -m roofline_runner FILE`: serves the functions that a file offers."""

import sys

from .file import main

main(sys.argv[1:])
