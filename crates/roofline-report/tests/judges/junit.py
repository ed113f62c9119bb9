"""Holds JUnit's XML on standard input to its schema: elements, their order, attributes, and counts that add up."""

import re
import sys
import xml.etree.ElementTree as tree

COUNT, TIME = r"\d+", r"\d+(\.\d+)?"
ANY = r"(?s).*"
# Allowed attributes with their form; those with `!` must be there.
ATTRIBUTES = {
    "testsuites": {"name": ANY, "time": TIME, "tests": COUNT, "failures": COUNT, "errors": COUNT},
    "testsuite": {
        "name!": ANY,
        "tests": COUNT,
        "failures": COUNT,
        "errors": COUNT,
        "skipped": COUNT,
        "time": TIME,
        "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
        "hostname": ANY,
        "id": ANY,
        "package": ANY,
    },
    "properties": {},
    "property": {"name!": r".+", "value!": ANY},
    "testcase": {"name!": r"(?s).+", "classname": r"(?s).+", "time": TIME},
    "failure": {"message": ANY, "type": r".+"},
    "error": {"message": ANY, "type": r".+"},
    "skipped": {"message": ANY},
    "system-out": {},
    "system-err": {},
}
CHILDREN = {
    "testsuites": r"(testsuite )*",
    "testsuite": r"(properties )?(testcase )*(system-out )?(system-err )?",
    "properties": r"(property )+",
    "testcase": r"(failure |error |skipped )?(system-out )?(system-err )?",
}


def hold(element):
    if element.tag not in ATTRIBUTES:
        sys.exit(f"unknown element {element.tag}")
    allowed = {key.rstrip("!"): form for key, form in ATTRIBUTES[element.tag].items()}
    for key, value in element.attrib.items():
        if key not in allowed or not re.fullmatch(allowed[key], value):
            sys.exit(f"{element.tag} {key}={value!r}")
    for key in ATTRIBUTES[element.tag]:
        if key.endswith("!") and key[:-1] not in element.attrib:
            sys.exit(f"{element.tag} lacks {key}")
    children = "".join(f"{child.tag} " for child in element)
    if not re.fullmatch(CHILDREN.get(element.tag, ""), children):
        sys.exit(f"{element.tag} holds {children}")
    for child in element:
        hold(child)
    if element.tag in ("testsuites", "testsuite"):
        cases = list(element.iter("testcase"))
        found = {
            "tests": len(cases),
            "failures": sum(case.find("failure") is not None for case in cases),
            "errors": sum(case.find("error") is not None for case in cases),
            "skipped": sum(case.find("skipped") is not None for case in cases),
        }
        for key, number in found.items():
            if int(element.attrib.get(key, number)) != number:
                sys.exit(f"{element.tag} {key}: {number} were found")
        for case in cases:
            bad = [child for child in case if child.tag in ("failure", "error", "skipped")]
            # A test that became slower was timed, which is how it is known.
            if any(child.get("type") != "regression" for child in bad) and "time" in case.attrib:
                sys.exit("a test that did not pass has a time")


root = tree.fromstring(sys.stdin.buffer.read())
if root.tag != "testsuites":
    sys.exit(f"the first element is {root.tag}")
hold(root)
