"""What tests came to: counted, named, and for each failure what it said."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

# How much a failure may say, and all of them together where there are many.
LINES_OF_A_FAILURE, LEAST_LINES, LINES_OF_ALL = 40, 6, 800
# pytest's headings of what a case printed, where nothing follows.
EMPTY_CAPTURE = re.compile(r"-+ Captured \w+ -+\s*(?=-+ Captured|\Z)")


@dataclass
class Tally:
    passed: int = 0
    failed: list = field(default_factory=list)  # (name, message)
    skipped: list = field(default_factory=list)  # (name, reason)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    @property
    def last_line(self):
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def failure(name, message=""):
    """The tally of a single failure."""
    return Tally(failed=[(name, message)])


def trimmed(text, most=LINES_OF_A_FAILURE):
    """At most so many lines. Of more, the first ones, where GoogleTest says what it saw, and the last ones, where a
    program says why it ended."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    if len(lines) <= most:
        return lines
    last = (most - 1) // 2
    first = most - 1 - last
    return [*lines[:first], f"… {len(lines) - first - last} lines left out …", *lines[len(lines) - last:]]


def message_of(case):
    """All that a JUnit file tells of a failed case: its failures, then what it printed."""
    parts = []
    for kind in ("failure", "error"):
        parts += [element.text or element.get("message") or "" for element in case.findall(kind)]
    for kind in ("system-out", "system-err"):
        parts += [EMPTY_CAPTURE.sub("", element.text or "") for element in case.findall(kind)]
    return "\n".join(part.strip() for part in parts if part.strip())


def read_cases(file, prefix, split):
    """The cases of a JUnit file written by GoogleTest or pytest. split names a case from its attributes."""
    tally = Tally()
    for case in ElementTree.parse(file).iter("testcase"):
        name = f"{prefix}{split(case)}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed.append((name, message_of(case)))
        elif skipped is not None or case.get("result") in ("skipped", "suppressed"):
            reason = (skipped.get("message") if skipped is not None else None) or "disabled"
            tally.skipped.append((name, " ".join(reason.split())))
        else:
            tally.passed += 1
    return tally


def gtest_binary(case, results):
    """What one binary did, `case` being its entry in ctest's report: its own report, or a single failure where it wrote
    none."""
    name, status = case.get("name"), case.get("status")
    report = Path(results) / f"{name}.xml"
    tally = Tally()
    if report.is_file():
        tally = read_cases(report, f"{name}: ", lambda c: f"{c.get('classname')}.{c.get('name')}")
    if status == "fail" and not tally.failed:
        tally.add(failure(f"{name} (crashed, timed out, or failed outside its cases)", message_of(case)))
    elif status == "run" and not report.is_file():
        tally.passed = 1  # a test program that is not GoogleTest's
    elif status not in ("run", "fail"):
        tally.skipped.append((name, f"ctest says {status}"))
    return tally


def show(tally, say=print):
    """What was skipped and why, then every failure with what it said: the end of the log tells what to look at."""
    for name, reason in tally.skipped:
        say(f"skipped {name}: {reason}")
    most = min(LINES_OF_A_FAILURE, max(LEAST_LINES, LINES_OF_ALL // max(len(tally.failed), 1)))
    for name, message in tally.failed:
        say(f"FAILED {name}")
        for line in trimmed(message, most):
            say(f"    {line}")
