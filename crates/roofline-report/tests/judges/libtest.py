"""Holds lines of `cargo bench` on standard input to the form that libtest prints, and prints what they say as JSON."""

import json
import re
import sys

NUMBER = r"0|[1-9]\d{0,2}(?:,\d{3})*"
LINE = re.compile(
    rf"test (?P<name>.+?) \.\.\. (?:bench: (?=.{{11,}} ns/) *(?P<time>{NUMBER}) ns/iter \(\+/- (?P<spread>{NUMBER})\)|(?P<word>ok|FAILED|ignored))"
)

results = []
for line in sys.stdin.buffer.read().decode("utf-8").splitlines():
    found = LINE.fullmatch(line)
    if not found:
        sys.exit(f"no line of libtest: {line!r}")
    results.append(found.groupdict())
if len({result["name"] for result in results}) != len(results):
    sys.exit("a name stands twice")
json.dump(results, sys.stdout)
